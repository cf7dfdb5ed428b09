"""The testbeds of the EUCBV paper: as its text states them, and as the released scripts set them up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lowregret.environments import Bandit, Gaussian, gaussian, paper
from lowregret.errors import InputError

STATED, NOISELESS, QUIET, MIRROR = "stated", "noiseless", "quiet", "mirror"
"""The kinds of a testbed; what the released scripts make of it are the last three."""

WORDS = {
    STATED: "as the text states it",
    NOISELESS: "with all variances 0, which the script for EUCBV sets before the first pull",
    QUIET: "with the stated variances taken for standard deviations",
    MIRROR: "with 33 arms of mean 0.07, 66 of 0.01, and the stated variances taken for standard deviations",
}
"""The kinds in words."""


def paper_testbed(number: int, kind: str = STATED) -> Bandit:
    """Give a testbed of the paper, with the paper's horizon.

    Parameters
    ----------
    number : int
        The experiment, 1 to 4.
    kind : {"stated", "noiseless", "quiet", "mirror"}, default "stated"
        The testbed as the text states it, or as scripts of the released code set it up: without noise,
        with variances taken for standard deviations, or (experiment 2 only) the latter with the sizes of
        the two groups of worse arms exchanged.

    Examples
    --------
    >>> from lowregret.reproduction.plotted_testbeds import paper_testbed
    >>> paper_testbed(2).name, paper_testbed(2, "quiet").name
    ('paper-2', 'paper-2-quiet')
    >>> float(paper_testbed(2, "quiet").variances[-1]), float(paper_testbed(2, "noiseless").variances[-1])
    (0.0625, 0.0)
    >>> int((paper_testbed(2, "mirror").means == 0.07).sum())
    33
    """
    stated = paper(number)
    if kind == STATED:
        return stated
    makers: dict[str, Callable[[Bandit], Bandit]] = {NOISELESS: _noiseless, QUIET: _quiet}
    if number == 2:
        makers[MIRROR] = _mirror
    if number == 1 or kind not in makers:
        raise InputError(f"testbed: experiment {number} has no testbed {kind!r}")
    return replace(makers[kind](stated), name=f"{stated.name}-{kind}", horizon=stated.horizon)


def _noiseless(bandit: Bandit) -> Bandit:
    return gaussian(bandit.means, 0.0)


def _quiet(bandit: Bandit) -> Bandit:
    return gaussian(bandit.means, bandit.variances**2)


def _mirror(bandit: Bandit) -> Bandit:
    """Exchange the sizes of the two groups of worse arms; each keeps its mean and its variance."""
    near, far, best = bandit.arms[0], bandit.arms[-2], bandit.arms[-1]
    count = sum(arm == near for arm in bandit.arms)
    others = len(bandit) - 1 - count
    assert isinstance(near, Gaussian)
    return _quiet(Bandit((near,) * others + (far,) * count + (best,), bandit.name))
