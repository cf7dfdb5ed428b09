"""The definition of correct: a run in plain Python that looks at all arms at every step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.protocol import begin, book, has, lower, open_arms, turn, value
from lowregret.engine.rng import POLICY_STREAM, STATE, Rng, shuffle, stream
from lowregret.engine.state import CLOSED, Floats, Integers, Rows, deal, reward, rows_of
from lowregret.environments import Bandit
from lowregret.errors import InputError
from lowregret.policies import Arms, Clock, Policy, clock_at

DROPPED_EVERY_ARM = "it dropped every arm; at least one must stay"
SCORE_IS_NAN = "a score must be a number, got nan"
REMEMBERED = ("pulls", "forgotten", "origin", "total", "squares", "mean", "active", "marked", "dropped")


class Game:
    """One run as a conversation: ask which arm to pull, tell what it gave.

    Arms are named by their place in ``rows``, the order in which ties are broken.
    """

    def __init__(self, policy: Policy, rows: Rows, horizon: int, rng: Rng, clip: bool = False) -> None:
        self.policy, self.horizon, self.rng, self.clip = policy, horizon, rng, clip
        self.arms, self.lists = Arms(rows), has(policy, "claim")
        self.t = 0
        self.round = begin(policy, self.clock(0))
        open_arms(policy, rows)
        self.opened = self.arms.left()

    def clock(self, t: int) -> Clock:
        """Give what a policy may know at step ``t``."""
        best = 0.0
        if self.policy.uses_best and t > 0:
            arms = [self.arms.at(i) for i in range(len(self.arms.rows))]
            best = max((arm.mean for arm in arms if arm.pulls > 0), default=-np.inf)
        return clock_at(t, self.horizon, len(self.arms.rows), best)

    def active(self) -> list[int]:
        """Give the arms that may be pulled."""
        return [i for i in range(len(self.arms.rows)) if self.arms.active(i)]

    def warm(self, t: int) -> bool:
        """Say whether step ``t`` belongs to the warm-up, in which the arms are pulled in turn."""
        return t <= self.policy.warmup * self.opened

    def decided(self) -> bool:
        """Say whether one arm is left for good."""
        return self.policy.final and not self.lists and self.arms.left() == 1

    def ask(self) -> int:
        """Give the arm to pull next."""
        active, step = self.active(), self.t + 1
        if self.warm(step):
            return active[self.t % len(active)]
        if self.lists or self.decided():
            return active[0]
        clock = self.clock(step)
        scores = [value(self.policy, self.arms.at(i), clock, self.round, self.rng) for i in active]
        if any(score != score for score in scores):
            raise InputError(f"{self.policy}: {SCORE_IS_NAN}")
        return active[scores.index(max(scores))]

    def tell(self, place: int, x: float) -> None:
        """Take the reward of the arm that was pulled, let arms leave, and end the round if it is due."""
        self.t += 1
        clock, decided, active = self.clock(self.t), self.decided(), self.active()
        self.arms.observe(place, book(self.policy, x, self.clip, self.rng))
        if self.warm(self.t) or decided:
            return
        if self.lists:
            self.write_list(place)
            return
        bounds = [lower(self.policy, self.arms.at(i), clock, self.round) for i in active]
        if max(bounds) > -np.inf:
            for i in active:
                if value(self.policy, self.arms.at(i), clock, self.round, self.rng) < max(bounds):
                    self.arms.drop(i)
        if self.t >= self.round.until and self.arms.left() > 0:
            self.round = turn(self.policy, self.arms, clock, self.round)
        if self.arms.left() == 0:
            raise InputError(f"{self.policy}: {DROPPED_EVERY_ARM}")
        for i in active:
            if not self.arms.active(i) and self.arms.rows[i]["dropped"] == 0:
                self.arms.rows[i]["dropped"] = self.t

    def write_list(self, pulled: int) -> None:
        """Take the arm just pulled off the list, and write the next one as far as it is known."""
        self.arms.drop(pulled)
        clock, open = self.clock(self.t), [row["dropped"] != CLOSED for row in self.arms.rows]
        off = [i for i, opened in enumerate(open) if opened and not self.arms.active(i)]
        for i in off:
            claim = value(self.policy, self.arms.at(i), clock, self.round, self.rng)
            if claim != claim:
                raise InputError(f"{self.policy}: {SCORE_IS_NAN}")
            self.arms.mark(i, self.arms.marked(i) or claim > 0)
        if not self.active():
            listed = [i for i in off if self.arms.marked(i)]
            for i in off:
                self.arms.mark(i, False)
            for i in listed or off:
                self.arms.admit(i)

    def snapshot(self) -> dict[str, Any]:
        """Give the state as plain numbers, enough for ``restore`` to go on exactly."""
        arms = {name: self.arms.rows[name].tolist() for name in REMEMBERED}
        return {"t": self.t, "drawn": int(self.rng.state["drawn"]), "round": list(self.round), "arms": arms}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a snapshot."""
        self.t = state["t"]
        self.rng.state["drawn"] = state["drawn"]
        self.round = type(self.round)(*state["round"])
        for name in REMEMBERED:
            self.arms.rows[name] = state["arms"][name]


class Played(NamedTuple):
    """One run: arm, round and number of active arms after each step; elimination times by arm."""

    arm: Integers
    round: Integers
    active: Integers
    eliminated: Integers


def run(policy: Policy, bandit: Bandit, horizon: int, seed: int, number: int, clip: bool = False) -> Played:
    """Play run ``number`` of a policy on a bandit, as ``simulate`` does."""
    return play(new_game(policy, bandit, horizon, seed, number, clip), bandit.data)


def new_game(
    policy: Policy, bandit: Bandit, horizon: int, seed: int, number: int, clip: bool = False
) -> Game:
    """Set up run ``number`` of a policy on a bandit, as ``simulate`` does."""
    given = rows_of(bandit)
    rows, order = given.copy(), np.zeros(len(given), np.int64)
    shuffle(np.uint64(seed), number, order)
    deal(given, order, np.uint64(seed), number, rows)
    return Game(policy, rows, horizon, policy_rng(seed, number), clip)


def policy_rng(seed: int, number: int) -> Rng:
    """Give a policy's own stream in run ``number``."""
    states = np.zeros(1, STATE)
    states["key"] = stream(np.uint64(seed), number, POLICY_STREAM)
    return Rng(states[0])


def step(game: Game, data: Floats) -> int:
    """Make one step of a game; give the number of the arm that was pulled."""
    place = game.ask()
    row = game.arms.rows[place]
    x = reward(row, data, int(row["pulls"]) + 1)
    if np.isnan(x):
        raise InputError(f"{game.policy}: {ran_out(row['number'])}")
    game.tell(place, x)
    return int(row["number"])


def play(game: Game, data: Floats) -> Played:
    """Play a game to its horizon."""
    steps = np.zeros((3, game.horizon), np.int64)
    while game.t < game.horizon:
        arm = step(game, data)
        steps[:, game.t - 1] = arm, game.round.number, game.arms.left()
    rows = game.arms.rows
    eliminated = np.zeros(len(rows), np.int64)
    eliminated[rows["number"]] = np.maximum(rows["dropped"], 0)
    return Played(steps[0], steps[1], steps[2], eliminated)


def ran_out(number: int) -> str:
    """Say that a table of given rewards is too short."""
    return f"the rewards of arm {number} ran out: give it a longer row or a shorter horizon"
