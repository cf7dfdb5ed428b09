"""Agents that share a database: each has a lock of its own, and no commit is lost or made twice."""

import socket
import sys
import threading
from time import monotonic, sleep

import pytest
from agent_workers import Child, check_replay, contents, interrupted

import lowregret as lr
from lowregret.online import calls, transactions
from lowregret.online.stores.locations import agent_names

psycopg = pytest.importorskip("psycopg")

from lowregret.online.stores import postgresql, postgresql_connection, sql  # noqa: E402
from lowregret.online.stores.postgresql import PostgreSQLStore  # noqa: E402
from lowregret.online.stores.postgresql_connection import SESSION_SETTINGS, Connection  # noqa: E402
from lowregret.online.stores.postgresql_format import CREATION_LOCK, TABLES  # noqa: E402

ARMS = ["red", "green", "blue"]


def opened(url, **changed):
    return lr.open_agent(url, **{"policy": lr.UCB1(), "arms": ARMS, "seed": 3, **changed})


def events(agent):
    return agent.transactions.store.events(0)


def executed(url, query, *values):
    with psycopg.connect(url, autocommit=True) as link:
        cursor = link.execute(query, values)
        return cursor.fetchall() if cursor.description else None


def insisting(call, errors=None):
    """Call until the store can be used; collect the messages."""
    end = monotonic() + 300
    while True:
        try:
            return call()
        except lr.StoreError as error:
            if monotonic() > end:
                raise
            if errors is not None:
                errors.add(str(error).partition("' ")[2])


class TestPostgreSQL(lr.testing.StoreTests):
    """Also with a libpq that has no pipelines."""

    @pytest.fixture(autouse=True, params=[True, False])
    def place(self, request, postgres_url, monkeypatch):
        monkeypatch.setattr(psycopg.Pipeline, "is_supported", lambda: request.param)
        self.url = postgres_url

    def make_store(self, name):
        return PostgreSQLStore(self.url, name)


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
def test_tables_that_another_process_creates_meanwhile_are_used(postgres_url, isolation):
    url = f"{postgres_url}%20-cdefault_transaction_isolation%3D{isolation.replace(' ', '%5C%20')}"
    waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND NOT granted"
    agents = []
    with psycopg.connect(postgres_url) as link:
        link.execute(f"SELECT pg_advisory_xact_lock({CREATION_LOCK})")
        link.execute(TABLES)
        thread = threading.Thread(target=lambda: agents.append(opened(url)))
        thread.start()
        end = monotonic() + 120
        while thread.is_alive() and not executed(postgres_url, waiting, CREATION_LOCK):
            assert monotonic() < end
            sleep(0.01)
    thread.join(120)
    assert agents
    assert executed(url, "SHOW default_transaction_isolation") == [(isolation,)]
    assert not executed(postgres_url, waiting.replace("AND NOT granted", ""), CREATION_LOCK)
    with agents[0] as agent:
        assert agent.tell(agent.ask(), 1)


def test_agents_on_one_database_see_one_another(postgres_url):
    with opened(postgres_url) as one, opened(postgres_url) as other:
        choice = one.ask()
        assert other.pending == (choice,)
        assert other.ask().arm != choice.arm
        assert other.tell(choice, 1)
        assert not one.tell(choice, 1)
        one.add_arm("yellow")
        one.retire_arm("red")
        assert set(other.arms) == {"green", "blue", "yellow"}
        assert one.to_json() == other.to_json()


@pytest.mark.parametrize("policy", [lr.EUCBV(), lr.ThompsonBeta()], ids=str)
def test_two_processes_choose_what_one_would(postgres_url, policy):
    alone = lr.Agent(policy, ARMS, seed=3, log_propensities=True)
    with opened(postgres_url, policy=policy) as one, opened(postgres_url, policy=policy) as other:
        for step in range(120):
            for agent in (one, other, other)[step % 3 :]:
                choice, same = agent.ask(), alone.ask()
                assert choice[1:4] == same[1:4]
                (other if step % 2 else one).tell(choice, step % 4 / 3)
                alone.tell(same, step % 4 / 3)
        expected = contents(alone)
        for agent in (one, other):
            assert {**contents(agent), "answers": {}, "made_with": {}} == {
                **expected,
                "answers": {},
                "made_with": {},
            }
            check_replay(agent)


