"""Results in a folder: the tables as Parquet files, and ``experiment.json``, which describes them."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING

import polars as pl

from lowregret._common.durable_files import (
    UNFINISHED,
    as_store_error,
    checksum,
    locked,
    read_json,
    replace_file,
    sync,
)
from lowregret._common.forks import check_threads
from lowregret.analysis.columns import TABLE_COLUMNS
from lowregret.errors import InputError, StoreError

if TYPE_CHECKING:
    from lowregret.results.results import Results

ALMOST_FULL = 64 * 2**20
"""Bytes of free space below which a failed write is put down to a full disk."""
CHART = "a figure is result.plot().save('regret.svg')"
FILES = {
    **dict.fromkeys((".png", ".svg", ".pdf"), CHART),
    **dict.fromkeys((".html", ".htm"), "a page is result.report(folder)"),
    ".csv": "one table is result.summary().write_csv('summary.csv')",
    ".parquet": "one table is result.summary().write_parquet('summary.parquet')",
    ".json": "plain data is result.to_dict()",
}
"""What to call for a file, which people name where a folder is wanted, by its ending."""
SAVED = "saved"
"""The key of ``experiment.json`` that says that no experiment wrote the tables."""


def save(results: Results, folder: Path) -> None:
    """Write results to a folder; results that were saved there before are replaced."""
    check_threads("save")
    if folder.suffix in FILES:
        raise InputError(f"save writes a folder of tables, got {str(folder)!r}: {FILES[folder.suffix]}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"save: {str(folder)!r} is not a folder")
    description = folder / "experiment.json"
    if (folder / "manifest.jsonl").exists() or (not description.exists() and any(folder.glob("*.parquet"))):
        raise InputError(f"save: {str(folder)!r} holds other results: use another folder")
    if results.planned_runs is not None:
        raise InputError("save: these results are unfinished: run the experiment again to finish them")
    paths = {name: folder / f"{name}.parquet" for name in TABLE_COLUMNS}
    tables = {
        name: results.load_table(name).collect().lazy() for name in TABLE_COLUMNS
    }  # of this folder, maybe
    with as_store_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder), as_store_error(folder):
        description.unlink(missing_ok=True)  # it is written last
        write_parquet(tables, paths)
        sums = {name: checksum(path) for name, path in paths.items()}
        data = {**asdict(results.description), SAVED: True, "lowregret": version("lowregret"), "sha256": sums}
        replace_file(description, (json.dumps(data, indent=2) + "\n").encode())
        sync(folder)


def write_parquet(tables: Mapping[str, pl.LazyFrame], paths: Mapping[str, Path]) -> None:
    """Write tables atomically, in one streaming pass."""
    partial = {name: path.with_name(path.name + UNFINISHED) for name, path in paths.items()}
    try:
        # lz4 is written twice as fast as zstd.
        sinks = [
            tables[name].sink_parquet(path, compression="lz4", maintain_order=True, lazy=True)
            for name, path in partial.items()
        ]
        pl.collect_all(sinks, engine="streaming")
        for path in partial.values():
            sync(path)
        for name, path in partial.items():
            path.replace(paths[name])
        for folder in {path.parent for path in paths.values()}:
            sync(folder)
    except pl.exceptions.PolarsError as error:
        # polars reports a full disk as an error of its own, without the code of the system.
        full = any(disk_usage(path.parent).free < ALMOST_FULL for path in paths.values())
        raise OSError(errno.ENOSPC if full else errno.EIO, str(error)) from error
    finally:
        for path in partial.values():
            with suppress(OSError):
                path.unlink(missing_ok=True)


def scan_table(folder: Path, sha256: Mapping[str, str], name: str) -> pl.LazyFrame:
    """Return a table of a folder once its checksum is verified."""
    path = folder / f"{name}.parquet"
    if checksum(path) == sha256[name]:
        return pl.scan_parquet(path, glob=False)
    if read_json(folder / "experiment.json").get("sha256", {}).get(name) == sha256[name]:
        raise StoreError(f"{str(path)!r} is damaged: run the experiment again to have it written anew")
    raise StoreError(f"{str(path)!r} was replaced since these results were opened: open them again")
