"""``league``: every policy on every testbed of the suite, and what follows from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from lowregret._common.arrays import Floats, Integers
from lowregret._common.durable_files import as_store_error, read_json, write_atomically
from lowregret._common.progress import Progress, Report, reporting
from lowregret._common.text import count
from lowregret._common.user_calls import user_call
from lowregret._common.validation import integer, seed_of
from lowregret.engine.backends import Engine, validate_backend
from lowregret.errors import InputError
from lowregret.experiments.policy_loading import refer_to
from lowregret.experiments.spec import Experiment
from lowregret.experiments.store import ResultStore
from lowregret.policies import Policy
from lowregret.suite import standings as statistics
from lowregret.suite.league_testbeds import TESTBEDS, Testbed, testbed
from lowregret.suite.participants import (
    SIZES,
    Costs,
    Participant,
    PlannedRuns,
    assignments,
    group_by_runs,
    participants,
)
from lowregret.suite.stability import STABILITY, stability
from lowregret.suite.worst_case import worst_case

LEAGUE_GRID_POINTS = 10
ALL, UNIT_REWARDS = "all testbeds", "rewards in [0, 1]"
"""The scopes of the standings: all testbeds, and those that policies for bounded rewards can play on."""
BINARY, GRADED, OUTSIDE = "rewards 0 and 1", "rewards between 0 and 1", "rewards beyond [0, 1]"
"""The scopes by kind of reward, which say which policy to begin with."""

SCORES = {
    **dict.fromkeys(("testbed", "policy"), pl.String),
    "runs": pl.Int64,
    **dict.fromkeys(("mean", "se", "worst05", "failures", *STABILITY, "ns_per_step"), pl.Float64),
    "note": pl.String,
}
WORST_CASES = {
    "policy": pl.String,
    **dict.fromkeys(("ratio", "se", "worst05"), pl.Float64),
    "arms": pl.Int64,
    **dict.fromkeys(("mean", "gap"), pl.Float64),
    "near": pl.Int64,
}
SEARCH: dict[str, dict[str, Any]] = {
    "quick": {},
    "standard": {"horizon": 2_000, "arms": (2, 10, 50), "starts": 60, "runs": 500},
    "full": {"horizon": 10_000, "arms": (2, 10, 50), "starts": 60, "runs": 2_000},
}
"""The arguments of `worst_case` by the size of the league; ``quick`` does not search."""
SLOW_STEP_SECONDS = 5e-7
"""A policy with a slower step, with 10 arms, is not searched for a worst case."""


@dataclass(frozen=True, repr=False)
class League:
    """The results of the league.

    Attributes
    ----------
    size, seed : str, int
        The size of the league and the seed of the runs.
    testbeds : polars.DataFrame
        The testbeds: testbed, group, arms, horizon, unit (whether rewards lie in [0, 1]), reason.
    policies : polars.DataFrame
        The policies: policy, needs, family (the reward family whose likelihood or divergence it uses; null if
        none), own (whether it was added to those of the package), source.
    scores : polars.DataFrame
        One row per testbed and policy: ``runs``, ``mean`` regret and its standard error ``se``, ``worst05``
        (the mean of the worst 5% of the runs), ``failures`` (the share of runs no better than uniform play),
        ``cover_best`` to ``spread_worst`` (what means are worth: `suite.stability.stability`),
        ``ns_per_step`` and a ``note``. A policy that could not play has no runs, and the note says why.
    standings : polars.DataFrame
        Ranks, relative regrets (`suite.standings.standings`) and ``cover_best`` to ``spread_worst`` by scope.
    wins, profiles : polars.DataFrame
        The win matrix and the performance profiles.
    worst_cases : polars.DataFrame
        What `worst_case` found for each policy; no rows where it was not called.
    regrets : dict
        The final regret of every run, by testbed and policy.

    Examples
    --------
    >>> import tempfile
    >>> import lowregret as lr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     league = lr.league(testbeds=["short"], policies=["MOSS", "UCB1"], out=folder)
    ...     "league.html" in [path.name for path in league.report(folder)]
    True
    >>> league.standings.filter(scope="all testbeds").select("policy", "rank").rows()
    [('MOSS', 1.0), ('UCB1', 2.0)]
    >>> league.tables()["testbeds"]["testbed"].to_list()
    ['short']
    """

    size: str
    seed: int
    testbeds: pl.DataFrame
    policies: pl.DataFrame
    scores: pl.DataFrame
    standings: pl.DataFrame
    wins: pl.DataFrame
    profiles: pl.DataFrame
    worst_cases: pl.DataFrame
    regrets: Mapping[str, Mapping[str, Floats]]

    def __repr__(self) -> str:
        sizes = f"{count(len(self.testbeds), 'testbed')}, {count(len(self.policies), 'policy', 'policies')}"
        return f"League({self.size!r}: {sizes}, seed {self.seed})"

    def __str__(self) -> str:
        """Return the standings, and which policies are not in them."""
        from lowregret.suite.league_page import standings_text

        return standings_text(self)

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return all tables by name.

        Returns
        -------
        dict of str to polars.DataFrame
            The tables, by the names of the attributes.
        """
        names = "testbeds", "policies", "scores", "standings", "wins", "profiles", "worst_cases"
        return {name: getattr(self, name) for name in names}

    def report(self, folder: str | Path) -> list[Path]:
        """Write the page ``league.html``, its figures, and the tables as CSV and JSON.

        Parameters
        ----------
        folder : str or path

        Returns
        -------
        list of Path
        """
        from lowregret.suite.league_page import write_files

        return write_files(self, Path(folder))