def test_many_agents_in_one_database(postgres_url):
    with opened(postgres_url, name="one") as one, opened(postgres_url, name="two") as two:
        assert [agent.ask(4)[3].time for agent in (one, two)] == [4, 4]
        assert agent_names(postgres_url) == ["one", "two"]
        with pytest.raises(lr.InputError, match="has several agents, pass one of the names: one, two"):
            lr.open_agent(postgres_url)
    with lr.open_agent(postgres_url, name="two") as two:
        assert (two.name, two.time, two.notes[0][:27]) == ("two", 4, "the server has fsync = off:")
    with pytest.raises(
        lr.InputError, match="agent 'three' in 'postgresql://.*' does not exist: pass a policy"
    ):
        lr.open_agent(postgres_url, name="three")


def test_only_the_same_agent_is_waited_for_and_not_longer_than_agreed(postgres_url):
    with opened(postgres_url, name="one") as one, opened(postgres_url, name="two") as two:
        hasty = opened(postgres_url, name="one", timeout=0.2)
        with one.transactions.store.session(1.0):
            assert two.ask().time == 1
            assert hasty.time == 0  # reading waits for nobody
            began = monotonic()
            with pytest.raises(
                lr.StoreError, match=r"another process has held this agent for \d[\d.e-]* s: try again"
            ):
                hasty.ask()
            assert 0.15 < monotonic() - began < 30.0  # without a limit of its own it would be 60
        assert hasty.ask().time == 1
        hasty.close()


@pytest.mark.parametrize("how", [["before"], ["after"], ["late"], ["after", "before", "late"]], ids="-".join)
def test_a_commit_whose_answer_was_lost_is_made_once(postgres_url, tmp_path_factory, how):
    from postgres_server import Proxy

    proxy = Proxy(postgres_url, tmp_path_factory.mktemp("p"))
    with opened(proxy.url) as agent, opened(postgres_url) as other:
        for step in range(3):
            proxy.lose = list(how)
            choices = agent.ask(2, request=f"visit {step}")
            assert proxy.lose in ([], how[1:])
            assert other.ask(2, request=f"visit {step}") == choices
            proxy.lose = list(how)
            assert agent.tell(choices[0], 0.5) is True
            assert other.tell(choices[0], 0.5) is False
            proxy.lose = list(how)
            agent.add_arm(f"arm {step}")
        assert proxy.connections > 6
        kinds = [event.kind for event in events(other)]
        assert kinds == ["asked", "asked", "told", "added"] * 3
        assert agent.verify() == other.verify() == 12
    proxy.close()


def test_a_lost_commit_is_made_anew_after_the_commit_of_another(postgres_url, tmp_path_factory, monkeypatch):
    """Its decision was made from a state that is no longer the latest."""
    from postgres_server import Proxy

    proxy = Proxy(postgres_url, tmp_path_factory.mktemp("p"))
    with opened(proxy.url) as agent, opened(postgres_url) as other:
        first, between = agent.ask(), []
        real = PostgreSQLStore._was_stored

        def was_stored(*arguments):
            between.append(other.ask())
            return real(*arguments)

        monkeypatch.setattr(PostgreSQLStore, "_was_stored", was_stored)
        proxy.lose = ["before"]
        last = agent.ask()
        assert [first.time, between[0].time, last.time] == [1, 2, 3]
        assert len({first.arm, between[0].arm, last.arm}) == 3
        assert agent.verify() == other.verify() == 3
    proxy.close()


