"""The numbers of a live agent, and the two things it does with them: choose an arm, learn a reward.

Both are written once, as plain Python that Numba also compiles, like the policies. With no reward pending
they do, step by step, what ``engine.reference.Game`` does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.compile import adopt
from lowregret.engine.lazy.arm_lists import plays_lists, write_list
from lowregret.engine.protocol import book, turn, value
from lowregret.engine.rng import STATE, Rng, bits, uniform
from lowregret.engine.run_parts import best_mean, leave, sweep
from lowregret.engine.state import Rows
from lowregret.online.plain_rng import PlainRng
from lowregret.policies import NEVER, Arm, Arms, Clock, clock_at

ROW = np.dtype(
    [
        ("pulls", np.int64),  # whose reward was told
        ("forgotten", np.int64),  # pulls that no longer count
        ("pending", np.int64),  # pulls whose reward was not told yet
        ("owed", np.int64),  # pulls before the first score is asked for
        ("origin", np.float64),
        ("total", np.float64),
        ("squares", np.float64),
        ("mean", np.float64),
        ("number", np.int64),
        ("dropped", np.int64),  # when, 0 for never, CLOSED for an arm that was not in play
        ("active", np.bool_),
        ("marked", np.bool_),
        ("allowed", np.bool_),  # in the choice that is made now
    ],
    align=True,
)
"""One arm. The fields that the engine's rows have too mean the same here."""

NOW = np.dtype(
    [
        *((name, STATE[name]) for name in STATE.names or ()),  # the policy's own random numbers
        ("told", np.int64),
        ("waiting", np.int64),
        ("given_up", np.int64),
        ("horizon", np.int64),
        ("final", np.bool_),
        ("drops", np.bool_),  # arms by their lower bounds
        ("uses_best", np.bool_),
        ("needs_horizon", np.bool_),
    ],
    align=True,
)
"""The time (rewards told, pulls that wait for theirs, pulls given up), the horizon, and what the policy's
class says."""


class LiveRng(Rng):
    """A policy's own stream, whose coins never fall twice."""

    __slots__ = ()

    def coin(self, t: int) -> float:
        """Give the number of step ``t``: time goes back when a pull is given up, coins do not."""
        return uniform(np.uint64(bits(self.state["key"], 0)), t + self.state["given_up"])


adopt(LiveRng)


