"""A second, independent implementation of a step in plain Python, against which the engine's is tested."""

import numpy as np

from lowregret.engine.kernels.rewards import reward
from lowregret.engine.kernels.rng import policy_rng, shuffle
from lowregret.engine.kernels.state import CLOSED, ArmTable, lay_out, rows_of
from lowregret.engine.start import start
from lowregret.policies.views import UNDATED, Arms, arm_view, clock_at


class Game:
    """One run as ask and tell: which arm is pulled next, and what it gave. Arms are named by their place."""

    def __init__(self, policy, rows, horizon, rng):
        self.policy, self.rows, self.horizon, self.rng, self.t = policy, rows, horizon, rng, 0
        self.lists = hasattr(policy, "list_index")
        self.round = start(policy, rows, horizon)
        self.opened = len(self.active())
        self.seen = [[] for _ in rows]

    def arm(self, i):
        arm = arm_view(self.policy, ArmTable(self.rows), i)
        if self.policy.uses_rewards:
            arm = arm._replace(rewards=np.array(self.seen[i][self.rows[i]["forgotten"] :]))
        return arm

    def clock(self, t):
        means = [self.rows[i]["mean"] for i in range(len(self.rows)) if self.arm(i).pulls > 0]
        best = max(means, default=-np.inf) if self.policy.uses_best else 0.0
        return clock_at(t, self.horizon, len(self.rows), best)

    def active(self):
        return [i for i in range(len(self.rows)) if self.rows[i]["active"]]

    def warm(self, t):
        return t <= self.policy.warmup * self.opened

    def decided(self):
        return self.policy.eliminates_permanently and not self.lists and len(self.active()) == 1

    def index(self, i, clock):
        return self.policy.arm_index(self.arm(i), clock, self.round, self.rng)

    def ask(self):
        active = self.active()
        if self.warm(self.t + 1):
            return active[self.t % len(active)]
        if self.lists or self.decided():
            return active[0]
        clock = self.clock(self.t + 1)
        scores = [self.index(i, clock) for i in active]
        return active[scores.index(max(scores))]

    def tell(self, place, x):
        self.t += 1
        clock, decided, active = self.clock(self.t), self.decided(), self.active()
        self.observe(place, self.policy.transform_reward(x, self.rng))
        if self.warm(self.t) or decided:
            return
        if self.lists:
            self.extend_list(place)
            return
        bounds = [self.policy.lower_bound(self.arm(i), clock, self.round) for i in active]
        if max(bounds) > -np.inf:
            for i in [i for i in active if self.index(i, clock) < max(bounds)]:
                self.rows[i]["active"] = False
        if self.t >= self.round.until:
            self.round = self.policy.next_round(Arms(self.policy, ArmTable(self.rows)), clock, self.round)
        for i in active:
            if not self.rows[i]["active"] and self.rows[i]["eliminated"] in (0, UNDATED):
                self.rows[i]["eliminated"] = self.t

    def observe(self, place, x):
        """Compute the statistics of an arm from all its rewards, not from sums that are carried along."""
        row = self.rows[place]
        self.seen[place].append(x)
        row["pulls"] += 1
        counted = self.seen[place][row["forgotten"] :]
        row["origin"] = counted[0]
        row["total"] = row["squares"] = 0.0
        for value in counted:
            row["total"] += value - counted[0]
            row["squares"] += (value - counted[0]) ** 2
        unit = 1.0 if counted[0] == 1.0 else 0.0
        row["mean"] = (unit * len(counted) + row["total"]) / len(counted) + (counted[0] - unit)

    def extend_list(self, pulled):
        self.rows[pulled]["active"] = False
        clock = self.clock(self.t)
        off = [i for i, row in enumerate(self.rows) if row["eliminated"] != CLOSED and not row["active"]]
        for i in off:
            self.rows[i]["listed"] |= self.index(i, clock) > 0
        if not self.active():
            listed = [i for i in off if self.rows[i]["listed"]] or off
            for i in off:
                self.rows[i]["listed"] = False
                self.rows[i]["active"] = i in listed


def play(policy, bandit, horizon, seed, number):
    """Play run ``number`` of a policy on a bandit; return the arms, and the times of elimination by arm."""
    given = rows_of(bandit, policy)
    rows, order = given.copy(), np.zeros(len(given), np.int64)
    shuffle(np.uint64(seed), number, order)
    lay_out(given, order, np.uint64(seed), number, rows)
    game, arms = Game(policy, rows, horizon, policy_rng(seed, number)), []
    for _ in range(horizon):
        place = game.ask()
        row = game.rows[place]
        game.tell(place, reward(row, bandit.data, int(row["pulls"]) + 1))
        arms.append(int(row["number"]))
    eliminated = np.zeros(len(rows), np.int64)
    eliminated[rows["number"]] = np.maximum(rows["eliminated"], 0)
    return arms, eliminated.tolist()