@pytest.mark.parametrize("group", [False, True], ids=["single", "group"])
@pytest.mark.parametrize("crashes", [False, True], ids=["terminated", "unexplained"])
def test_a_connection_lost_at_any_statement_is_made_again(postgres_url, monkeypatch, crashes, group):
    """With a message of the server, or without."""
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 4)
    real, left = psycopg.Cursor.execute, [0]

    def lose(connection):
        left[0] = -1
        if crashes:
            with socket.fromfd(connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as link:
                link.shutdown(socket.SHUT_RDWR)
            return
        executed(postgres_url, "SELECT pg_terminate_backend(%s, 60000)", connection.info.backend_pid)

    def execute(cursor, query, *arguments, **options):
        left[0] -= 1
        if left[0] == 1:
            lose(cursor.connection)
        return real(cursor, query, *arguments, **options)

    with opened(postgres_url) as agent, opened(postgres_url) as other:
        for statement in range(1, 30):
            names = [f"{statement} {number}" for number in range(3)]
            monkeypatch.setattr(psycopg.Cursor, "execute", execute)
            left[0] = statement + 1
            if group:
                made = agent.transactions.execute_group([(calls.ask, (1, None, name)) for name in names])
            else:
                made = [agent.ask(request=name) for name in names]
            finished = left[0] > 0
            monkeypatch.setattr(psycopg.Cursor, "execute", real)
            found = [each[0] if group else each for each in made]
            assert found == [other.ask(request=name) for name in names]
            assert agent.time == other.time == 3 * statement
            assert agent.tell_many((choice, 1) for choice in found) == 3
            if finished:
                break
        assert statement > 4, "no statement was interrupted"
        assert finished, "not every statement was interrupted"
        check_replay(agent)


def test_a_lost_connection_is_made_again(postgres_url):
    with opened(postgres_url) as agent:
        for call in (agent.ask, lambda: agent.time, agent.to_json, lambda: agent.tell(agent.pending[0], 1)):
            executed(
                postgres_url,
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
                "WHERE application_name = 'lowregret' AND pid <> pg_backend_pid()",
            )
            call()
        assert agent.time == 1


def test_a_server_that_is_down_is_waited_for(postgres, postgres_url):
    with opened(postgres_url, timeout=0.3) as hasty, opened(postgres_url, timeout=300) as agent:
        choice = agent.ask()
        postgres.stop_immediately()
        try:
            for call in (hasty.ask, lambda: hasty.time):
                began = monotonic()
                with pytest.raises(lr.StoreError, match="cannot use 'postgresql://postgres@.*/postgres': "):
                    call()
                assert monotonic() - began < 30.0  # by default it would be 60
            told = []
            thread = threading.Thread(target=lambda: told.append(agent.tell(choice, 1)))
            thread.start()
            sleep(0.3)
            assert told == []
        finally:
            postgres.start()
        thread.join(300)
        assert told == [True]
        assert insisting(hasty.ask).time == agent.time == 2
        check_replay(agent)


def test_a_server_that_is_frozen_is_not_waited_for_longer_than_agreed(postgres, postgres_url, monkeypatch):
    """When it is back, the agent goes on."""
    monkeypatch.setattr(postgresql_connection, "ANSWER_GRACE_SECONDS", 0.1, raising=False)
    with opened(postgres_url, timeout=0.1) as agent:
        choice, errors = agent.ask(), []

        def attempt(call):
            try:
                call()
            except lr.StoreError as error:
                errors.append(str(error))

        def commit_to_frozen(real=PostgreSQLStore._write):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(PostgreSQLStore, "_write", lambda *given: postgres.freeze() or real(*given))
                agent.tell(choice, 1)

        for call in (lambda: agent.time, commit_to_frozen):  # which also connects
            thread = threading.Thread(target=attempt, args=(call,), daemon=True)
            if call is not commit_to_frozen:
                postgres.freeze()
            thread.start()
            thread.join(60)
            postgres.thaw()
            assert not thread.is_alive(), "the call waits for the server"
        assert len(errors) == 2
        assert "nothing was stored" in errors[0] and "may have been stored" in errors[1]
        assert insisting(lambda: agent.tell(choice, 1)) in (True, False)
        assert insisting(agent.ask).time == 2
        check_replay(agent)


def test_reading_writes_nothing(postgres_url):
    with pytest.raises(lr.StoreError, match="has no agents: create one with open_agent"):
        lr.open_agent(postgres_url, read_only=True)
    assert executed(postgres_url, "SELECT to_regclass('lowregret_store')") == [(None,)]
    with opened(postgres_url) as writer, lr.open_agent(postgres_url, read_only=True) as reader:
        writer.ask(3)
        assert (reader.time, reader.verify()) == (3, 3)
        for call in (reader.ask, lambda: reader.tell(reader.pending[0], 1), lambda: reader.add_arm("x")):
            with pytest.raises(lr.StoreError, match="was opened read-only: open it without read_only"):
                call()
        with pytest.raises(
            lr.StoreError, match="cannot be written to: open it with read_only=True to read it"
        ):
            reader.transactions.store._rows("DELETE FROM lowregret_log")


def test_passwords_are_in_no_message(postgres):
    secret, allowed = "s3cret", ("such as", "does not exist", "invalid integer")
    user = postgres.url.replace("postgres:@", f"nobody:{secret}@")
    bad = "postgresql://me:s3cret@127.0.0.1:port/x", "mysql://me:s3cret@host/x", "postgresql://me:s3cret@[x/y"
    for url in (user, f"{postgres.url}&password={secret}&user=nobody", *bad):
        for call in (lambda url=url: opened(url), lambda url=url: agent_names(url)):
            with pytest.raises(lr.LowRegretError) as caught:
                call()
            assert secret not in str(caught.value) and any(part in str(caught.value) for part in allowed)
    with opened(postgres.url.replace("postgres:@", f"postgres:{secret}@")) as agent:  # trusted
        store = agent.transactions.store
        assert secret not in f"{agent!r} {store!r} {store.title} {store._server!r}"
        executed(postgres.url, "DROP TABLE lowregret_log")
        with pytest.raises(lr.StoreError) as caught:
            agent.ask()
        assert secret not in str(caught.value) and 'relation "lowregret_log" does not exist' in str(
            caught.value
        )
    executed(postgres.url, "DROP TABLE lowregret_store, lowregret_agents, lowregret_snapshots")


def test_a_wrong_address_is_not_tried_again(postgres, monkeypatch):
    calls, real = [], Connection.connect
    monkeypatch.setattr(
        Connection, "connect", lambda *given, **named: calls.append(given) or real(*given, **named)
    )
    for url, message in (
        (postgres.url.replace("/postgres?", "/nothing?"), 'database "nothing" does not exist'),
        (postgres.url.replace("postgres:@", "nobody:@"), 'role "nobody" does not exist'),
    ):
        with pytest.raises(lr.StoreError, match=message):
            opened(url)
    assert len(calls) == 2


def test_a_newer_format_is_refused(postgres_url):
    opened(postgres_url).close()
    executed(postgres_url, "UPDATE lowregret_store SET format = 9")
    with pytest.raises(lr.StoreError, match="has format 9, and this lowregret reads 2: a newer one"):
        opened(postgres_url)


def test_without_psycopg_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(lr.InputError, match=r'needs psycopg: pip install "lowregret\[service\]"'):
        opened("postgresql://localhost/x")


@pytest.mark.parametrize(
    "damage", ["DELETE FROM lowregret_log WHERE position = 2", "DELETE FROM lowregret_log"]
)
def test_lost_rows_are_noticed(postgres_url, damage):
    with opened(postgres_url) as agent:
        agent.ask(3)
        executed(postgres_url, damage)
        if "=" in damage:
            with pytest.raises(lr.StoreError, match="has lost rows of its log: restore it from a copy"):
                lr.open_agent(postgres_url)
        else:
            with pytest.raises(lr.StoreError, match="has lost rows of its log: restore it from a copy"):
                agent.ask()


def test_two_writers_cannot_append_the_same_event(postgres_url):
    """Whoever writes without the lock of the agent."""
    with opened(postgres_url) as agent:
        agent.ask()
        with pytest.raises(psycopg.errors.UniqueViolation):
            executed(postgres_url, "INSERT INTO lowregret_log (agent, position, kind) VALUES (1, 1, 'told')")
        real = agent.transactions.store._last_position
        agent.transactions.store._last_position = lambda: real() - 1
        with pytest.raises(lr.StoreError, match="another program has written to the log of this agent"):
            agent.ask()


def test_a_store_is_not_carried_over_a_fork(postgres_url):
    with opened(postgres_url) as agent:

        def refused(child):
            with pytest.raises(lr.StoreError, match="was opened before a fork"):
                agent.ask()
            agent.close()

        assert Child(refused).end() == 0
        agent.tell(agent.ask(), 1)


def test_names_of_any_characters_and_sizes(postgres_url):
    arms, request = ["%s {} \\ ' \"", "\u2603", "x" * 5_000, "{NULL}", "NULL", ""], "\u2603'\\%s" * 200
    with opened(postgres_url, arms=arms) as agent:
        choices = agent.ask(12, request=request)
        with pytest.raises(lr.InputError, match="must not contain control characters"):
            opened(postgres_url, arms=["a\0b", "c"], name="other")
        assert agent_names(postgres_url) == ["default"]
    with opened(postgres_url, arms=arms) as agent:
        assert agent.ask(12, request=request) == choices
        assert {choice.arm for choice in choices} == set(arms)
        assert agent.erase_request(request) == 12
        assert agent.ask(12, request=request) != choices
        check_replay(agent)


def test_large_batches(postgres_url, monkeypatch):
    monkeypatch.setattr(postgresql, "MAX_INSERTED_EVENTS", 100)
    with opened(postgres_url) as agent:
        agent.tell_many((choice, 0.1) for choice in agent.ask(1_234))
        assert agent.verify() == 2_468
        assert executed(postgres_url, "SELECT count(call) FROM lowregret_log") == [(2,)]


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # an idle connection may be lost
def test_an_interrupt_at_any_bytecode_comes_before_or_after_the_call(postgres_url, monkeypatch):
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 5)
    modules = postgresql, sql, transactions
    with opened(postgres_url) as agent, opened(postgres_url) as other:
        for after in range(0, 3_000, 3):
            time, visit = agent.time, f"visit {after}"
            try:
                interrupted(lambda visit=visit: agent.ask(2, request=visit), after, *modules)
                break
            except KeyboardInterrupt:
                agent.ask(2, request=visit)
            choices = other.ask(2, request=visit)
            assert agent.time == other.time == time + 2
            assert other.tell_many((choice, 1) for choice in choices) == 2
        assert after > 200
        check_replay(agent)


