"""Results made of given numbers, for the tests of analysis and report."""

import numpy as np
import polars as pl

from lowregret.analysis.columns import TABLE_COLUMNS
from lowregret.analysis.description import Description
from lowregret.results import Results


def frames_of(regrets: dict[str, dict[str, list[float]]], times: int = 4, arms: int = 3) -> Results:
    """Make results from final regrets by environment and policy: straight curves, pulls that favour arm 0."""
    finals, curves, pulls, events, kinds = [], [], [], [], []
    for environment, policies in regrets.items():
        kinds += [(environment, arm, 0.5 - 0.1 * arm, 0.25, 0.1 * arm, arm == 0) for arm in range(arms)]
        for policy, values in policies.items():
            for run, regret in enumerate(values):
                finals.append((environment, policy, run, float(regret)))
                curves += [
                    (environment, policy, run, 25 * t, regret * t / times) for t in range(1, times + 1)
                ]
                pulls += [(environment, policy, run, arm, 60 // (arm + 1)) for arm in range(arms)]
                if policy.startswith("EUCBV"):
                    events += [
                        (environment, policy, run, 10 * arm + 10, arm, "eliminated") for arm in range(1, arms)
                    ]
    keys = ["environment", "policy", "run"]
    number = {"run": pl.Int64, "regret": pl.Float64}
    event = {"environment": pl.String, "policy": pl.String, "run": pl.Int64}
    tables = {
        "finals": pl.DataFrame(finals, [*keys, "regret"], orient="row").cast(number),
        "curves": pl.DataFrame(curves, [*keys, "t", "regret"], orient="row").cast(number),
        "pulls": pl.DataFrame(pulls, [*keys, "arm", "pulls"], orient="row"),
        "events": pl.DataFrame(
            events, event | {"t": pl.Int64, "arm": pl.Int64, "event": pl.String}, orient="row"
        ),
        "arms": pl.DataFrame(
            kinds, ["environment", "arm", "mean", "variance", "gap", "optimal"], orient="row"
        ),
    }
    description = Description(
        name="made up",
        seed=1,
        runs=max(len(values) for policies in regrets.values() for values in policies.values()),
        horizons=dict.fromkeys(regrets, 25 * times),
        policies=tuple(dict.fromkeys(policy for policies in regrets.values() for policy in policies)),
    )
    return Results(description, {name: table.lazy() for name, table in tables.items()}.__getitem__)


def changed(results: Results, **tables: pl.DataFrame) -> Results:
    """Make the same results with other tables in place of some."""
    known = {name: getattr(results, "paths" if name == "curves" else name).lazy() for name in TABLE_COLUMNS}
    known |= {name: table.lazy() for name, table in tables.items()}
    return Results(results.description, known.__getitem__)


def many(policies: list[str], environments: int = 1, runs: int = 40, seed: int = 0) -> Results:
    """Make results for many policies: skew regrets, each policy somewhat worse than the one before."""
    random = np.random.default_rng(seed)
    regrets = {}
    for number in range(environments):
        luck = random.gamma(2.0, 10.0, runs)
        regrets[f"testbed-{number + 1}"] = {
            policy: (100 * (1 + place) + luck + random.exponential(40.0, runs)).tolist()
            for place, policy in enumerate(policies)
        }
    return frames_of(regrets)
