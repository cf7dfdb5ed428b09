"""Agents that share a file, and interrupts that leave none of them waiting."""

import sqlite3

import pytest
from agent_workers import check_replay, interrupted

import lowregret as lr
from lowregret.online import transactions
from lowregret.online.stores import sql, sqlite, sqlite_connection, sqlite_format

ARMS = ["red", "green", "blue"]


def opened(path, **changed):
    return lr.open_agent(path, **{"policy": lr.UCB1(), "arms": ARMS, "seed": 3, **changed})


def test_agents_on_one_file_see_one_another(tmp_path):
    one, other = opened(tmp_path / "agent.db"), opened(tmp_path / "agent.db")
    choice = one.ask()
    assert other.pending == (choice,)
    assert other.ask().arm != choice.arm
    assert other.tell(choice, 1)
    assert not one.tell(choice, 1)
    one.add_arm("yellow")
    one.retire_arm("red")
    assert set(other.arms) == {"green", "blue", "yellow"}
    assert one.to_json() == other.to_json()


@pytest.mark.parametrize("every", [1, 1_000])
def test_an_interrupt_at_any_bytecode_leaves_the_file_to_others(tmp_path, monkeypatch, every):
    """Also while the error and all that it went through are still there, as they are in a notebook."""
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", every)
    agent, other = (opened(tmp_path / "agent.db") for _ in range(2))
    left_open = 0
    for after in range(2_000):
        time, visit = agent.time, f"visit {after}"
        try:
            interrupted(
                lambda visit=visit: agent.ask(2, request=visit),
                after,
                sql,
                sqlite,
                sqlite_connection,
                transactions,
            )
            break
        except KeyboardInterrupt:
            link = agent.transactions.store._connection
            if link is not None and link.in_transaction:  # which the next session of this agent ends
                left_open += 1
                agent.ask(2, request=visit)
            choices = other.ask(2, request=visit)
            assert agent.time == other.time == time + 2
            assert agent.ask(2, request=visit) == choices
            assert other.tell_many((choice, 1) for choice in choices) == 2
        assert agent.time == time + 2
        assert choices[0].time == time + 1
    assert after > 200
    assert left_open < 10  # between the lines of a session, where nothing can catch it
    check_replay(agent)
    assert agent.transactions.state.asked == 2 * after + 2


def test_one_who_holds_the_file_is_waited_for_and_then_named(tmp_path, monkeypatch):
    agent, pauses = opened(tmp_path / "agent.db"), []
    monkeypatch.setattr(sqlite, "sleep", lambda _: pauses.append(1) or len(pauses) < 5 or holder.rollback())
    holder = sqlite3.connect(tmp_path / "agent.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert agent.ask().time == 1
    assert len(pauses) == 5
    holder.execute("BEGIN IMMEDIATE")
    monkeypatch.undo()
    for timeout, told in ((0.05, r"\d[\d.e-]*"), (0.0, "0")):  # what is left of it, never less than nothing
        hasty = opened(tmp_path / "agent.db", timeout=timeout)
        with pytest.raises(lr.StoreError, match=f"another process has held it for {told} s: try again"):
            hasty.ask()
    holder.close()
    assert agent.ask().time == 2


def test_a_folder_that_cannot_be_synced_is_told_in_one_sentence(tmp_path, monkeypatch):
    def failing(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("lowregret.online.stores.sqlite.sync", failing)
    with pytest.raises(lr.StoreError, match="cannot write to .*agent.db': Permission denied"):
        opened(tmp_path / "agent.db")


def test_no_call_reads_the_whole_log(tmp_path):
    """Every statement that reads or changes the log finds its rows by more than the agent."""
    statements = []
    with opened(tmp_path / "agent.db") as agent:
        taken = agent.transactions.store._take()
        agent.transactions.store._pool.release(taken, True)
        link = taken.raw
        first = agent.ask(request="first")
        agent.tell(first, 1)
        agent.tell_many((choice, 1) for choice in agent.ask(1_100))  # more than it has in memory
        link.set_trace_callback(statements.append)
        agent.ask(request="second")
        agent.ask(request="first")
        agent.tell(first, 1)
        agent.erase_request("first")
        link.set_trace_callback(None)
        plans = []
        for statement in statements:
            if " log " in statement and not statement.startswith("INSERT"):
                rows = link.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
                plans += [row[3] for row in rows if row[3].startswith(("SEARCH", "SCAN"))]
    assert len(plans) > 6
    for plan in plans:
        assert "SEARCH log USING" in plan and " AND " in plan, plan


def test_another_process_creates_the_tables_between_two_statements(tmp_path):
    ours, other = (sqlite_connection.Connection(tmp_path / "a.db", "rwc") for _ in range(2))
    created = []

    class Between:
        def execute(self, query):
            rows = ours.execute(query)
            if not created:
                other.execute("BEGIN IMMEDIATE")
                created.append(sqlite_format.create(other))
                other.execute("COMMIT")
            return rows

    assert sqlite_format.format_of(Between(), "a.db") == sqlite_format.FILE_FORMAT
    ours.close()
    other.close()


def test_who_opens_a_file_while_another_process_makes_its_first_commit(tmp_path, monkeypatch):
    """The -wal was empty when it was looked at, and has pages now: it is not one that was deleted."""
    path, real, others = tmp_path / "agent.db", sqlite_connection.Connection.remember_files_beside, []
    opened(path).close()

    def remember_and_let_another_go_on(connection):
        real(connection)
        if not others:
            others.append(None)
            others.append(opened(path).ask())

    monkeypatch.setattr(sqlite_connection.Connection, "remember_files_beside", remember_and_let_another_go_on)
    with opened(path) as agent:
        assert agent.pending == tuple(others[1:])
