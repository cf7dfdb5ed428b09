"""The folder of an experiment, written and opened: shards, a manifest of them, and the published tables.

======================  =====================================================================================
``shards/NAME.parquet``  one shard: a row per run with run, regret, pulls, eliminated
``manifest.jsonl``       a line of JSON per finished shard: its name, checksum, steps, seconds
``plan.json``            the shards to compute, and what they belong to; written when a run begins
``*.parquet``            the tables, written when every shard exists
``experiment.json``      description of the tables, with their checksums; written last
``lock``                 the process that writes here now
======================  =====================================================================================
"""

import errno
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from warnings import warn

import polars as pl
from pydantic import PositiveInt, TypeAdapter

from lowregret._common.durable_files import (
    UNFINISHED,
    as_store_error,
    checksum,
    locked,
    read_json,
    replace_file,
    sync,
)
from lowregret._common.text import count
from lowregret._common.user_calls import user_call
from lowregret.analysis.columns import TABLE_COLUMNS
from lowregret.analysis.description import Description, merged_note, varying_parameters
from lowregret.engine.problem import eliminates
from lowregret.environments import DriftingBandit
from lowregret.errors import InputError, StoreError
from lowregret.experiments.shard_tables import plan_tables, scan_shards, tables_of_pairs, times_and_arms
from lowregret.experiments.sharding import ENGINE, Shard, ShardPlan
from lowregret.experiments.worker import Finished
from lowregret.policies.inputs import reward_note
from lowregret.results import Results
from lowregret.results.saving import SAVED, scan_table, write_parquet

PLAN_FILE = "plan.json"


@dataclass(frozen=True)
class ManifestLine:
    """A line of the manifest: a finished shard."""

    shard: str
    sha256: str
    bytes: int
    steps: PositiveInt
    seconds: float
    policy: str
    arms: int


_MANIFEST_LINE = TypeAdapter(ManifestLine)


