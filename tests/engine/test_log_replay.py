"""The compiled replay against a plain one through a plain game, event by event."""

import numpy as np
import pytest
from helpers import Lists, Regretful
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_game import Game

import lowregret as lr
from lowregret.engine.backends import log_replay
from lowregret.engine.kernels.log_replay import LogArrays
from lowregret.engine.kernels.rng import ACCEPT_STREAM, RESAMPLE_STREAM, policy_rng, shuffle, stream, uniform
from lowregret.engine.kernels.state import new_rows
from lowregret.engine.problem import Control

POLICIES = [
    lr.EUCBV(),
    lr.EUCBV(rho=0.02),
    lr.UCB1(),
    lr.ThompsonBeta(),
    Lists(),
    lr.DMED(),
    Regretful(),
]


def replay(policy, log, arms, horizon, resamples, seed, clip=False, threads=None):
    return log_replay.replay(policy, log, arms, horizon, resamples, seed, clip, Control(threads))


def plainly(policy, log_arrays, arms, horizon, seed, number):
    """Replay a log as the definition says: return the rows that matched."""
    order = np.zeros(arms, np.int64)
    shuffle(np.uint64(seed), number, order)
    game = Game(policy, new_rows(arms, policy)[order], horizon, policy_rng(seed, number))
    draws = np.uint64(stream(np.uint64(seed), number, RESAMPLE_STREAM))
    accepted = np.uint64(stream(np.uint64(seed), number, ACCEPT_STREAM))
    events, place = [], game.ask()
    for event in range(len(log_arrays.arm)):
        row = int(uniform(draws, event) * len(log_arrays.arm)) if number else event
        if log_arrays.arm[row] != order[place] or uniform(accepted, event + 1) >= log_arrays.share[row]:
            continue
        game.tell(place, log_arrays.reward[row])
        events.append(row)
        if game.t == horizon:
            break
        place = game.ask()
    return events


@st.composite
def logs(draw):
    arms, size = draw(st.integers(1, 6)), draw(st.integers(1, 400))
    numbers = np.random.default_rng(draw(st.integers(0, 2**32)))
    arm = numbers.integers(0, arms, size)
    levels = draw(st.sampled_from([2, 5]))
    reward = numbers.integers(0, levels, size) * (numbers.random(arms) < 0.7)[arm] / (levels - 1)
    share = np.ones(size) if draw(st.booleans()) else numbers.random(size).clip(0.05)
    for values in (arm, reward, share):
        values.flags.writeable = False
    return arms, LogArrays(arm, reward, share)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@settings(max_examples=15)
@given(log=logs(), horizon=st.integers(1, 300), seed=st.integers(0, 2**64 - 1))
def test_every_event_is_the_same(policy, log, horizon, seed):
    arms, log_arrays = log
    replayed = replay(policy, log_arrays, arms, horizon, 2, seed, threads=1)
    assert replayed.events.tolist() == plainly(policy, log_arrays, arms, horizon, seed, 0)
    for number in range(3):
        events = plainly(policy, log_arrays, arms, horizon, seed, number)
        assert replayed.matched[number] == len(events)
        assert replayed.total[number] == pytest.approx(log_arrays.reward[events].sum(), rel=1e-12)


def test_arms_leave_in_a_replay():
    """Guards the test above: an elimination that never happens would prove nothing."""
    arm = np.arange(600) % 3
    log_arrays = LogArrays(arm, (arm == 1).astype(float), np.ones(600))
    for values in log_arrays:
        values.flags.writeable = False
    played = arm[replay(lr.EUCBV(rho=0.02), log_arrays, 3, 200, 0, 1).events]
    assert len(played) == 200
    assert (played[20:] == 1).all()


def test_threads_and_the_number_of_resamples_change_nothing():
    numbers = np.random.default_rng(2)
    log_arrays = LogArrays(numbers.integers(0, 3, 500), numbers.random(500), np.ones(500))
    for values in log_arrays:
        values.flags.writeable = False
    one = replay(lr.UCB1(), log_arrays, 3, 150, 40, 7, threads=1)
    many = replay(lr.UCB1(), log_arrays, 3, 150, 60, 7, threads=3)
    assert one.total.tolist() == many.total[:41].tolist()
    assert one.matched.tolist() == many.matched[:41].tolist()


def test_clipped_rewards_are_what_the_policy_learns_but_not_what_it_earns():
    arm = np.arange(400) % 2
    log_arrays = LogArrays(arm, np.where(arm == 0, 5.0, 7.0), np.ones(400))
    for values in log_arrays:
        values.flags.writeable = False
    seen = replay(lr.UCB1(), log_arrays, 2, 100, 0, 1, clip=True)
    played = arm[seen.events]
    assert abs(int(played.sum()) - 50) <= 1  # clipped, both arms give 1
    assert seen.total[0] == log_arrays.reward[seen.events].sum()