class Desk(NamedTuple):
    """The arms that are not retired, in the order in which ties are broken, and one row of ``NOW``.

    Two arrays and no more, since each costs time whenever compiled code is called.
    """

    rows: Rows
    nows: Rows

    def rng(self) -> Any:
        """Give the policy's own stream."""
        return LiveRng(self.nows[0])

    def seen(self, i: int) -> Arm:
        """Give an arm as it is scored: pulls that wait count, at the mean that is known."""
        arm = Arms(self.rows).at(i)
        return Arm(arm.number, arm.pulls + int(self.rows[i]["pending"]), arm.mean, arm.variance)

    def clock(self, t: int) -> Clock:
        """Give what a policy may know at time ``t``; one that needs the horizon never sees a later time."""
        now, best = self.nows[0], 0.0
        horizon = int(now["horizon"])
        if now["uses_best"]:
            best = best_mean(self.rows)
            if best == -np.inf and now["waiting"] > 0:  # no reward is known yet, and arms count at mean 0
                best = 0.0
        return clock_at(min(t, horizon) if now["needs_horizon"] else t, horizon, len(self.rows), best)

    def newcomer(self) -> int:
        """Give the allowed arm with the fewest pulls of those still in their warm-up, or -1."""
        place, fewest = -1, NEVER
        for i in range(len(self.rows)):
            row = self.rows[i]
            pulls = int(row["pulls"]) + int(row["pending"])
            if pulls < row["owed"] and pulls < fewest and row["allowed"] and row["active"]:
                place, fewest = i, pulls
        return place

    def choose(self, policy: Any, round: Any) -> int:
        """Give the arm to pull next, or -1 where a score is no number.

        Where no allowed arm is in play, those that were dropped are compared. A tie goes to the arm with the
        fewest pulls that wait, and then to the first.
        """
        rows, now = self.rows, self.nows[0]
        place = self.newcomer()
        if place >= 0:
            return place
        playing = 0
        for i in range(len(rows)):
            if rows[i]["allowed"] and rows[i]["active"]:
                playing += 1
                place = i
        if playing == 1 and now["final"]:
            return place
        clock, rng = self.clock(int(now["told"]) + int(now["waiting"]) + 1), self.rng()
        place, best = -1, -np.inf
        for i in range(len(rows)):
            if rows[i]["allowed"] and (playing == 0 or rows[i]["active"]):
                score = 0.0 if plays_lists(policy) else value(policy, self.seen(i), clock, round, rng)
                if score != score:
                    return -1
                tie = score == best and rows[i]["pending"] < rows[place]["pending"]
                if place < 0 or score > best or tie:
                    place, best = i, score
        return place

    def pull(self, place: int) -> None:
        """Count a pull whose reward is to come."""
        self.rows[place]["pending"] += 1
        self.nows[0]["waiting"] += 1

    def step(self, policy: Any, round: Any) -> Any:
        """Choose and pull; give the place, the time of the pull, and how many random numbers were drawn."""
        now, place = self.nows[0], self.choose(policy, round)
        if place >= 0:
            self.pull(place)
        return place, int(now["told"]) + int(now["waiting"]), int(now["drawn"])

    def learn(self, policy: Any, round: Any, place: int, reward: float) -> Any:
        """Take a reward, let arms leave, end the round if it is due; give the arms left and the round.

        Arms leave and rounds end by the rewards that are there, not by the pulls that wait, and not before
        every arm in play has had its warm-up.
        """
        rows, now, rng = self.rows, self.nows[0], self.rng()
        rows[place]["pending"] -= 1
        now["waiting"] -= 1
        now["told"] += 1
        t = int(now["told"])
        clock = self.clock(t)
        left, warm = 0, False
        for i in range(len(rows)):
            if rows[i]["active"]:
                left += 1
                warm |= rows[i]["pulls"] < rows[i]["owed"]
        Arms(rows).observe(place, book(policy, reward, False, rng))
        if plays_lists(policy):  # whose next claims look at the best mean after the reward
            return left if warm else write_list(policy, rows, place, self.clock(t), round, rng), round
        if warm or (now["final"] and left == 1):
            return left, round
        if now["drops"] and sweep(policy, rows, clock, round, rng):
            left = leave(rows, t)
        if t >= round.until and left > 0:
            round = turn(policy, Arms(rows), clock, round)
            left = leave(rows, t)
        return left, round


adopt(Desk)


class PlainLiveRng(PlainRng):
    """The same without compiled code."""

    __slots__ = ()

    def coin(self, t: int) -> float:
        """Give the number that belongs to step ``t``."""
        return PlainRng.coin(self, int(t) + int(self.state["given_up"]))


class PlainDesk(Desk):
    """A desk that needs no compiler."""

    __slots__ = ()

    def rng(self) -> Any:
        """Give the policy's own stream."""
        return PlainLiveRng(self.nows[0])


def choose(policy: Any, rows: Rows, nows: Rows, round: Any) -> Any:
    """Pull the arm that the policy wants; give its place (-1 if a score is nan), the time and the draws."""
    return Desk(rows, nows).step(policy, round)


def learn(policy: Any, rows: Rows, nows: Rows, round: Any, place: int, reward: float) -> Any:
    """Take a reward; give the arms left and the round."""
    return Desk(rows, nows).learn(policy, round, place, reward)


def choose_plainly(policy: Any, rows: Rows, nows: Rows, round: Any) -> Any:
    """Do what ``choose`` does, without compiled code."""
    return PlainDesk(rows, nows).step(policy, round)


def learn_plainly(policy: Any, rows: Rows, nows: Rows, round: Any, place: int, reward: float) -> Any:
    """Do what ``learn`` does, without compiled code."""
    return PlainDesk(rows, nows).learn(policy, round, place, reward)
