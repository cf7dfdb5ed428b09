"""``league``: every policy on every testbed of the suite, and what follows from it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from lowregret._common.durable_files import as_store_error, write_atomically
from lowregret._common.text import count
from lowregret._common.validation import integer, seed_of
from lowregret.analysis.tables import Floats
from lowregret.errors import InputError
from lowregret.experiments.policy_loading import refer_to
from lowregret.experiments.run import Progress
from lowregret.experiments.spec import Experiment
from lowregret.experiments.store import ResultStore
from lowregret.policies import Policy
from lowregret.suite import standings as statistics
from lowregret.suite.entries import SIZES, Costs, Entrant, Entry, by_runs, entrants, entries, planned_runs
from lowregret.suite.successor import checks
from lowregret.suite.testbeds import TEST, TESTBEDS, Testbed, testbed
from lowregret.suite.worst_case import worst_case

ProgressBar = Callable[[str], AbstractContextManager[Callable[[Progress], None] | None]]
"""Takes a label; returns a context whose value is called with the progress of the runs."""

GRID_POINTS = 10
ALL, UNIT, TEST_HALF = "all testbeds", "rewards in [0, 1]", "test half"
"""The scopes of the standings: all testbeds, those that policies for bounded rewards can play on, and those
on which no constant was chosen."""

SCORES = {
    **dict.fromkeys(("testbed", "policy"), pl.String),
    "runs": pl.Int64,
    **dict.fromkeys(("mean", "se", "worst05", "failures", "ns_per_step"), pl.Float64),
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
SLOW_STEP = 5e-7
"""A policy with a slower step, in seconds with 10 arms, is not searched for a worst case."""


@dataclass(frozen=True, repr=False)
class League:
    """The results of the league.

    Attributes
    ----------
    size, seed : str, int
        The size of the league and the seed of the runs.
    testbeds : polars.DataFrame
        The testbeds: testbed, group, half, arms, horizon, unit (whether rewards lie in [0, 1]), reason.
    policies : polars.DataFrame
        The policies: policy, needs, family (whether it is derived from a reward family), own (whether it was
        added to those of the package), source.
    scores : polars.DataFrame
        One row per testbed and policy: ``runs``, ``mean`` regret and its standard error ``se``, ``worst05``
        (the mean of the worst 5% of the runs), ``failures`` (the share of runs no better than uniform play),
        ``ns_per_step`` and a ``note``. A policy that could not play has no runs, and the note says why.
    standings : polars.DataFrame
        Ranks and relative regrets over the testbeds of a ``scope``; see `suite.standings.standings`.
    wins, profiles : polars.DataFrame
        The win matrix and the performance profiles.
    worst_cases : polars.DataFrame
        What `worst_case` found for each policy; no rows where it was not called.
    checks : polars.DataFrame
        The requirements on `MOSSV`, testbed by testbed; see `suite.successor.checks`.
    regrets : dict
        The final regret of every run, by testbed and policy.

    Examples
    --------
    >>> import tempfile
    >>> import lowregret as lr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = lr.league(testbeds=["short"], policies=["MOSS", "UCB1"], out=folder)
    ...     "league.html" in [path.name for path in found.report(folder)]
    True
    >>> found.standings.filter(scope="all testbeds").select("policy", "rank").rows()
    [('MOSS', 1.0), ('UCB1', 2.0)]
    >>> found.tables()["testbeds"]["testbed"].to_list()
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
    checks: pl.DataFrame
    regrets: Mapping[str, Mapping[str, Floats]]

    def __repr__(self) -> str:
        sizes = f"{count(len(self.testbeds), 'testbed')}, {len(self.policies)} policies"
        shown = self.standings.filter(scope=ALL).select("policy", "rank", "tail_rank", "to_moss")
        with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, float_precision=2):
            return f"League of size {self.size}, seed {self.seed}: {sizes}\n{shown}"

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return all tables by name.

        Returns
        -------
        dict of str to polars.DataFrame
            The tables, by the names of the attributes.
        """
        names = (
            "testbeds", "policies", "scores", "standings", "wins", "profiles", "worst_cases", "checks"
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def report(self, folder: str | Path) -> list[Path]:
        """Write the page ``league.html``, its figures, and the tables as CSV and JSON.

        Parameters
        ----------
        folder : str or path
            The folder.

        Returns
        -------
        list of Path
            The files.
        """
        from lowregret.suite.league_page import write_files

        return write_files(self, Path(folder))


def league(
    size: str = "quick",
    *,
    policy: Policy | str | Iterable[Policy | str] = (),
    out: str | Path = "league",
    seed: int = 1,
    testbeds: Iterable[str] | None = None,
    policies: Iterable[Policy | str] | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    threads: int | None = None,
    progress_bar: ProgressBar | None = None,
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
    seed : int, default 1
        The seed of rewards and policies.
    testbeds : several str, optional
        The names of the testbeds; by default all.
    policies : several Policy or str, optional
        The policies; by default all of the package that learn.
    executor, threads : optional
        Where the runs are computed; see `Experiment.run`.
    progress_bar : callable, optional
        Called with a label for every part; returns a context whose value is called with a `Progress`.

    Returns
    -------
    League
        Tables of scores, standings, wins, profiles, worst cases and checks.

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
    ...     found = lr.league(testbeds=["short"], policies=["MOSS", "UCB1"], out=folder)
    >>> found.standings.filter(scope="all testbeds").select("policy", "rank").rows()
    [('MOSS', 1.0), ('UCB1', 2.0)]
    """
    if size not in SIZES:
        raise InputError(f"league: size must be one of {', '.join(SIZES)}, got {size!r}")
    if threads is not None:
        integer("league", "threads", threads)
    folder, seed = Path(out), seed_of(seed)
    beds = [testbed(name) for name in (TESTBEDS if testbeds is None else testbeds)]
    own = [policy] if isinstance(policy, str | Policy) else policy
    players, costs = entrants(own, policies), Costs(folder / "costs.json")
    plans = {
        bed.name: entries(
            bed.bandit(), bed.horizon, planned_runs(bed.horizon, SIZES[size]), players, SIZES[size], costs
        )
        for bed in beds
    }
    costs.save()
    bar = progress_bar or (lambda _: nullcontext())
    regrets: dict[str, dict[str, Floats]] = {}
    rows: list[dict[str, Any]] = []
    for bed in beds:
        regrets[bed.name], scores = _play(bed, plans[bed.name], folder, seed, bar, executor, threads)
        rows += scores
    cases = _worst_cases(players, size, folder, threads, costs, bar)
    return _joined(size, seed, beds, players, regrets, pl.DataFrame(rows, schema=SCORES), cases)


