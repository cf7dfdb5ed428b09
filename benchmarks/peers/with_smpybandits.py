"""SMPyBandits: its UCB, which is UCB1, and Thompson sampling with beta posteriors."""

import contextlib
import io
import warnings

import numpy as np
from playing import ARMS, play

with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):  # it talks while it is imported
    warnings.simplefilter("ignore")
    from SMPyBandits.Policies import UCB, Thompson


def start(kind, seed):
    np.random.seed(seed)
    policy = kind(len(ARMS))
    policy.startGame()
    return policy.choice, policy.getReward


warnings.simplefilter("ignore")  # it divides by 0 pulls before the first pull of an arm
play("UCB1", lambda seed: start(UCB, seed))
play("ThompsonBeta", lambda seed: start(Thompson, seed))
