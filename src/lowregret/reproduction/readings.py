"""The three readings of the EUCBV paper: which policy runs on which testbed.

*As printed*: Algorithm 1 and every policy that the text names, on the testbed as stated.
*Released width*: EUCBV with the width of the released code, on the same testbed.
*As plotted*: for each published curve, the policy and the testbed of its released script.
"""

from __future__ import annotations

from typing import NamedTuple

from lowregret.experiments.spec import Experiment
from lowregret.reproduction.plotted import RELEASED, STATED, paper_testbed
from lowregret.reproduction.stated import PAPER, paper_experiment

AS_PRINTED, RELEASED_WIDTH, AS_PLOTTED = "as printed", "released width", "as plotted"
"""The three readings."""

GRID_POINTS = 100
"""How many times the regret is recorded at; the times of the published points are among them."""

RELEASED_FACTOR = 10
"""How many times as many runs the released width gets: it eliminates the optimal arm in a part of them."""

SLOW_POLICIES = ("DMED", "ThompsonGauss", "BayesUCBStudent")
"""The slowest policies with 100 arms. They run first, so that no core is idle at the end."""


class Configuration(NamedTuple):
    """A policy on a testbed."""

    experiment: int
    policy: str  # its name in the paper
    reading: str
    environment: str  # the name of the testbed
    our_policy: str  # the policy of this package


def configurations(number: int) -> tuple[Configuration, ...]:
    """Return all configurations of an experiment, reading by reading."""
    experiment, stated = paper_experiment(number), paper_testbed(number).name
    printed = experiment.policies.items()
    return (
        *(Configuration(number, name, AS_PRINTED, stated, ours) for name, ours in printed),
        Configuration(number, "EUCBV", RELEASED_WIDTH, stated, RELEASED),
        *(
            Configuration(number, curve.policy, AS_PLOTTED, curve.environment, curve.our_policy)
            for curve in experiment.curves
            if curve.our_policy is not None
        ),
    )


def experiments_to_run(number: int | None = None, runs: int = 100, seed: int = 1) -> tuple[Experiment, ...]:
    """Return the `Experiment` of every testbed of one experiment of the paper, or of all, in all readings."""
    experiments = []
    for paper in PAPER if number is None else [paper_experiment(number)]:
        policies: dict[str, list[str]] = {}
        for each in configurations(paper.number):
            policies.setdefault(each.environment, []).append(each.our_policy)
        kinds = dict.fromkeys([STATED, *(curve.testbed for curve in paper.curves)])
        testbeds = {bandit.name: bandit for bandit in (paper_testbed(paper.number, kind) for kind in kinds)}
        for name, names in policies.items():
            chosen = sorted(dict.fromkeys(names), key=lambda policy: policy not in SLOW_POLICIES)
            common = {
                "environments": testbeds[name],
                "seed": seed,
                "clip": True,  # the text runs DMED, which needs rewards in [0, 1], on Gaussian rewards
                "grid": {"points": GRID_POINTS},
            }
            if name == paper_testbed(paper.number).name:
                chosen.remove(RELEASED)
                more = RELEASED_FACTOR * runs
                title = f"{name}-released-width"
                experiments.append(Experiment(name=title, policies=[RELEASED], runs=more, **common))
            experiments.append(Experiment(name=name, policies=chosen, runs=runs, **common))
    return tuple(experiments)
