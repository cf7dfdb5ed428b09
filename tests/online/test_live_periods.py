"""Live agents whose means are adjusted for periods: as in simulations, stored, resumed and replayed."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest
from agent_workers import check_replay
from serving import served
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.engine.kernels.periods import EXPOSURE, TOTAL
from lowregret.online import live_periods, transactions
from lowregret.online.snapshot import write

ARMS = ["0", "1", "2"]
DAYS = "bernoulli:0.3,0.3,0.35 | rhythm: every=40; weekend=1.75"
DAY = timedelta(days=1)
MONDAY = datetime(2026, 11, 16, tzinfo=UTC).timestamp()


def counts(agent):
    """Return the rewards of an agent in each period, without periods after the last."""
    pulls = agent.transactions.state.periods.counts.sum(axis=0)
    return np.trim_zeros(pulls, "b").tolist()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("policy", ["UCB1", "EUCBV", "MOSSV", "ThompsonBeta"])
def test_choices_are_those_of_simulations(policy, compiled):
    path = lr.trace(policy, DAYS, 800, seed=2, period=40, engine="reference")
    assert path.arm.tolist() != lr.trace(policy, DAYS, 800, seed=2, engine="reference").arm.tolist()
    agent = lr.Agent(policy, ARMS, horizon=800, seed=2, period=40)
    if compiled:
        agent.compile()
    for arm, reward in zip(path.arm, path.reward, strict=True):
        choice = agent.ask()
        assert choice.arm == str(arm)
        agent.tell(choice, reward)
    assert counts(agent) == [40.0] * 20


def test_a_window_is_a_delay():
    path = lr.trace("UCB1", DAYS, 600, seed=3, delay=50, period=40, engine="reference")
    agent = lr.Agent("UCB1", ARMS, horizon=600, seed=3, matures_after=50, default_reward=0, period=40)
    for arm, reward in zip(path.arm, path.reward, strict=True):
        choice = agent.ask()
        assert choice.arm == str(arm)
        if reward:
            agent.tell(choice, 1)


def play(agent, random, steps):
    """Ask and tell, some of it late, not in order or never; return the choices."""
    arms, late = [], []
    for _ in range(steps):
        choices = agent.ask(2)
        arms += [choice.arm for choice in choices]
        late += choices
        random.shuffle(late)
        for choice in late[: random.randrange(4)]:
            if random.random() < 0.1:
                agent.forget(choice)
            else:
                agent.tell(choice, random.random())
        late = [choice for choice in late if choice in agent.pending]
    return arms


@pytest.mark.parametrize(
    "options",
    [
        {"period": 9},
        {"period": timedelta(seconds=40)},
        {"period": 9, "control": ("2", 0.3), "minimum_share": 0.05},
        {"period": timedelta(seconds=40), "expires_after": 30, "default_reward": 0.25},
    ],
)
@pytest.mark.parametrize("policy", ["UCB1", "ThompsonBeta"])
def test_the_same_choices_after_a_crash(tmp_path, policy, options, monkeypatch):
    """What a kill leaves behind, with arms that come and go, is replayed from a snapshot or the beginning."""
    monkeypatch.setattr(transactions, "SNAPSHOT_EVERY", 11)
    monkeypatch.setattr(live_periods, "FIRST_PERIODS", 2)
    ticks = {"agent.db": iter(range(10**6)), "twin.db": iter(range(10**6))}

    def opened(folder, name):
        return lr.open_agent(
            folder / name, policy, ARMS, seed=5, clock=lambda: float(next(ticks[name])), **options
        )

    agent_folder = tmp_path / "first"
    agent_folder.mkdir()
    agent, twin = opened(agent_folder, "agent.db"), opened(tmp_path, "twin.db")
    one, other = Random(1), Random(1)
    for part in range(12):
        assert play(agent, one, 9) == play(twin, other, 9)
        if part == 4:
            for each in (agent, twin):
                each.add_arm("new")
                each.retire_arm("1")
        check_replay(agent)
        agent.verify()
        folder = tmp_path / str(part)
        shutil.copytree(agent_folder, folder)  # while it is open, as a kill leaves it
        agent.close()
        agent_folder = folder
        agent = opened(folder, "agent.db")
    assert len(counts(agent)) > 4
    agent.close(), twin.close()


def test_a_reward_counts_in_the_period_of_its_decision():
    now = [MONDAY]
    agent = lr.Agent("UCB1", ARMS, clock=lambda: now[0], period=DAY)
    first = agent.ask(3)
    now[0] += 86_399
    agent.tell(first[0], 1)
    now[0] += 1  # midnight, UTC
    agent.tell(agent.ask(), 0)
    assert counts(agent) == [1, 1]
    now[0] += 30 * 86_400  # days without a decision take no room
    agent.tell(agent.ask(), 0)
    agent.tell_many([(first[1], 1), (first[2], 1)])
    assert counts(agent) == [3, 1, 1]


def test_periods_begin_at_midnight_and_on_mondays():
    for length, moment in ((DAY, MONDAY + 86_400), (7 * DAY, MONDAY), (timedelta(hours=1), MONDAY + 3_600)):
        before, at, after = (live_periods.date_of(moment + second, length) for second in (-1e-3, 0.0, 60.0))
        assert before + 1 == at == after


def test_what_fails_leaves_no_trace(tmp_path, monkeypatch):
    monkeypatch.setattr(live_periods, "FIRST_PERIODS", 1)
    with lr.open_agent(tmp_path / "a.db", "UCB1", ARMS, period=4) as agent:
        random = Random(3)
        for _ in range(30):
            agent.tell(agent.ask(), random.random())
        pending, store = agent.ask(9), agent.transactions.store
        before = write(agent.transactions.state, for_store=True)
        with monkeypatch.context() as patch:
            patch.setattr(store, "append", lambda events: (_ for _ in ()).throw(lr.StoreError("full")))
            with pytest.raises(lr.StoreError, match="full"):
                agent.tell_many((choice, 1) for choice in pending)
        agent.preview()
        assert write(agent.transactions.state, for_store=True) == before
        agent.tell_many((choice, 1) for choice in pending)
        check_replay(agent)


def test_what_a_verdict_compares_does_not_depend_on_when_rewards_are_matched(monkeypatch):
    def written(every, compiled):
        monkeypatch.setattr(live_periods, "SETTLE_EVERY", every)
        agent, random = lr.Agent("RoundRobin", ARMS, period=40), Random(5)
        monkeypatch.setattr(agent.transactions.state, "token", "an agent")
        agent = agent.compile() if compiled else agent
        for turn in range(12):
            choices = agent.ask(25)
            random.shuffle(choices)
            agent.tell_many((choice, random.random()) for choice in choices)
            assert (agent.verdict().claim != "none") and (every > 5 or len(remaining(agent)) < 100)
            if turn == 6:
                agent.add_arm("new")
        return json.loads(agent.to_json()) | {"pending": None, "answers": None}

    first = written(10**6, False)
    assert sum(first["periods"]["matched"][1]) > 100
    assert written(5, False) == first and written(5, True) == first


def remaining(agent):
    with agent.transactions.reading() as state:
        return state.by_period.matching.rewards


def test_arms_that_the_policy_does_not_see_tell_about_their_periods():
    """Rewards of the control arm make a period good, so equal rewards of another arm are worth less."""
    means = {}
    for good in (0, 1):
        agent = lr.Agent("UCB1", ARMS, control=("2", 0.5), period=100)
        for turn in range(400):
            choice = agent.ask()
            later = turn >= 200
            agent.tell(choice, good * later if choice.arm == "2" else float(turn % 4 == 0))
        table = agent.summary()
        means[good] = table.filter(arm="0")["adjusted"].item()
        assert table["to_leader_low"].null_count() == table.height
    assert means[0] != means[1]


def test_the_summary_has_plain_and_adjusted_means():
    agent = lr.Agent("UCB1", ARMS, period=30, reward_range=(0, 2))
    rewards = {arm: [] for arm in ARMS}
    random = Random(1)
    for turn in range(200):
        choice = agent.ask()
        rewards[choice.arm].append(2.0 * (random.random() < 0.2 + 0.5 * (turn >= 100)))
        agent.tell(choice, rewards[choice.arm][-1])
    table = agent.summary()
    assert table["mean"].to_list() == pytest.approx([np.mean(rewards[arm]) for arm in ARMS])
    sums = agent.transactions.state.periods.arms
    assert table["adjusted"].to_list() == pytest.approx(2 * sums[:, TOTAL] / sums[:, EXPOSURE])
    assert table["low"].null_count() == table["to_leader_low"].null_count() == table.height
    verdict = agent.verdict()
    assert verdict.claim == "not yet" and verdict.expected_loss is None
    assert verdict.arm == table.sort("adjusted")["arm"].to_list()[-1]
    assert {arm.probability_best for arm in verdict.arms} == {None}
    with pytest.raises(lr.InputError, match="leave out within for an agent with a period"):
        agent.verdict(within=0.1)


def test_the_verdict_is_not_misled_by_good_days():
    """Arm 0 has most of its decisions on good days, and seems to be the best; arm 1 is."""
    random, now = Random(5), [MONDAY]
    agent = lr.Agent("RoundRobin", ["0", "1"], clock=lambda: now[0], period=DAY)
    for day in range(24):
        good = day % 2
        for turn in range(120):
            arm = "01"[turn % 12 < (2 if good else 10)]
            agent.tell(agent.ask(only=[arm]), random.random() < 0.1 + 0.5 * good + 0.15 * (arm == "1"))
        now[0] += 86_400
    table = agent.summary()
    assert table["mean"][0] > table["mean"][1] + 0.1
    verdict = agent.verdict()
    assert verdict.sentence == "1 is the best (error at most 5%, whenever you look)"
    assert lr.Agent.from_json(agent.to_json()).verdict() == verdict


def test_which_agents_with_a_period_have_no_verdict():
    agent = lr.Agent("UCB1", ARMS, period=10, expires_after=5, default_reward=0)
    assert "failures are known later than successes; use matures_after" in agent.verdict().sentence
    agent = lr.Agent("UCB1", [str(number) for number in range(live_periods.MAX_MATCHED)], period=10)
    assert agent.verdict().sentence.startswith("not yet: ")
    agent.add_arm("new")
    agent.tell(agent.ask(only=["new"]), 1)
    assert agent.verdict().sentence == "no verdict: an agent with a period compares up to 20 arms"


def test_an_agent_that_was_stored_without_what_a_verdict_compares_opens():
    agent = lr.Agent("UCB1", ARMS, period=10)
    agent.tell_many((choice, 1) for choice in agent.ask(50))
    parts = json.loads(agent.to_json())
    del parts["periods"]["matched"]
    assert lr.Agent.from_json(json.dumps(parts)).verdict().claim == "none"


@pytest.mark.parametrize(
    ("policy", "options", "problem"),
    [
        ("NPTS", {}, "keeps rewards in its own way: use another policy, or no period"),
        ("UCB1", {"reward_range": (-1, 1)}, r"rewards of reward_range=\(-1.0, 1.0\) may be negative"),
        ("UCB1", {"reward_range": None}, "rewards of reward_range=None may be negative"),
        ("UCB1", {"prior": {"0": (0.2, 10)}}, "period and prior cannot be combined"),
        ("UCB1", {"period": 0}, "period must be a number of decisions or a datetime.timedelta, got 0"),
        ("UCB1", {"period": timedelta(0)}, "period must be a positive time"),
    ],
)
def test_what_is_refused(policy, options, problem):
    with pytest.raises(lr.InputError, match=problem):
        lr.Agent(policy, ARMS, **{"period": 10, **options})


def test_earlier_rewards_are_refused(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("arm,reward\n0,1\n1,0\n")
    with pytest.raises(lr.InputError, match="period and prior cannot be combined"):
        lr.open_agent(tmp_path / "a.db", "UCB1", ARMS, period=DAY, start_from=log)
    for period, code in ((DAY, 2), (7, 0)):
        lr.open_agent(tmp_path / f"{code}.db", "UCB1", ARMS, period=period).close()
        result = CliRunner().invoke(app, ["agent", "import", str(tmp_path / f"{code}.db"), str(log)])
        assert result.exit_code == code, result.output
        assert ("rows of a log have no time" in result.output) == (code == 2)


def test_an_agent_without_period_is_stored_as_before():
    parts = json.loads(lr.Agent("UCB1", ARMS).to_json())
    assert "period" not in parts["made_with"] and "periods" not in parts


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("counts", [[1], [1], [1]]),
        ("totals", [[0.0]]),
        ("factors", [0.0]),
        ("state", [0]),
        ("exposure", [0.0] * 3),
        ("matched", [[0.0], [0.0]]),
    ],
)
def test_a_damaged_snapshot_is_refused(part, value):
    agent = lr.Agent("UCB1", ARMS, period=10)
    agent.tell(agent.ask(), 1)
    parts = json.loads(agent.to_json())
    assert lr.Agent.from_json(json.dumps(parts)).to_json() == agent.to_json()
    parts["periods"][part] = value
    with pytest.raises(lr.InputError, match="this agent cannot be loaded"):
        lr.Agent.from_json(json.dumps(parts))
    del parts["periods"]
    with pytest.raises(
        lr.InputError, match="it has periods, and no period in its settings, or the other way"
    ):
        lr.Agent.from_json(json.dumps(parts))


def test_over_http_and_from_the_command_line(tmp_path):
    path = lr.trace("UCB1", DAYS, 120, seed=2, period=40, engine="reference")
    request = {"name": "typed", "policy": "UCB1", "arms": ARMS, "seed": 2, "period": 40}
    made = CliRunner().invoke(app, ["agent", "create", str(tmp_path / "a.db"), json.dumps(request)])
    assert made.exit_code == 0, made.output
    with served(tmp_path / "a.db") as client:
        url = str(client.base_url)
        with lr.connect(url, name="typed") as agent:
            for arm, reward in zip(path.arm, path.reward, strict=True):
                choice = agent.ask()
                assert choice.arm == str(arm)
                agent.tell(choice, reward)
            assert agent.summary()["adjusted"].null_count() == 0
            assert agent.verdict().claim == "not yet"
        with lr.connect(url, "UCB1", ARMS, name="daily", period=DAY) as agent:
            agent.tell(agent.ask(), 1)
        summary = client.get("/v1/agents/daily/summary").json()
        assert summary["settings"]["period"] == {"seconds": 86_400.0}
        assert summary["loss"]["regret_bound"] is None
        with pytest.raises(lr.ConflictError, match="was created with period"):
            lr.connect(url, "UCB1", ARMS, name="daily", period=2 * DAY)
        body = {**request, "name": "odd", "policy": "NPTS"}
        answer = client.post("/v1/agents", json=body)
        assert answer.status_code == 400 and "use another policy, or no period" in answer.json()["detail"]
