"""The tables of an SQLite store.

=============  =======================================================================================
``agents``     one row per agent: its name, the arguments that it was created with, and ``base``, the
               number of its events that a snapshot has replaced
``log``        one row per event, numbered from 1 for each agent; rows are never changed, except that the
               name of a request may be erased, and are only deleted when the log is compacted. An event
               that an older version stored has no ``checksum``
``snapshots``  the latest snapshot of each agent, and the one at ``base`` if its log was compacted
=============  =======================================================================================
"""

from lowregret.errors import StoreError
from lowregret.online.stores import check_format
from lowregret.online.stores.sqlite_connection import Connection

APPLICATION_ID = 0x6C6F7772
"""The application id in the header of our SQLite files."""
FILE_FORMAT = 2
"""The ``user_version`` of our SQLite files."""

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
    checksum INTEGER, PRIMARY KEY (agent, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX asked ON log (agent, decision) WHERE kind = 'asked';
CREATE UNIQUE INDEX answered ON log (agent, decision) WHERE kind IN ('told', 'forgot');
CREATE INDEX requested ON log (agent, request) WHERE request IS NOT NULL;
"""
CHECKSUM_COLUMN = "SELECT 1 FROM pragma_table_info('log') WHERE name = 'checksum'"
"""Selects a row if the log has a column of checksums; the first versions created it without."""
ADD_CHECKSUMS = "ALTER TABLE log ADD COLUMN checksum INTEGER"
"""Adds the column, at once: no row changes, and older versions go on beside this one."""


def format_of(connection: Connection, title: str) -> int:
    """Return the format of a file, 0 if it is empty; reject a file that is not ours."""
    # The tables first: another process may commit them, with its identifier, before the next statement.
    tables = connection.execute("SELECT count(*) FROM sqlite_master")[0][0]
    identifier, number = (
        connection.execute(f"PRAGMA {name}")[0][0] for name in ("application_id", "user_version")
    )
    if identifier != APPLICATION_ID:
        if identifier or tables:
            raise StoreError(f"{title} is an SQLite file, but not of an agent: use another")
        return 0
    check_format(title, number or 1, FILE_FORMAT)
    return FILE_FORMAT


def create(connection: Connection) -> None:
    """Create the tables; within a transaction."""
    for statement in TABLES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FILE_FORMAT}")