@user_call
def league(
    size: str = "quick",
    *,
    policy: Policy | str | Iterable[Policy | str] = (),
    out: str | Path = "league",
    seed: int = 0,
    testbeds: Iterable[str] | None = None,
    policies: Iterable[Policy | str] | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    threads: int | None = None,
    engine: Engine = "compiled",
    progress: bool | Report = True,
) -> League:
    """Run every policy on every testbed of the suite that suits it.

    Results are stored as experiments in the subfolder ``results`` of a folder, so a league that was stopped
    is continued, and a policy that is added does not run the others again.

    Parameters
    ----------
    size : {"quick", "standard", "full"}
        How many runs: ``quick`` takes a few minutes on two cores, ``full`` a night.
    policy : Policy, str or several, optional
        Your own policies: objects, names with parameters, or ``module:Class``.
    out : str or path, default "league"
        The folder of the results.
    seed : int, default 0
        The seed of rewards and policies.
    testbeds : several str, optional
        The names of the testbeds; by default all.
    policies : several Policy or str, optional
        The policies; by default all of the package that learn.
    executor, threads : optional
        Where the runs are computed; see `Experiment.run`.
    engine : {"compiled", "reference", "cuda"}, default "compiled"
        The engine of the runs on testbeds, as for `simulate`; worst cases are searched with ``compiled``.
        A policy that the engine cannot play has no runs, and its note says why.
    progress : bool or callable, default True
        Whether to say on standard error what is done, or a function that is called with a `Progress`.

    Returns
    -------
    League
        Tables of scores, standings, wins, profiles and worst cases.

    Raises
    ------
    InputError
        If the size, a testbed or a policy is unknown, or another argument is invalid.
    LowRegretError
        If some runs could not be computed; all others are stored.
    StoreError
        If the folder cannot be used: not writable, full, or in use by another process.

    Examples
    --------
    >>> import tempfile
    >>> import lowregret as lr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     league = lr.league(testbeds=["short"], policies=["MOSS", "UCB1"], out=folder)
    >>> league.standings.filter(scope="all testbeds").select("policy", "rank").rows()
    [('MOSS', 1.0), ('UCB1', 2.0)]
    """
    if not isinstance(size, str):
        raise InputError(
            "league: the size comes first; name the policies, as in lr.league(policies=['UCB1'])"
        )
    if size not in SIZES:
        raise InputError(f"league: size must be one of {', '.join(SIZES)}, got {size!r}")
    validate_backend("league", engine)
    if threads is not None:
        integer("league", "threads", threads)
    folder, seed = Path(out), seed_of(seed)
    beds = [testbed(name) for name in (TESTBEDS if testbeds is None else testbeds)]
    own = [policy] if isinstance(policy, str | Policy) else policy
    players, costs = participants(own, policies), Costs(folder / "costs.json")
    regrets: dict[str, dict[str, Floats]] = {}
    rows: list[dict[str, Any]] = []
    with reporting(progress) as report:
        report(Progress("measuring the time of a step", 0, len(beds), "testbeds", 0.0))
        plans = {bed.name: assignments(bed, players, SIZES[size], costs, engine) for bed in beds}
        costs.save()
        for number, bed in enumerate(beds):
            advance = partial(_advance, report, number, len(beds))
            regrets[bed.name], scores = _play_testbed(
                bed, plans[bed.name], folder, seed, advance, executor, threads, engine
            )
            rows += scores
        cases = _worst_cases(players, size, folder, threads, costs, report)
    table = pl.DataFrame(rows, schema=SCORES).fill_nan(None)
    return _assemble(size, seed, beds, players, regrets, table, cases)


