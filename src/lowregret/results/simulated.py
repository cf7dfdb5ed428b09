"""Results of a simulation: what was simulated, and the arrays of its runs, from which tables follow."""

from collections.abc import Mapping
from functools import partial

from lowregret.analysis.description import Description, varied
from lowregret.engine.problem import Outcome
from lowregret.environments import Bandit, DriftingBandit
from lowregret.results.outcome_tables import outcome_table
from lowregret.results.results import Results


def simulated_results(
    bandit: Bandit,
    horizon: int,
    seed: int,
    clip: bool,
    outcomes: Mapping[str, Outcome],
    notes: Mapping[str, str],
    delay: str = "0",
    batch: int = 1,
    engine: str = "compiled",
) -> Results:
    """Return the outcomes of several policies on one bandit as results."""
    description = Description(
        name=bandit.name,
        seed=seed,
        runs=max(len(outcome.regret) for outcome in outcomes.values()),
        horizons={bandit.name: horizon},
        policies=tuple(outcomes),
        clip=clip,
        notes={policy: text for policy, text in notes.items() if text},
        eliminating=tuple(policy for policy, outcome in outcomes.items() if outcome.eliminated is not None),
        policy_parameters=varied({name: outcome.policy for name, outcome in outcomes.items()}),
        delays={bandit.name: delay} if delay != "0" else {},
        batches={bandit.name: batch} if batch != 1 else {},
        drifting=(bandit.name,) if isinstance(bandit, DriftingBandit) else (),
        largest_gaps={} if bandit.largest_gap is None else {bandit.name: bandit.largest_gap},
        backend=engine,
    )
    pairs = {(bandit.name, policy): outcome for policy, outcome in outcomes.items()}
    return Results(description, partial(outcome_table, bandit, horizon, outcomes), pairs)
