"""The file that ``lowregret new`` writes."""

from __future__ import annotations

from pathlib import Path

from lowregret.errors import InputError

STARTER = """\
# An experiment for lowregret. To run it, and to continue after a stop:
#
#     lowregret run {name}
#
# Every key is explained in docs/experiments.md.

name = "my experiment"
horizon = 10_000        # pulls in a run; may be left out where an environment has its own
runs = 100              # independent runs of every policy on every environment
seed = 1                # the same seed gives the same numbers, to the last bit
# clip = true           # show rewards clipped to [0, 1] to the policies that need that
# delay = "geometric(mean=50)"   # how many decisions later a reward is known; also a number
# batch = 10            # decisions that are made at once
# grid = {{ points = 200, scale = "log" }}   # when regret is recorded; "linear" if not given

# Environments. A string is what `lowregret simulate --environment` takes.
[[environments]]
name = "19 equal arms and a better one"
environment = "bernoulli:0.07*19,0.1"

# A grid gives one environment for every combination of its values; {{...}} may hold arithmetic.
[[environments]]
name = "K={{K}}, gap={{gap}}"
environment = "gaussian:mean=0.5*{{K-1}},{{0.5+gap}};variance=0.25"
grid = {{ K = [5, 20], gap = [0.1, 0.2] }}

# Rewards from a file, CSV or Parquet, with one column per arm; they are sampled with replacement.
# [[environments]]
# rewards = "clicks.csv"
# scale = [0, 5]        # the rewards that are scaled to 0 and 1

# Policies. `lowregret policies` lists them.
[[policies]]
policy = "EUCBV"

[[policies]]
policy = "MOSS"

[[policies]]
policy = "UCB1"
grid = {{ alpha = [0.5, 2] }}

# Your own class, in my_policies.py next to this file.
# [[policies]]
# policy = "my_policies:Mine"
# parameters = {{ width = 0.5 }}
"""


def write_starter(path: Path) -> None:
    """Write a commented experiment to start from; an existing file is never overwritten."""
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(STARTER.format(name=path))
    except FileExistsError:
        raise InputError(f"{str(path)!r} exists already: use another name") from None
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
