"""The tables of an SQLite store, and how a file of format 1 becomes one of format 2.

=============  =======================================================================================
``agents``     one row per agent: its name, the arguments that it was created with, and ``base``, the
               number of its events that a snapshot has replaced
``log``        one row per event, numbered from 1 for each agent; rows are never changed, except that the
               name of a request may be erased, and are only deleted when the log is compacted
``snapshots``  the latest snapshot of each agent, and the one at ``base`` if its log was compacted
=============  =======================================================================================
"""

from __future__ import annotations

import json
import sqlite3

from lowregret.errors import StoreError
from lowregret.online.agent_settings import DEFAULT_NAME
from lowregret.online.decisions import Event
from lowregret.online.former_formats import upgraded_head
from lowregret.online.sealed_snapshot import sealed

OURS = 0x6C6F7772
"""The application id in the header of our SQLite files."""
FORMAT = 2
"""The ``user_version`` of our SQLite files; in format 1 it was 0."""

TABLES = """
CREATE TABLE agents (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, head TEXT NOT NULL, base INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE snapshots (
    agent INTEGER NOT NULL, position INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (agent, position)
);
CREATE TABLE log (
    agent INTEGER NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL, decision INTEGER, arm TEXT,
    reward REAL, time INTEGER, propensity REAL, drawn INTEGER, request TEXT, key TEXT, timestamp REAL,
    PRIMARY KEY (agent, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX asked ON log (agent, decision) WHERE kind = 'asked';
CREATE UNIQUE INDEX answered ON log (agent, decision) WHERE kind IN ('told', 'forgot');
CREATE INDEX requested ON log (agent, request) WHERE request IS NOT NULL;
"""
EVENT = ", ".join(Event._fields)


def format_of(link: sqlite3.Connection, path: str) -> int:
    """Return the format of a file, 0 if it is empty; reject a file that is not ours."""
    mark, number = (
        link.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if mark != OURS:
        if mark or link.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise StoreError(f"{path!r} is an SQLite file, but not of an agent: use another")
        return 0
    if number > FORMAT:
        raise StoreError(f"{path!r} has format {number}, and this lowregret knows {FORMAT}: upgrade it")
    return int(number) or 1


def create(link: sqlite3.Connection) -> None:
    """Create the tables; within a transaction."""
    for statement in TABLES.split(";"):
        link.execute(statement)
    link.execute(f"PRAGMA application_id = {OURS}")
    link.execute(f"PRAGMA user_version = {FORMAT}")


def migrate(link: sqlite3.Connection, path: str) -> None:
    """Convert a file of format 1, which has one agent; within a transaction."""
    for name in ("head", "latest", "log"):
        link.execute(f"ALTER TABLE {name} RENAME TO former_{name}")
    for index in ("asked", "answered", "requested"):
        link.execute(f"DROP INDEX {index}")
    create(link)
    found = link.execute("SELECT text FROM former_head").fetchone()
    if found:
        try:
            head = upgraded_head(json.loads(found[0]))
            token = head["agent"]
        except (ValueError, KeyError, TypeError):
            raise StoreError(
                f"{path!r} was not written by lowregret: restore it from a copy, or use another file"
            ) from None
        link.execute("INSERT INTO agents (id, name, head) VALUES (1, ?, ?)", (DEFAULT_NAME, json.dumps(head)))
        link.execute(
            "INSERT INTO log SELECT 1, position, kind, decision, arm, reward, time, propensity, drawn, "
            "request, CASE kind WHEN 'asked' THEN ? END, NULL FROM former_log ORDER BY position",
            (token,),
        )
        for position, text in link.execute("SELECT position, text FROM former_latest").fetchall():
            link.execute("INSERT INTO snapshots VALUES (1, ?, ?)", (position, sealed(position, text)))
    for name in ("head", "latest", "log"):
        link.execute(f"DROP TABLE former_{name}")
