"""Run an experiment on a cluster.

An experiment is divided into shards, which any executor computes: threads, processes or Dask workers. The
results do not depend on where they were computed. Here the cluster is two processes of this machine.
"""

import sys
from tempfile import TemporaryDirectory

from distributed import Client, LocalCluster

import lowregret as lr

if __name__ == "__main__":
    experiment = lr.Experiment(
        name="cluster",
        horizon=5_000,
        runs=200,
        seed=1,
        environments=["bernoulli:0.4,0.5", "bernoulli:0.1,0.2,0.3"],
        policies=["MOSSV", "MOSS", "UCB1"],
    )
    with (
        TemporaryDirectory() as folder,
        LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
    ):
        with Client(cluster) as client:
            result = experiment.run(folder, executor=client.get_executor())
        print(result.summary().select("environment", "policy", "runs", "mean", "se"))
        if len(sys.argv) > 1:
            result.plot(result.environments[0]).save(sys.argv[1])
