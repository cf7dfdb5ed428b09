"""How runs are played: the table of modes, on a CPU and on a GPU, and ``select_mode``, which decides.

Every mode makes the choices of ``engine.backends.reference``; a mode of ``lazy`` evaluates fewer arms. The
first row whose condition holds is taken, and the last one always holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from lowregret.engine import status
from lowregret.engine.encoding import Encoding
from lowregret.engine.kernels import delayed_run, scan
from lowregret.engine.kernels.lazy import (
    arm_lists,
    constant_index,
    posterior_sampling,
    round_robin,
    separable_index,
    time_varying_index,
)
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import admits_later
from lowregret.engine.kernels.simulated_run import Run
from lowregret.engine.kernels.state import State
from lowregret.engine.problem import RECOMMENDED, Problem
from lowregret.environments import Bandit, DriftingBandit, RandomBandit
from lowregret.environments.families import SAMPLED
from lowregret.policies import Policy
from lowregret.policies.base import samples_posteriors, takes_rng
from lowregret.policies.optional_methods import DRAWING


class Mode(Protocol):
    """One way to play runs: a module with these names."""

    Scratch: Any
    """The class of the working memory."""

    def applies(self, problem: Problem) -> bool:
        """Return whether the mode can play a problem, on a CPU."""

    def new_scratch(self, policy: Policy, encoding: Encoding, horizon: int) -> Any:
        """Return the working memory for runs; compiled code allocates none."""

    def play(self, policy: Any, state: State, rng: Rng, run: Run, scratch: Any) -> State:
        """Play one run from its first state to its last."""


class Row(NamedTuple):
    """A mode, and for which problems it is taken on a CPU and on a GPU."""

    mode: Mode
    on_cpu: Callable[[Problem], bool]
    on_gpu: Callable[[Problem], bool]


def never(problem: Problem) -> bool:
    return False


def evaluates_all(problem: Problem) -> bool:
    """Return whether no mode of ``lazy`` knows what a problem asks for."""
    policy = problem.policy
    keeps_more = policy.Memory is not None or policy.uses_rewards or bool(problem.prior)
    compares_otherwise = policy.top_two or policy.overrides("duel") or policy.overrides("sample")
    asks_more = policy.overrides("choose") or policy.overrides("stop") or draws_elsewhere(problem)
    return keeps_more or compares_otherwise or asks_more or admits_later(type(policy)) or recommends(problem)


def draws_elsewhere(problem: Problem) -> bool:
    """Return whether a policy draws random numbers in ``next_round`` or ``update_memory``."""
    return any(takes_rng(type(problem.policy), method) for method in DRAWING)


def recommends(problem: Problem) -> bool:
    """Return whether runs record what the policy recommends."""
    return RECOMMENDED in problem.record


def has_posterior(problem: Problem) -> bool:
    return samples_posteriors(type(problem.policy))


def has_tabled_widths(problem: Problem) -> bool:
    """Return whether the widths of all times and numbers of pulls are computed beforehand."""
    policy, horizon = problem.policy, problem.horizon
    return horizon <= MAX_TABLED_HORIZON and separable_index.is_separable(policy, 2, horizon)


def scores_constantly(problem: Problem) -> bool:
    return constant_index.applies(problem) and problem.policy.Memory is None


def scores_increase(problem: Problem) -> bool:
    """Return whether the score of an arm that is not pulled never decreases."""
    policy = problem.policy
    sees_more = policy.uses_best or policy.uses_arms or policy.Memory is not None
    increases = policy.overrides("score") and policy.index_trend == "increasing"
    return increases and not sees_more and not policy.overrides("lower_bound")


def has_own_sampler(problem: Problem) -> bool:
    bandit = problem.bandit
    return isinstance(bandit, Bandit) and bool((bandit.kinds == SAMPLED).any())


def arms_change(problem: Problem) -> bool:
    """Return whether means depend on more than the step."""
    return isinstance(problem.bandit, DriftingBandit) and not problem.bandit.drift.by_step


MAX_TABLED_HORIZON = 2**24
"""Up to which horizon a GPU computes the widths of all numbers of pulls and times beforehand."""
MODES = (
    Row(delayed_run, delayed_run.applies, never),
    Row(scan, evaluates_all, never),
    Row(round_robin, round_robin.applies, never),
    Row(arm_lists, arm_lists.applies, never),
    Row(posterior_sampling, posterior_sampling.applies, has_posterior),
    Row(constant_index, constant_index.applies, scores_constantly),
    Row(separable_index, separable_index.applies, has_tabled_widths),
    Row(time_varying_index, time_varying_index.applies, scores_increase),
    Row(scan, scan.applies, scan.applies),
)

UNSUPPORTED_ON_GPU: tuple[tuple[Callable[[Problem], bool], str], ...] = (
    (lambda problem: problem.policy.uses_rewards, status.ALL_REWARDS),
    (lambda problem: any(map(problem.policy.overrides, ("list_index", "duel"))), status.LISTS),
    (lambda problem: problem.policy.top_two, status.SECOND_SAMPLES),
    (lambda problem: any(map(problem.policy.overrides, ("choose", "stop"))), status.OWN_CHOICES),
    (draws_elsewhere, status.DRAWS),
    (recommends, status.RECOMMENDATIONS),
    (lambda problem: admits_later(type(problem.policy)), status.LATER_ARMS),
    (lambda problem: problem.delayed, status.DELAYS),
    (lambda problem: bool(problem.prior), status.PRIOR),
    (lambda problem: problem.period is not None, status.PERIOD),
    (lambda problem: problem.horizon >= 2**31, status.LONG_HORIZON),
    (has_own_sampler, status.OWN_SAMPLER),
    (lambda problem: isinstance(problem.bandit, RandomBandit), status.RANDOM_ARMS),
    (arms_change, status.CHANGING_ARMS),
)
"""What no mode plays on a GPU, and why."""


def select_mode(problem: Problem, on_gpu: bool = False) -> Mode:
    """Return the mode in which a problem is played."""
    return next(row.mode for row in MODES if (row.on_gpu if on_gpu else row.on_cpu)(problem))


def unsupported_on_gpu(problem: Problem) -> str:
    """Return why a GPU cannot play a problem, or an empty string."""
    return next((reason for applies, reason in UNSUPPORTED_ON_GPU if applies(problem)), "")


def mode_of(scratch: Any) -> Mode:
    """Return the mode to which a working memory belongs."""
    return next(row.mode for row in MODES if isinstance(scratch, row.mode.Scratch))


def play_run(policy: Any, state: State, rng: Rng, run: Run, scratch: Any) -> State:
    """Play one run in the mode to which the working memory belongs.

    Compiled code has the ``play`` of that mode here, as ``backends.cpu`` asks for.
    """
    return mode_of(scratch).play(policy, state, rng, run, scratch)