def _play_testbed(
    bed: Testbed,
    assigned: Sequence[PlannedRuns],
    folder: Path,
    seed: int,
    advance: Callable[[float, Progress], None],
    executor: Executor | Callable[[], Executor] | None,
    threads: int | None,
    engine: Engine,
) -> tuple[dict[str, Floats], list[dict[str, Any]]]:
    """Run the experiments of a testbed; return the regrets of the policies, and their scores."""
    bandit, regrets, costs = bed.bandit(), dict[str, Floats](), dict[str, float]()
    pulls: dict[str, Integers] = {}
    groups = group_by_runs(assigned)
    for part, (runs, group) in enumerate(groups.items()):
        experiment = Experiment(
            name=bed.name,
            environments=bandit,
            policies=[assignment.loaded_from for assignment in group],
            horizon=bed.horizon,
            runs=runs,
            seed=seed,
            grid={"points": LEAGUE_GRID_POINTS},
            engine=engine,
        )
        place = folder / "results" / f"{bed.name}-{runs}"
        report = partial(advance, part / len(groups))
        results = experiment.run(place, executor=executor, threads=threads, progress=report)
        parts = results.finals.partition_by("policy", as_dict=True)
        seconds = ResultStore(place).step_seconds()
        for player, _, label, *_ in group:
            regrets[player.name] = parts[label,]["regret"].to_numpy()
            pulls[player.name] = results[label].pulls
            costs[player.name] = 1e9 * seconds[label, len(bandit)]
    uniform, stable = bed.horizon * float(bandit.gaps.mean()), stability(bandit, seed, pulls)
    scores = []
    for assignment in assigned:
        name = assignment.participant.name
        row: dict[str, Any] = {"testbed": bed.name, "policy": name, "runs": 0, "note": assignment.note}
        if name in regrets:
            row |= statistics.scores(regrets[name], uniform) | stable[name] | {"ns_per_step": costs[name]}
        scores.append(row)
    return {row["policy"]: regrets[row["policy"]] for row in scores if row["runs"]}, scores


def _worst_cases(
    players: Sequence[Participant], size: str, folder: Path, threads: int | None, costs: Costs, report: Report
) -> pl.DataFrame:
    """Search a worst case for every policy; a search that is in the folder is not repeated."""
    path = folder / "worst_cases.json"
    searched = read_json(path)
    rows = []
    for player in players:
        is_slow = costs.known(player, 10) > SLOW_STEP_SECONDS
        if not SEARCH[size] or "known variance" in player.policy.needs or is_slow:
            continue
        key = f"{player.name} {refer_to(type(player.policy)).identity} {SEARCH[size]}"
        if key not in searched:
            case = worst_case(player.policy, **SEARCH[size], threads=threads, progress=report)
            first = case.candidates.row(0, named=True)
            searched[key] = {"policy": player.name} | {
                name: first[name] for name in WORST_CASES if name in first
            }
            with as_store_error(folder):
                write_atomically(path, (json.dumps(searched, indent=1) + "\n").encode())
        rows.append(searched[key])
    return pl.DataFrame(rows, schema=WORST_CASES).sort("ratio")


def _advance(report: Report, number: int, beds: int, before: float, now: Progress) -> None:
    """Report the progress of a testbed of which a share was done before, as a share of all testbeds."""
    share = (number + before + (1.0 - before) * now.share) / beds
    report(now._replace(what=f"{now.what}, testbed {number + 1} of {beds}", share=share, steps=0))


def _assemble(
    size: str,
    seed: int,
    beds: Sequence[Testbed],
    players: Sequence[Participant],
    regrets: Mapping[str, Mapping[str, Floats]],
    scores: pl.DataFrame,
    worst_cases: pl.DataFrame,
) -> League:
    """Compute everything that spans several testbeds."""
    bandits = {bed.name: bed.bandit() for bed in beds}
    unit = {name for name, bandit in bandits.items() if bandit.support[0] >= 0.0 and bandit.support[1] <= 1.0}
    names = [player.name for player in players]
    binary = {name for name, bandit in bandits.items() if bandit.binary}
    scopes = {ALL: set(regrets), UNIT_REWARDS: unit}
    scopes |= {BINARY: binary, GRADED: unit - binary, OUTSIDE: bandits.keys() - unit}
    placed, shares = [], []
    for scope, chosen in scopes.items():
        part = {bed: by_policy for bed, by_policy in regrets.items() if bed in chosen}
        if scope != ALL and len(part) in (0, len(regrets)):
            continue
        here = scores.filter(pl.col("testbed").is_in(part))
        mean_stability = here.group_by("policy").agg(pl.col(STABILITY).mean())
        table = statistics.standings(part, names, seed)
        table = table.join(mean_stability, "policy", "left", maintain_order="left")
        label = pl.lit(scope).alias("scope")
        placed.append(table.select(label, pl.all()))
        shares.append(statistics.profiles(part, table["policy"].to_list()).select(label, pl.all()))
    return League(
        size=size,
        seed=seed,
        testbeds=pl.DataFrame(
            {
                "testbed": bed.name,
                "group": bed.group,
                "arms": len(bandits[bed.name]),
                "horizon": bed.horizon,
                "unit": bed.name in unit,
                "reason": bed.reason,
            }
            for bed in beds
        ),
        policies=pl.DataFrame(
            [
                {
                    "policy": player.name,
                    "needs": ", ".join(player.policy.needs),
                    "family": player.policy.family,
                    "own": player.own,
                    "source": player.policy.source,
                }
                for player in players
            ],
            schema_overrides={"family": pl.String},
        ),
        scores=scores,
        standings=pl.concat(placed, how="diagonal"),
        wins=statistics.wins(regrets, names),
        profiles=pl.concat(shares),
        worst_cases=worst_cases,
        regrets=regrets,
    )
