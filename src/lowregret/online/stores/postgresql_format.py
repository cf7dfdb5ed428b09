"""The tables of a PostgreSQL store.

======================  ==============================================================================
``lowregret_store``     one row: the format of the tables
``lowregret_agents``    as ``agents`` in ``sqlite_format``
``lowregret_log``       as ``log`` there; ``call`` is a random number in the first row of each session,
                        by which a process finds out whether a commit was made whose answer was lost
``lowregret_snapshots`` as ``snapshots`` there
======================  ==============================================================================

The tables are in the first schema of the ``search_path``.
"""

from typing import Any

import psycopg

from lowregret.online.stores import check_format

DATABASE_FORMAT = 2
"""The format of the tables: that of SQLite files with the same events and snapshots."""
CREATION_LOCK = 0x6C6F7772
"""The advisory lock of a process that creates the tables."""

TABLES = f"""
CREATE TABLE lowregret_agents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    head text NOT NULL,
    base bigint NOT NULL DEFAULT 0
);
CREATE TABLE lowregret_snapshots (
    agent bigint NOT NULL, position bigint NOT NULL, text text NOT NULL, PRIMARY KEY (agent, position)
);
CREATE TABLE lowregret_log (
    agent bigint NOT NULL, position bigint NOT NULL, kind text NOT NULL, decision bigint, arm text,
    reward double precision, time bigint, propensity double precision, drawn bigint, request text, key text,
    timestamp double precision, call uuid, checksum bigint,
    PRIMARY KEY (agent, position)
);
CREATE UNIQUE INDEX lowregret_asked ON lowregret_log (agent, decision) WHERE kind = 'asked';
CREATE UNIQUE INDEX lowregret_answered ON lowregret_log (agent, decision) WHERE kind IN ('told', 'forgot');
CREATE INDEX lowregret_requested ON lowregret_log (agent, left(request, 200)) WHERE request IS NOT NULL;
CREATE TABLE lowregret_store (format integer NOT NULL);
INSERT INTO lowregret_store VALUES ({DATABASE_FORMAT});
"""
"""The index of requests has their beginnings, because PostgreSQL limits the size of an entry."""
TYPES = "text", "bigint", "text", "float8", "bigint", "float8", "bigint", "text", "text", "float8", "bigint"
"""The types of the fields of an event, and of its checksum."""
CHECKSUM_COLUMN = (
    "SELECT 1 FROM pg_attribute WHERE attrelid = 'lowregret_log'::regclass AND attname = 'checksum'"
)
"""Selects a row if the log has a column of checksums; the first versions created it without."""


def format_of(connection: psycopg.Connection[Any], title: str) -> int:
    """Return the format of the tables, 0 if there are none."""
    exists = connection.execute("SELECT to_regclass('lowregret_store') IS NOT NULL").fetchone()
    if not exists or not exists[0]:
        return 0
    row = connection.execute("SELECT max(format) FROM lowregret_store").fetchone()
    number = int(row[0] or 0) if row else 0
    check_format(title, number, DATABASE_FORMAT)
    return number


def create(connection: psycopg.Connection[Any], title: str) -> None:
    """Create the tables, unless another process does so at the same time."""
    connection.execute(f"SELECT pg_advisory_lock({CREATION_LOCK})")
    with connection.transaction():
        if format_of(connection, title) == 0:
            connection.execute(TABLES)
    connection.execute(f"SELECT pg_advisory_unlock({CREATION_LOCK})")


def add_checksums(connection: psycopg.Connection[Any]) -> bool:
    """Add the column, at once: no row changes, and older versions go on beside this one.

    Return False if that is not possible now: they belong to another role, or somebody reads them for long.
    """
    try:
        with connection.transaction():
            connection.execute("SET LOCAL lock_timeout = 1000")
            connection.execute("ALTER TABLE lowregret_log ADD COLUMN IF NOT EXISTS checksum bigint")
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.LockNotAvailable):
        return False
    return True