def test_no_call_reads_the_whole_log(postgres_url, monkeypatch):
    queries = []
    with opened(postgres_url) as agent:
        first = agent.ask(request="first")
        agent.tell(first, 1)
        agent.tell_many((choice, 1) for choice in agent.ask(1_100))  # more than it has in memory
        real = psycopg.Connection.execute

        def execute(link, query, values=None, **named):
            queries.append((query, values))
            return real(link, query, values, **named)

        monkeypatch.setattr(psycopg.Connection, "execute", execute)
        agent.ask(request="second")
        agent.ask(request="first")
        agent.tell(first, 1)
        agent.transactions.execute_group([(calls.ask, (1, None, request)) for request in ("second", "third")])
        agent.erase_request("first")
        monkeypatch.undo()
        plans = explained(postgres_url, queries)
    assert len(plans) > 12 and sum("lowregret_requested" in plan for plan in plans) >= 8
    for plan in plans:
        assert "Seq Scan" not in plan and "Index Cond: ((agent = " in plan, plan


@pytest.mark.parametrize("analyzed", [False, True])
def test_no_plan_for_a_short_log_is_used_for_a_long_one(postgres_url, analyzed):
    """For a short log a scan may be the best plan, and a connection keeps its plans."""

    def groups(first):
        for turn in range(first, first + 10):
            names = [f"{turn} {number}" for number in range(60)]
            agent.transactions.execute_group([(calls.ask, (1, None, name)) for name in names])

    with opened(postgres_url) as agent:
        agent.ask()
        if analyzed:
            executed(postgres_url, "VACUUM ANALYZE lowregret_log")
            for turn in range(10):
                agent.ask(request=f"single {turn}")
        groups(0)  # the statements are prepared meanwhile
        before = rows_read(agent, postgres_url)
        groups(10)
        for turn in range(10, 20):
            agent.ask(request=f"single {turn}")
        assert rows_read(agent, postgres_url) - before < 100


