"""river: its UCB (delta = 1 is UCB1) and Thompson sampling with beta posteriors."""

from functools import partial

from playing import ARMS, play
from river import bandit, proba


def start(policy):
    return partial(policy.pull, ARMS), policy.update


play("UCB1", lambda seed: start(bandit.UCB(delta=1, seed=seed)))
play("ThompsonBeta", lambda seed: start(bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=seed)))
