"""Policies of other packages behind one interface: choose an arm, take its reward.

A tie goes to the first arm, as on a table in lowregret: SMPyBandits, which breaks ties at random, is made to
choose the first.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

scipy.special.btdtri = scipy.special.betaincinv  # the name of the same function that SMPyBandits imports
with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import SMPyBandits.Policies as smpybandits  # noqa: N813  # the package
    from mabwiser.mab import MAB
    from pymab import policies as pymab
    from SMPyBandits.Policies.IndexPolicy import IndexPolicy
    from SMPyBandits.Policies.kullback import klBern, klucbGauss
    from SMPyBandits.Policies.Posterior import Gauss

__all__ = ["Gauss", "IndexPolicy", "Make", "klBern", "klucbGauss", "of_mabwiser", "of_pymab", "of_river"]
__all__ += ["of_smpybandits", "play"]

Player = tuple[Callable[[], int], Callable[[int, float], None]]
"""A function that chooses an arm, and one that takes the reward of an arm."""

Make = Callable[[int, int], Player]
"""A function that returns a new player for a number of arms and a horizon."""


@contextlib.contextmanager
def ties_to_the_first() -> Any:
    """Let NumPy's random choice return the first candidate, and its shuffle change nothing."""
    drawn, shuffled = np.random.choice, np.random.shuffle
    np.random.choice, np.random.shuffle = (lambda among: among[0]), (lambda values: None)
    yield
    np.random.choice, np.random.shuffle = drawn, shuffled


def of_smpybandits(
    name: str,
    add: int = 0,
    change: Any = None,
    horizon: bool = False,
    ties: bool = True,
    **parameters: Any,
) -> Make:
    """Return a policy of SMPyBandits.

    Parameters
    ----------
    name : str
        Its class.
    add : int, default 0
        Added to its time, the number of pulls so far, while it chooses.
    change : callable, optional
        Returns the changed class.
    horizon : bool, default False
        Whether it takes the horizon.
    ties : bool, default True
        Whether a tie goes to the first arm; False for a class that draws in other ways than by an index.
    parameters
        Its other parameters.
    """
    breaking = ties_to_the_first if ties else contextlib.nullcontext

    def make(arms: int, steps: int) -> Player:
        kind = getattr(smpybandits, name)
        known = {**parameters, "horizon": steps} if horizon else parameters
        policy = (change(kind) if change else kind)(arms, **known)
        with breaking():
            policy.startGame()

        def choose() -> int:
            policy.t = getattr(policy, "t", 0) + add
            with breaking(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                arm = int(policy.choice())
            policy.t -= add
            return arm

        return choose, policy.getReward

    return make


def of_mabwiser(policy: Any) -> Make:
    """Return a policy of MABWiser."""

    def make(arms: int, steps: int) -> Player:
        mab = MAB(list(range(arms)), policy, seed=0)
        fitted = []

        def update(arm: int, reward: float) -> None:
            (mab.partial_fit if fitted else mab.fit)([arm], [reward])
            fitted.append(True)

        return (lambda: int(mab.predict())), update

    return make


def of_river(policy: Any, index: bool = False) -> Make:
    """Return a policy of river; with ``index``, the first arm of its largest index."""

    def make(arms: int, steps: int) -> Player:
        fresh = policy.clone()
        if index:
            return (lambda: max(range(arms), key=fresh.compute_index)), fresh.update
        return (lambda: int(fresh.pull(range(arms)))), fresh.update

    return make


def of_pymab(
    name: str, change: Any = None, rule: Any = None, horizon: bool = False, **parameters: Any
) -> Make:
    """Return a policy of pymab.

    Parameters
    ----------
    name : str
        Its class.
    change : callable, optional
        Returns the changed class.
    rule : callable, optional
        Chooses an arm by the state of the policy, instead of its own method.
    horizon : bool, default False
        Whether it takes the horizon.
    parameters
        Its other parameters.
    """

    def make(arms: int, steps: int) -> Player:
        kind = getattr(pymab, name)
        known = {**parameters, "horizon": steps} if horizon else parameters
        policy = (change(kind) if change else kind)(n_arms=arms, **known)
        rng = np.random.default_rng(0)

        def choose() -> int:
            return int(rule(policy)) if rule else int(policy.select_action(rng=rng))

        return choose, lambda arm, reward: policy.update(action=arm, reward=reward)

    return make


def play(make: Make, table: Any, warmup: int) -> Any:
    """Return the arm of every step; the first ``warmup`` pulls of every arm are made in turn."""
    arms, steps = table.shape
    choose, update = make(arms, steps)
    pulls, chosen = [0] * arms, []
    for t in range(steps):
        arm = t % arms if t < warmup * arms else choose()
        update(arm, float(table[arm, pulls[arm]]))
        pulls[arm] += 1
        chosen.append(arm)
    return np.array(chosen)