def rows_read(agent, url):
    """Return how many entries of indexes the calls of an agent have read so far."""
    agent.transactions.store._rows("SELECT pg_stat_force_next_flush()")
    query = "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE schemaname = current_schema()"
    return executed(url, query)[0][0]


def explained(url, queries):
    """Return the plans of the queries that use the log, for these values and for any."""
    plans = []
    for query, values in queries:
        if "FROM lowregret_log" in query or query.startswith("UPDATE lowregret_log"):
            general = query
            for number in range(len(values)):
                general = general.replace("%s", f"${number + 1}", 1)
            with psycopg.connect(url, autocommit=True) as link:
                link.execute(SESSION_SETTINGS)
                plans.append(link.execute(f"EXPLAIN {query}", values).fetchall())
                plans.append(link.execute(f"EXPLAIN (GENERIC_PLAN) {general}").fetchall())
    return ["\n".join(row[0] for row in plan) for plan in plans]


def test_a_log_that_lost_its_end_and_went_on_is_noticed(postgres_url):
    """As after a failover to a copy that was behind."""
    with opened(postgres_url) as agent:
        agent.ask(2, request="first")
        agent.erase_request("first")
        assert agent.time == 2
        executed(postgres_url, "DELETE FROM lowregret_log WHERE position = 2")
        with opened(postgres_url) as other:
            other.ask(3)
        for call in (agent.ask, lambda: agent.time):
            with pytest.raises(
                lr.StoreError, match="has lost events that this process has seen: open the agent"
            ):
                call()
    with opened(postgres_url) as agent:
        assert agent.ask().time == 5