def _play(
    bed: Testbed,
    planned: Sequence[Entry],
    folder: Path,
    seed: int,
    bar: ProgressBar,
    executor: Executor | Callable[[], Executor] | None,
    threads: int | None,
) -> tuple[dict[str, Floats], list[dict[str, Any]]]:
    """Run the experiments of a testbed; return the regrets of the policies, and their scores."""
    bandit, found, costs = bed.bandit(), dict[str, Floats](), dict[str, float]()
    for runs, group in by_runs(planned).items():
        experiment = Experiment(
            name=bed.name,
            environments=bandit,
            policies=[entry.entry for entry in group],
            horizon=bed.horizon,
            runs=runs,
            seed=seed,
            grid={"points": GRID_POINTS},
        )
        place = folder / "results" / f"{bed.name}-{runs}"
        with bar(f"{bed.name}, {runs} runs") as progress:
            results = experiment.run(place, executor=executor, threads=threads, progress=progress)
        parts = results.finals.partition_by("policy", as_dict=True)
        recorded = _nanoseconds(place)
        for entry in group:
            found[entry.entrant.name] = parts[entry.played,]["regret"].to_numpy()
            costs[entry.entrant.name] = recorded[entry.played]
    uniform = bed.horizon * float(bandit.gaps.mean())
    scores = []
    for entry in planned:
        name = entry.entrant.name
        row: dict[str, Any] = {"testbed": bed.name, "policy": name, "runs": 0, "note": entry.note}
        if name in found:
            row |= statistics.scored(found[name], uniform) | {"ns_per_step": costs[name]}
        scores.append(row)
    return {entry.entrant.name: found[entry.entrant.name] for entry in planned if entry.runs}, scores


