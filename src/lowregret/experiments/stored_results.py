"""Open the results in the folder of an experiment."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from warnings import warn

import polars as pl

from lowregret._common.durable_files import read_json
from lowregret._common.text import count
from lowregret._common.user_calls import user_call
from lowregret.analysis.columns import TABLE_COLUMNS
from lowregret.analysis.description import Description
from lowregret.errors import InputError, StoreError
from lowregret.experiments.shard_tables import scan_shards, tables_of_pairs
from lowregret.experiments.store import PLAN_FILE, ResultStore
from lowregret.results import Results


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
    return Results(Description.from_dict(published), partial(store.scan_table, published["sha256"]))


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
