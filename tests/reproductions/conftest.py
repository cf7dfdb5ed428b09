"""A small paper, of which every number is known, and verdicts on the EUCBV paper from synthetic results."""

from pathlib import Path

import pytest

TOML = """
title = "A small paper"
authors = "Nobody"
venue = "nowhere"
runs = 100
subject = "Ours"

[titles]
"Figure 1" = "Two arms"

[names]
Ours = "RoundRobin"
Index = ["KLUCB", "UCB1"]

[[claims]]
place = "Abstract"
quote = "Index is better"
policies = ["Index"]
than = ["Ours"]

[[claims]]
quote = "ours pulls the second arm in half of the steps"
kind = "similar"
than = [30]
quantity = "pulls:1"
margin = 5.0

[[claims]]
quote = "ours is best"
kind = "ranks"
policies = ["Ours", "Index"]
"""
EXPERIMENT = """
name = "small"
horizon = 60
runs = 4
engine = "reference"
grid = { points = 6 }
environments = [{ name = "two arms", environment = "bernoulli:0.1,0.9" }]
policies = ["RoundRobin", "UCB1"]
"""
PUBLISHED = """place,environment,policy,t,quantity,value,sd,deviation
Figure 1,two arms,Ours,20 40 60,,8.0 16.0 24.0,,
Table 1,two arms,Ours,,pulls:0,30,,
Table 1,two arms,Ours,,mean,48.0,,a misprint
Table 1,two arms,Index,,q99,9.0,,
Table 1,two arms,Index,60,mean,9.0,90,
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Write a paper of one problem: uniform play has a regret of 0.4 t without any spread."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "reproduction.toml").write_text(TOML)
    (folder / "runs.toml").write_text(EXPERIMENT)
    (folder / "published.csv").write_text(PUBLISHED)
    return folder