def test_requests_are_looked_up_together(postgres_url):
    names = [f"visit {number} \u2603'\\%s" for number in range(5)] + ["x" * 300 + "a", "x" * 300 + "b"]
    with opened(postgres_url) as agent:
        for number, name in enumerate(names[:-1]):
            agent.ask(number + 1, request=name)
        store = agent.transactions.store
        for some in (names, names[3:], names[:1], names[-1:], []):
            expected = [event for name in some for event in store.events_of_request(name)]
            assert store.events_of_requests(some) == expected
        assert len(store.events_of_requests(names)) == 21


def connections(url):
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lowregret' AND datname = 'shared'"
    )
    return executed(url, query)[0][0]


def test_agents_of_a_process_share_connections(postgres):
    """In a database of their own: the connections of other tests may take a while to end."""
    executed(postgres.url, "CREATE DATABASE shared")
    url = postgres.url.replace("/postgres?", "/shared?")
    agents = [opened(url, name=f"agent-{number}") for number in range(60)]  # of 50 that there can be
    for agent in agents:
        agent.tell(agent.ask(), 1)
    assert connections(url) == 1
    with agents[0].transactions.store.session(1.0), agents[1].transactions.store.session(1.0):
        assert agents[2].ask().time == 2
        assert connections(url) == 3
    for agent in agents:
        agent.close()
    agents[0].close()
    end = monotonic() + 120
    while connections(url):  # the server has yet to notice
        assert monotonic() < end
        sleep(0.01)
    with pytest.raises(lr.InputError, match="this agent is closed"):
        agents[0].ask()


def test_threads_of_many_agents(postgres_url):
    """At the same time, while connections break."""
    agents, done, errors = [opened(postgres_url, name=f"agent-{number}") for number in range(8)], [], set()

    def use(agent):
        for turn in range(40):
            choice = insisting(lambda visit=f"visit {turn}": agent.ask(request=visit), errors)
            insisting(lambda choice=choice: agent.tell(choice, 0.5), errors)
        done.append(insisting(lambda: agent.time, errors))

    threads = [threading.Thread(target=use, args=[agent]) for agent in agents]
    for thread in threads:
        thread.start()
    for _ in range(300):  # not for ever: a slow machine would get nowhere
        executed(
            postgres_url,
            "SELECT pg_terminate_backend(pid, 60000) FROM (SELECT pid FROM pg_stat_activity "
            "WHERE application_name = 'lowregret' ORDER BY random() LIMIT 3) AS chosen",
        )
        if not any(thread.is_alive() for thread in threads):
            break
        sleep(0.01)
    for thread in threads:
        thread.join(200)
    assert done == [40] * 8
    assert errors <= {"was lost, and nothing was stored: try again"}
    for agent in agents:
        assert agent.verify() == 80
        agent.close()
