"""Compile policies before they are needed: for containers, for CI, and before a lesson."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lowregret._common.progress import Report, counter
from lowregret.engine.bridge.precompile import precompiled
from lowregret.engine.problem import Problem
from lowregret.environments import bernoulli
from lowregret.policies import Policy


def compile_ahead(policies: Iterable[Policy], report: Report) -> int:
    """Compile what plays policies without delay on a bandit whose means stay, on all cores; return how many.

    The machine code is kept on disk, and serves every family of rewards, horizon and number of arms.
    """
    from lowregret.engine.backends.cpu import missing_parts, prepare
    from lowregret.engine.bridge.external import compile_all

    bandit = bernoulli([0.4, 0.5])
    problems = [Problem(policy, bandit, 1_000, grid=np.array([1_000], np.int64)) for policy in policies]
    missing = sum(bool(missing_parts(problem)) for problem in problems)
    advance = counter(report, len(problems), "policies")
    with precompiled(problems) as wait:
        for place, problem in enumerate(problems):
            advance(str(problem.policy), 0)
            wait(place)
            prepare(problem)
            advance(str(problem.policy), 1)
        compile_all()
    return missing
