"""The invariant of a row, stated in ``engine.kernels.state``, after every step of every mode."""

from typing import NamedTuple

import numpy as np
import pytest

import lowregret as lr
from lowregret.engine.backends.cpu import Game
from lowregret.engine.backends.reference import play_rows
from lowregret.engine.encoding import encode
from lowregret.engine.kernels.modes import MODES, mode_of, select_mode
from lowregret.engine.kernels.rewards import reward
from lowregret.engine.kernels.state import lay_out
from lowregret.engine.prior import ArmPrior
from lowregret.engine.problem import Problem
from lowregret.engine.status import PLAYING
from lowregret.environments import Delay
from lowregret.policies.views import count_of, mean_of


class Round(NamedTuple):
    number: int
    until: int


class Resets(lr.Policy):
    """Reset the statistics of one arm every ten steps."""

    eliminates_permanently = False

    def first_round(self, clock):
        return Round(0, 10)

    def next_round(self, arms, clock, round):
        arms.reset(round.number % clock.arms)
        return Round(round.number + 1, round.until + 10)

    def score(self, arm, clock, round):
        return arm.mean + 1.0 / (arm.pulls + 1.0)


BANDIT = lr.bernoulli([0.3, 0.5]) + lr.gaussian([0.4, 0.45], 0.2)
PRIOR = {0: ArmPrior(0.25, 4), 2: ArmPrior(0.5, 3)}
PLAYED = {
    "scan": (lr.EpsilonGreedy(), {}),
    "scan with a prior": (lr.UCB1(), {"prior": PRIOR}),
    "scan with all rewards": (lr.SlidingWindowUCB(), {}),
    "scan with all rewards and a prior": (lr.GLRKLUCB(), {"prior": PRIOR}),
    "scan with resets and a prior": (Resets(), {"prior": PRIOR}),
    "delayed_run": (lr.UCB1(), {"delay": Delay.constant(3), "batch": 2}),
    "delayed_run with a prior": (lr.UCB1(), {"delay": Delay.constant(3), "prior": PRIOR}),
    "delayed_run with periods": (lr.UCB1(), {"period": 7, "bandit": lr.bernoulli([0.3, 0.5, 0.6])}),
    "round_robin": (lr.RoundRobin(), {}),
    "arm_lists": (lr.DMED(), {}),
    "posterior_sampling": (lr.ThompsonGauss(), {}),
    "constant_index": (lr.MOSS(), {}),
    "constant_index with rounds": (lr.EUCBV(), {}),
    "separable_index": (lr.UCB1(), {}),
    "time_varying_index": (lr.KLUCB(), {"bandit": lr.bernoulli([0.3, 0.5, 0.4, 0.6])}),
}
PULLS_ALONE = "round_robin", "separable_index"
"""The modes at whose end only the pulls of a row are read."""


def problem_of(name: str, horizon: int) -> Problem:
    policy, settings = PLAYED[name]
    settings = {"bandit": BANDIT, **settings}
    return Problem(policy, settings.pop("bandit"), horizon, 5, record=frozenset({"path"}), **settings)


def compiled_rows(problem: Problem):
    """Play one run by the compiled code of the mode; return its rows and the numbers of the arms pulled."""
    game = Game(problem, np.zeros(1, np.int64))
    play = game.play()
    setup, first_run, outputs, memory, scratch = game.arguments(0, 1)
    assert play(problem.policy, setup, first_run, outputs, memory, scratch) == PLAYING
    return memory.table.rows, game.records["path"][0, :, 0]


def reference_rows(problem: Problem):
    encoding = encode(problem)
    rows, order = encoding.rows.copy(), np.arange(len(encoding.rows))
    lay_out(encoding.rows, order, np.uint64(problem.seed), 0, rows)
    return rows, play_rows(problem, encoding, rows, 0).path[:, 0]


def check_row(row, prior, data, pulled: int, only_pulls: bool) -> None:
    """Compute the statistics of a row from all its rewards."""
    assert row["pulls"] + row["pending"] == pulled
    assert row["prior"] == (prior.weight if prior else 0)
    if only_pulls:
        return
    assert 0 <= row["forgotten"] <= row["prior"] + row["pulls"]
    rewards = [*(prior.rewards() if prior else ()), *(reward(row, data, n + 1) for n in range(row["pulls"]))]
    counted = np.array(rewards[row["forgotten"] :])
    assert count_of(row) == len(counted)
    distances = counted - (row["origin"] if len(counted) else 0.0)
    if len(counted):
        assert row["origin"] == counted[0]
    assert row["total"] == pytest.approx(distances.sum(), rel=1e-12, abs=1e-12)
    assert row["squares"] == pytest.approx((distances**2).sum(), rel=1e-12, abs=1e-12)
    assert row["mean"] == mean_of(count_of(row), float(row["origin"]), float(row["total"]))


@pytest.mark.parametrize("play", [compiled_rows, reference_rows])
@pytest.mark.parametrize("name", PLAYED)
def test_a_row_is_what_its_rewards_make_it_after_every_step(name, play):
    """A run of n steps ends where a longer one is after n steps, but for what depends on the horizon."""
    only_pulls, forgotten = play is compiled_rows and name in PULLS_ALONE, 0
    for horizon in (*range(1, 24), 40, 150):
        problem = problem_of(name, horizon)
        rows, arms = play(problem)
        for row in rows:
            pulled = int((arms == row["number"]).sum())
            check_row(row, problem.prior.get(int(row["number"])), problem.bandit.data, pulled, only_pulls)
        forgotten += int(rows["forgotten"].sum())
    assert (forgotten > 0) == ("resets" in name)


def test_every_mode_is_checked():
    modes = {select_mode(problem_of(name, 100)).__name__.rpartition(".")[2] for name in PLAYED}
    assert modes == {name.partition(" ")[0] for name in PLAYED}
    assert modes == {row.mode.__name__.rpartition(".")[2] for row in MODES}


@pytest.mark.parametrize("name", PLAYED)
def test_a_working_memory_belongs_to_its_mode(name):
    problem = problem_of(name, 100)
    mode = select_mode(problem)
    assert mode_of(mode.new_scratch(problem.policy, encode(problem), 100)) is mode