class ResultStore:
    """The folder of an experiment; write to it inside ``with ResultStore(folder).open():``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shards = folder / "shards"
        self._manifest = folder / "manifest.jsonl"
        self._tables = {name: folder / f"{name}.parquet" for name in TABLE_COLUMNS}
        self.entries, _ = _read_manifest(self._manifest)
        self.damaged: list[str] = []

    @contextmanager
    def open(self) -> Iterator[None]:
        """Create and lock the folder, and remove what a killed process left unfinished."""
        self._reject_foreign_files()
        with as_store_error(self.folder):
            self.shards.mkdir(parents=True, exist_ok=True)
        with locked(self.folder):
            with as_store_error(self.folder):
                self._prepare()
            yield

    def _reject_foreign_files(self) -> None:
        """Reject a folder whose files would be replaced but are not from an experiment."""
        if self.read_description().get(SAVED):
            raise StoreError(f"{str(self.folder)!r} holds results that were saved: use another folder")
        if self._manifest.exists() or (self.folder / "experiment.json").exists():
            return
        for path in self._tables.values():
            if path.exists():
                raise StoreError(
                    f"{str(self.folder)!r} has a file {path.name} that is not from an experiment: "
                    "use another folder, or move that file away"
                )

    def _prepare(self) -> None:
        """Remove unfinished files, and make the names of the folder and its files durable."""
        targets = (self._manifest, self.folder / "experiment.json", *self._tables.values())
        for path in (
            *(path.with_name(path.name + UNFINISHED) for path in targets),
            *self.shards.glob(f"*.parquet{UNFINISHED}"),
        ):
            path.unlink(missing_ok=True)
        self._manifest.touch()
        self.entries, size = _read_manifest(self._manifest)
        if size < self._manifest.stat().st_size:  # a crash truncated the last line
            os.truncate(self._manifest, size)
            sync(self._manifest)
        sync(self.folder)
        with suppress(PermissionError):  # the parent of a writable folder need not be readable
            sync(self.folder.parent)

    def path(self, shard: str) -> Path:
        return self.shards / f"{shard}.parquet"

    def has(self, shard: str) -> bool:
        """Return whether a shard is finished and undamaged."""
        return shard in self.entries and checksum(self.path(shard)) == self.entries[shard].sha256

    def missing(self, plan: ShardPlan) -> list[Shard]:
        missing_shards = [shard for shard in plan.shards if not self.has(shard.name)]
        self.damaged = [shard.name for shard in missing_shards if shard.name in self.entries]
        return missing_shards

    def step_seconds(self) -> dict[tuple[str, int], float]:
        """Return the mean seconds of a step in the manifest, by policy and number of arms."""
        sums: dict[tuple[str, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
        for entry in self.entries.values():
            total = sums[entry.policy, entry.arms]
            total[0] += entry.seconds
            total[1] += entry.steps
        return {key: seconds / steps for key, (seconds, steps) in sums.items()}

    def write_plan(self, plan: ShardPlan) -> None:
        """Write the description of an experiment, the times and arms of environments, the shards of pairs."""
        times, arms = times_and_arms(plan)
        data = {
            "description": asdict(description(plan)),
            "times": times,
            "arms": arms.to_dict(as_series=False),
            "pairs": [
                [pair.environment, pair.policy, [[shard.name, shard.runs] for shard in pair.shards]]
                for pair in plan.pairs
            ],
        }
        with as_store_error(self.folder):
            replace_file(self.folder / PLAN_FILE, json.dumps(data).encode())
            sync(self.folder)

    def write_shards(self, results: Iterable[tuple[Shard, str, Finished]]) -> None:
        """Store results durably: first files, then lines; a file without a line is computed again."""
        written: list[ManifestLine] = []
        with as_store_error(self.folder, "; every finished shard is kept"):
            try:
                for shard, policy, finished in results:
                    replace_file(self.path(shard.name), finished.data)
                    written.append(_entry_of(shard, policy, finished))
            finally:  # on a full disk, those that were written are kept
                if written:
                    sync(self.shards)
                    lines = [json.dumps(asdict(entry), separators=(",", ":")) + "\n" for entry in written]
                    _append(self._manifest, "".join(lines).encode())
                    self.entries |= {entry.shard: entry for entry in written}

    def write_tables(self, plan: ShardPlan) -> None:
        """Write the tables from the shards of a plan, all of which exist."""
        data = self.read_description()
        if data.get("plan") == plan.name and data.get("sha256") == self._checksums():
            return
        self.remove_tables()
        with as_store_error(self.folder, "; every finished shard is kept"):
            write_parquet(plan_tables(plan, scan_shards(self.shards)), self._tables)
            fields = plan.experiment.model_dump(exclude_unset=True, exclude={"folder"})
            spec = json.loads(json.dumps(fields, default=str))
            origin = {"spec": spec, "lowregret": version("lowregret"), "engine": ENGINE, "plan": plan.name}
            data = {**asdict(description(plan)), **origin, "sha256": self._checksums()}
            text = json.dumps(data, indent=2) + "\n"
            replace_file(self.folder / "experiment.json", text.encode())
            sync(self.folder)

    def _checksums(self) -> dict[str, str | None]:
        return {name: checksum(path) for name, path in self._tables.items()}

    def read_description(self) -> dict[str, Any]:
        """Return the description of the tables; empty if none are published."""
        return read_json(self.folder / "experiment.json")

    def remove_tables(self) -> None:
        """Remove the tables of another plan."""
        with as_store_error(self.folder):
            (self.folder / "experiment.json").unlink(missing_ok=True)
            sync(self.folder)
            for path in self._tables.values():
                path.unlink(missing_ok=True)


@user_call
def open_results(folder: str | Path) -> Results:
    """Open the results in the folder of an experiment.

    Parameters
    ----------
    folder : str or path
        The folder that ``lowregret run`` or ``Experiment.run`` wrote to.

    Returns
    -------
    Results
        The results; a table is read when it is first used. Of an experiment that is running or was stopped
        they are those of the finished shards, ``planned_runs`` is the number of runs that it will have, and
        a warning is issued.

    Raises
    ------
    InputError
        If the folder holds no results.
    StoreError
        If a table is missing, damaged or was replaced; also when a table is first used.

    Examples
    --------
    >>> import tempfile
    >>> experiment = lr.Experiment(environments="bernoulli:0.1,0.9", policies="MOSS", horizon=50, runs=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = experiment.run(folder)
    ...     lr.open_results(folder).finals.equals(results.finals)
    True
    """
    place = Path(folder)
    store = ResultStore(place)
    published = store.read_description()
    if not published:
        if results := _open_unfinished(store):
            done = f"{len(results.finals):,} of {count(results.planned_runs or 0, 'run')}"
            warn(f"{str(place)!r} is unfinished: {done} are done", stacklevel=2)
            return results
        if store.entries:
            raise InputError(f"{str(place)!r} is not finished: run it again to continue")
        raise InputError(f"{str(place)!r} holds no results: pass the folder of an experiment")
    for name in TABLE_COLUMNS:
        if not (place / f"{name}.parquet").is_file():
            raise StoreError(f"{name}.parquet is not in {str(place)!r}: run it again to have it written")
        if name not in published.get("sha256", {}):
            raise StoreError(
                f"{str(place)!r} has no checksum of {name}.parquet: run it again to have it written"
            )
    return Results(Description.from_dict(published), partial(scan_table, place, published["sha256"]))


def _open_unfinished(store: ResultStore) -> Results | None:
    """Open what is finished of an experiment; None where its folder does not say what was planned."""
    plan = read_json(store.folder / PLAN_FILE)
    if not plan:
        return None
    finished = {shard: store.has(shard) for *_, shards in plan["pairs"] for shard, _ in shards}
    pairs = [
        (environment, policy, [shard for shard, _ in shards if finished[shard]])
        for environment, policy, shards in plan["pairs"]
    ]
    done = [pair for pair in pairs if pair[2]]
    if not done:
        raise InputError(f"{str(store.folder)!r} has no finished shard yet: run it again to continue")
    planned = sum(runs for *_, shards in plan["pairs"] for _, runs in shards)
    tables = tables_of_pairs(done, plan["times"], pl.DataFrame(plan["arms"]), scan_shards(store.shards))
    description = replace(Description.from_dict(plan["description"]), planned_runs=planned)
    return Results(description, tables.__getitem__)


def description(plan: ShardPlan) -> Description:
    """Describe the results of an experiment."""
    experiment = plan.experiment
    cases, policies = (
        experiment.resolved_environments,
        {player.name: player.policy for player in experiment.resolved_policies},
    )
    clipped = {(pair.environment, pair.policy): pair.shards[0].settings["clip"] for pair in plan.pairs}
    notes = {
        name: merged_note(
            {
                case.name: reward_note(
                    policy,
                    case.bandit.support,
                    clipped[case.name, name],
                    case.bandit.binary,
                    experiment.period,
                )
                for case in cases
                if (case.name, name) in clipped
            }
        )
        for name, policy in policies.items()
    }
    return Description(
        name=experiment.name,
        seed=experiment.seed,
        runs=max((player.runs or experiment.runs for player in experiment.resolved_policies), default=1),
        clip=experiment.clip,
        horizons={case.name: case.horizon for case in cases},
        policies=tuple(policies),
        notes={name: text for name, text in notes.items() if text},
        eliminating=tuple(name for name, policy in policies.items() if eliminates(policy)),
        environment_parameters={case.name: case.parameters for case in cases if case.parameters},
        policy_parameters=varying_parameters(policies),
        delays={case.name: str(case.delay) for case in cases if not case.delay.is_zero},
        batches={case.name: case.batch for case in cases if case.batch > 1},
        drifting=tuple(case.name for case in cases if isinstance(case.bandit, DriftingBandit)),
        largest_gaps={case.name: gap for case in cases if (gap := case.bandit.largest_gap) is not None},
        backend=experiment.engine,
    )


def _entry_of(shard: Shard, policy: str, finished: Finished) -> ManifestLine:
    size, seconds = len(finished.data), round(finished.seconds, 6)
    return ManifestLine(shard.name, finished.sha256, size, shard.steps, seconds, policy, shard.arms)


def _read_manifest(path: Path) -> tuple[dict[str, ManifestLine], int]:
    """Return the finished shards, and the size of the complete lines: a crash may truncate the last one."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}, 0
    except OSError as error:
        raise StoreError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    size = data.rfind(b"\n") + 1
    entries: dict[str, ManifestLine] = {}
    for line in data[:size].splitlines():
        with suppress(ValueError):
            entry = _MANIFEST_LINE.validate_json(line, strict=True)
            entries[entry.shard] = entry
    return entries, size


def _append(path: Path, lines: bytes) -> None:
    """Append lines durably; on a full disk, or at an interrupt, remove what was written of them."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        try:
            if os.write(descriptor, lines) < len(lines):  # the disk became full
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        except BaseException:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
