"""Everything that can happen to an agent, in any order, against a plain model, on every store.

The model is a dictionary of what each decision was told and a count by arm; it knows no policy.
"""

import os
import shutil
import tempfile
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from agent_workers import check_replay
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import lowregret as lr
from lowregret.online import transactions
from lowregret.online.snapshot import write

ARMS = ["red", "green", "blue"]
REWARDS = st.sampled_from([0.0, 0.25, 0.5, 1.0])
POLICIES = st.sampled_from(
    [lr.UCB1(), lr.EUCBV(rho=0.02), lr.ThompsonBeta(), lr.DMED(), lr.MedianElimination(0.9, 0.9)]
)


WINDOWS = st.sampled_from(
    [
        {},
        {},
        {"matures_after": 3, "default_reward": 0.25},
        {"matures_after": 5},
        {"expires_after": 4},
        {"expires_after": 2, "default_reward": 0.0},
        {"period": 4},
        {"period": 3, "matures_after": 5, "default_reward": 0.25},
        {"period": timedelta(microseconds=500), "expires_after": 6},
    ]
)


class Live(RuleBasedStateMachine):
    """An agent and a model of it; subclasses say where the agent lives."""

    @initialize(policy=POLICIES, horizon=st.sampled_from([None, 60]), window=WINDOWS)
    def begin(self, policy, horizon, window):
        self.folder = Path(tempfile.mkdtemp(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
        if "period" in window and isinstance(policy, lr.MedianElimination):
            policy = lr.UCB1()
        self.made_with, self.window, self.matured = (policy, ARMS, horizon, 7), window, 0
        self.agent = self.first()
        self.asked, self.told, self.given_up, self.requests = {}, {}, set(), {}
        self.arms, self.retired, self.conflicts = list(ARMS), [], 0

    def teardown(self):
        if hasattr(self, "agent"):
            self.agent.close()
            shutil.rmtree(self.folder)

    def waiting(self):
        return [one for one in self.asked.values() if one.id not in self.told and one.id not in self.given_up]

    def end_windows(self):
        """Settle the decisions whose windows end when the agent is asked."""
        due = len(self.asked) - self.window.get("matures_after", self.window.get("expires_after", 10**9))
        for key in list(self.asked)[: max(due, 0)]:
            if key not in self.told and key not in self.given_up:
                if "default_reward" in self.window:
                    self.told[key] = self.window["default_reward"]
                else:
                    self.given_up.add(key)
        self.matured = max(self.matured, due)

    def counts(self, key):
        """Return whether the pull of a decision is no longer pending in the model of the agent."""
        number = list(self.asked).index(key) + 1
        return key in self.told and ("matures_after" not in self.window or number <= self.matured)

    @rule(
        count=st.integers(1, 4),
        which=st.sets(st.sampled_from(range(4))),
        request=st.sampled_from([None, "a", "b", "c"]),
    )
    def ask(self, count, which, request):
        only = [arm for place, arm in enumerate(self.arms) if place in which] or None
        if request in self.requests:
            count = len(self.requests[request])
            if only and not {choice.arm for choice in self.requests[request]} <= set(only):
                with pytest.raises(lr.ConflictError, match="before, which is not in only"):
                    self.agent.ask(count, only=only, request=request)
                return
        choices = self.agent.ask(count, only=only, request=request)
        if request in self.requests:
            assert choices == self.requests[request]
            return
        if request:
            self.requests[request] = choices
        self.end_windows()
        for choice in choices:
            assert choice.arm in (only or self.arms)
            assert choice.id not in self.asked
            self.asked[choice.id] = choice

    @rule(data=st.data(), reward=REWARDS, request=st.sampled_from([None, "d", "e"]))
    def observe(self, data, reward, request):
        """What somebody else decided counts as a decision and its reward do."""
        arm = data.draw(st.sampled_from(self.arms))
        if request in self.requests:
            earlier = self.requests[request][0]
            if (earlier.arm, self.told.get(earlier.id)) != (arm, reward):
                with pytest.raises(lr.ConflictError, match="use another request"):
                    self.agent.observe(arm, reward, request=request)
            else:
                assert self.agent.observe(arm, reward, request=request) is False
                self.end_windows()
            return
        assert self.agent.observe(arm, reward, request=request) is True
        self.end_windows()
        choice = lr.Decision(next(reversed(self.agent.transactions.state.answers)), arm, 0)
        if request:
            choice = self.agent.ask(request=request)
        assert choice.id.startswith("observed") and choice.arm == arm
        self.asked[choice.id], self.told[choice.id] = choice, reward
        if request:
            self.requests[request] = [choice]

    @precondition(lambda self: self.waiting())
    @rule(data=st.data(), reward=REWARDS, by=st.sampled_from(["decision", "id", "request"]))
    def tell(self, data, reward, by):
        """Also late, and out of order."""
        choice = data.draw(st.sampled_from(self.waiting()))
        request = next((name for name, made in self.requests.items() if choice in made), None)
        if by == "request" and request and len(self.requests[request]) > 1:
            with pytest.raises(lr.InputError, match="name each by its id"):
                self.agent.tell(request=request, reward=reward)
        elif by == "request" and request:
            assert self.agent.tell(request=request, reward=reward) is True
            assert self.agent.tell(request=request, reward=reward) is False
            self.told[choice.id] = reward
        else:
            assert self.agent.tell(choice.id if by == "id" else choice, reward) is True
            self.told[choice.id] = reward

    @precondition(lambda self: self.told)
    @rule(data=st.data())
    def tell_again(self, data):
        key = data.draw(st.sampled_from(sorted(self.told)))
        assert self.agent.tell(key, self.told[key]) is False

    @precondition(lambda self: self.told or self.given_up)
    @rule(data=st.data(), reward=REWARDS)
    def tell_otherwise(self, data, reward):
        key = data.draw(st.sampled_from(sorted(self.told.keys() | self.given_up)))
        if self.told.get(key) != reward:
            with pytest.raises(lr.ConflictError, match="is rejected"):
                self.agent.tell(key, reward)
            self.conflicts += 1

    @precondition(lambda self: self.waiting())
    @rule(data=st.data())
    def give_up(self, data):
        choice = data.draw(st.sampled_from(self.waiting()))
        assert self.agent.forget(choice) is True
        assert self.agent.forget(choice.id) is False
        self.given_up.add(choice.id)

    @rule(arm=st.sampled_from(["yellow", "black", "white"]))
    def add(self, arm):
        if arm in self.retired:
            with pytest.raises(lr.InputError, match="was retired"):
                self.agent.add_arm(arm)
        else:
            self.agent.add_arm(arm)
            self.arms += [arm] * (arm not in self.arms)

    @precondition(lambda self: len(self.arms) > 1)
    @rule(data=st.data())
    def retire(self, data):
        arm = data.draw(st.sampled_from(self.arms))
        self.agent.retire_arm(arm)
        self.agent.retire_arm(arm)
        self.arms.remove(arm)
        self.retired.append(arm)

    @rule(bad=st.sampled_from(["text", None, float("nan"), float("inf"), 1.5, [1]]))
    def tell_nonsense(self, bad):
        for choice in self.waiting()[:1]:
            with pytest.raises(lr.InputError):
                self.agent.tell(choice, bad)
        with pytest.raises(lr.UnknownDecisionError, match="unknown decision"):
            self.agent.tell("somebody-1", 1)

    @rule()
    def forget_expired(self):
        before = len(self.waiting())
        self.end_windows()
        assert self.agent.forget_expired() == before - len(self.waiting())

    @rule()
    def reopen(self):
        self.agent = self.again()

    @invariant()
    def agrees_with_the_model(self):
        if not hasattr(self, "agent"):
            return
        table = {row["arm"]: row for row in self.agent.summary().iter_rows(named=True)}
        assert set(table) == {*self.arms, *self.retired}
        assert set(self.agent.arms) == set(self.arms)
        assert list(self.agent.pending) == self.waiting()
        assert self.agent.conflicts == self.conflicts
        for arm, row in table.items():
            assert (row["state"] == "retired") == (arm in self.retired)
            mine = [key for key, one in self.asked.items() if one.arm == arm and key not in self.given_up]
            assert row["pulls"] == sum(map(self.counts, mine))
            assert row["pending"] == len(mine) - row["pulls"]
        self.agrees_with_itself()


class Memory(Live):
    """An agent in memory, which lives on as JSON."""

    def first(self):
        return lr.Agent(*self.made_with, **self.window)

    def again(self):
        text = self.agent.to_json()
        self.agent.close()
        return lr.Agent.from_json(text)

    def agrees_with_itself(self):
        text = self.agent.to_json()
        assert lr.Agent.from_json(text).to_json() == text


class Durable(Live):
    """An agent on a disk; a crash leaves the files as they are at that moment."""

    def first(self):
        return lr.open_agent(self.folder / self.name, *self.made_with, **self.window)

    def again(self):
        self.agent.close()
        return self.first()

    @rule()
    def crash(self):
        """Copy the files while they are open, and go on from the copy: what a kill leaves behind."""
        copy = Path(tempfile.mkdtemp())
        for path in self.folder.iterdir():
            shutil.copy(path, copy)
        self.agent.close()
        shutil.rmtree(self.folder)
        self.folder = copy
        self.agent = self.again()

    def agrees_with_itself(self):
        """The state is the replay of the log: of all of it, and of what follows the snapshot."""
        check_replay(self.agent)


class SQLite(Durable):
    """On SQLite, with a second agent that looks on and sometimes takes over, and one that is another."""

    name = "agent.db"

    @rule(count=st.integers(1, 9))
    def neighbour(self, count):
        with lr.open_agent(self.folder / self.name, lr.UCB1(), ARMS, name="neighbour") as other:
            other.tell_many((choice, 1) for choice in other.ask(count))
            assert other.summary()["pulls"].sum() == other.time

    @rule()
    def another(self):
        other = self.first()
        one, same = self.agent.transactions.state, other.transactions.state
        assert write(one, for_store=True) == write(same, for_store=True)
        self.agent.close()
        self.agent = other


class PostgreSQL(Live):
    """On PostgreSQL, over connections that break, with a second process that sometimes takes over."""

    names, url = count(1), ""

    def first(self):
        self.name = f"agent-{next(self.names)}"
        return self.opened()

    def opened(self):
        return lr.open_agent(self.url, *self.made_with, **self.window, name=self.name)

    def again(self):
        self.agent.close()
        return self.opened()

    @rule()
    def lose_connection(self):
        with pytest.importorskip("psycopg").connect(self.url) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE application_name = 'lowregret'"
            )

    @rule()
    def another(self):
        other = self.opened()
        one, same = self.agent.transactions.state, other.transactions.state
        assert write(one, for_store=True) == write(same, for_store=True)
        self.agent.close()
        self.agent = other

    def agrees_with_itself(self):
        check_replay(self.agent)


@pytest.fixture
def _postgresql(postgres_url, monkeypatch):
    monkeypatch.setattr(PostgreSQL, "url", postgres_url)


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    """Keep a snapshot every few events, so that many are taken and used."""
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 7)


def case_of(machine, examples):
    case = type(machine.__name__, (machine,), {}).TestCase
    case.settings = settings(max_examples=examples, stateful_step_count=30)
    return pytest.mark.usefixtures("_postgresql")(case) if machine is PostgreSQL else case


TestMemory, TestSQLite, TestPostgreSQL = (case_of(machine, 12) for machine in (Memory, SQLite, PostgreSQL))
TestLongerMemory, TestLongerSQLite, TestLongerPostgreSQL = (
    pytest.mark.heavy(case_of(machine, 100)) for machine in (Memory, SQLite, PostgreSQL)
)
