"""The four testbeds of the EUCBV paper (Mukherjee, Naveen, Sudarsanam, Ravindran; AAAI 2018)."""

import random
from numbers import Integral

from lowregret._common.validation import short_repr
from lowregret.environments.bandit import Bandit
from lowregret.environments.constructors import bernoulli, gaussian
from lowregret.errors import InputError

# The paper says only that some variances are uniform random. They are drawn once, with the generator of
# the standard library, whose sequence for a seed is the same in every Python version.
_SEED = 2018
_HORIZONS = {1: 60_000, 2: 300_000, 3: 400_000, 4: 400_000}


def paper(number: int) -> Bandit:
    """Return one testbed of the EUCBV paper, with the paper's horizon.

    Arms are in the paper's order, so the best arm is the last one.

    1. 20 Bernoulli arms: 19 of mean 0.07, one of 0.1; 60,000 steps.
    2. 100 Gaussian arms: 66 of mean 0.07 and variance 0.01, 33 of 0.01 and 0.25, one of 0.09 and
       0.25; 300,000 steps.
    3. 100 Gaussian arms: 10 of mean 0.045 and variance 0.01, 89 of 0.04 and a variance in
       [0.2, 0.24], one of 0.05 and 0.25; 400,000 steps.
    4. 100 Gaussian arms: 49 of mean 0.09 and a variance in [0, 0.05], 50 of 0.09 and a variance in
       [0.19, 0.24], one of 0.1 and 0.25; 400,000 steps.

    Parameters
    ----------
    number : int
        The experiment, 1 to 4.

    Returns
    -------
    Bandit
        The testbed; its ``horizon`` is that of the paper.

    Notes
    -----
    The paper draws the variances given as intervals uniformly but does not print them. Here they
    are drawn once with a fixed seed, so each call gives the same testbed.

    Examples
    --------
    >>> from lowregret.environments import paper
    >>> paper(1)
    Bandit('paper-1', arms=20, best mean 0.1)
    >>> paper(2).horizon
    300000
    """
    if isinstance(number, bool) or not isinstance(number, Integral) or number not in _HORIZONS:
        raise InputError(f"paper: number must be 1, 2, 3 or 4, got {short_repr(number)}")
    return Bandit(_testbed(int(number)).arms, f"paper-{number}", _HORIZONS[number])


def _testbed(number: int) -> Bandit:
    draw = random.Random(_SEED + number).uniform
    if number == 1:
        return bernoulli([0.07] * 19 + [0.1])
    if number == 2:
        return gaussian([0.07] * 66 + [0.01] * 33 + [0.09], [0.01] * 66 + [0.25] * 34)
    if number == 3:
        variances = [0.01] * 10 + [draw(0.2, 0.24) for _ in range(89)] + [0.25]
        return gaussian([0.045] * 10 + [0.04] * 89 + [0.05], variances)
    low_variances = [draw(0.0, 0.05) for _ in range(49)]
    high_variances = [draw(0.19, 0.24) for _ in range(50)]
    return gaussian([0.09] * 99 + [0.1], [*low_variances, *high_variances, 0.25])