def _nanoseconds(folder: Path) -> dict[str, float]:
    """Return the time of a step by policy, from the manifest of a folder."""
    seconds, steps = Counter[str](), Counter[str]()
    for entry in ResultStore(folder).entries.values():
        seconds[entry.policy] += entry.seconds  # type: ignore[assignment]
        steps[entry.policy] += entry.steps
    return {policy: 1e9 * seconds[policy] / steps[policy] for policy in steps}


def _worst_cases(
    players: Sequence[Entrant], size: str, folder: Path, threads: int | None, costs: Costs, bar: ProgressBar
) -> pl.DataFrame:
    """Search a worst case for every policy; a search that is in the folder is not repeated."""
    path, known = folder / "worst_cases.json", dict[str, Any]()
    with suppress(OSError, ValueError, TypeError):  # not there, or not ours
        known = dict(json.loads(path.read_text(encoding="utf-8")))
    rows = []
    for player in players:
        step = next(
            (cost for name, (cost, *_) in costs.known.items() if name.startswith(f"{player.name}, 10 ")), 0.0
        )
        if not SEARCH[size] or "known variance" in player.policy.needs or step > SLOW_STEP:
            continue
        key = f"{player.name} {refer_to(type(player.policy)).identity} {SEARCH[size]}"
        if key not in known:
            with bar(f"worst case of {player.name}") as advance:
                tell = None if advance is None else partial(_advance, advance)
                case = worst_case(player.policy, **SEARCH[size], threads=threads, progress=tell)
            first = case.candidates.row(0, named=True)
            known[key] = {"policy": player.name} | {
                name: first[name] for name in WORST_CASES if name in first
            }
            with as_store_error(folder):
                write_atomically(path, (json.dumps(known, indent=1) + "\n").encode())
        rows.append(known[key])
    return pl.DataFrame(rows, schema=WORST_CASES).sort("ratio")


def _advance(advance: Callable[[Progress], None], done: int, problems: int) -> None:
    """Report the progress of a search, a problem as a shard."""
    advance(Progress(done, problems, done, problems, 0, 0))


def _joined(
    size: str,
    seed: int,
    beds: Sequence[Testbed],
    players: Sequence[Entrant],
    regrets: Mapping[str, Mapping[str, Floats]],
    scores: pl.DataFrame,
    worst_cases: pl.DataFrame,
) -> League:
    """Compute everything that spans several testbeds."""
    bandits = {bed.name: bed.bandit() for bed in beds}
    unit = {name for name, bandit in bandits.items() if bandit.support[0] >= 0.0 and bandit.support[1] <= 1.0}
    names = [player.name for player in players]
    unseen = {bed.name for bed in beds if bed.half == TEST}
    scopes = {ALL: set(regrets), UNIT: unit, TEST_HALF: unseen}
    placed, shares = [], []
    for scope, chosen in scopes.items():
        part = {name: found for name, found in regrets.items() if name in chosen}
        if scope != ALL and len(part) in (0, len(regrets)):
            continue
        table = statistics.standings(part, names, seed)
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
                "half": bed.half,
                "arms": len(bandits[bed.name]),
                "horizon": bed.horizon,
                "unit": bed.name in unit,
                "reason": bed.reason,
            }
            for bed in beds
        ),
        policies=pl.DataFrame(
            {
                "policy": player.name,
                "needs": ", ".join(player.policy.needs),
                "family": player.knows_family,
                "own": player.own,
                "source": player.policy.source,
            }
            for player in players
        ),
        scores=scores,
        standings=pl.concat(placed, how="diagonal"),
        wins=statistics.wins(regrets, names),
        profiles=pl.concat(shares),
        worst_cases=worst_cases,
        checks=checks(
            regrets, {bed.name: bed.half for bed in beds}, [p.name for p in players if p.knows_family]
        ),
        regrets=regrets,
    )
