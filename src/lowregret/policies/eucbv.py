"""EUCBV, Efficient-UCB-Variance: the algorithm this package is built around."""

from __future__ import annotations

from functools import cache
from math import ceil, e, floor, log, log2, sqrt
from typing import Annotated, ClassVar, Literal, NamedTuple

from lowregret._common.text import Rule, warn_user
from lowregret.policies.annotations import Positive
from lowregret.policies.base import Policy
from lowregret.policies.views import NEVER, Arm, Arms, Clock


class Round(NamedTuple):
    """One round m of EUCBV: from the end of the round before until time N_m."""

    number: int  # m
    until: int  # N_m
    epsilon: float  # eps_m
    width: float  # the logarithm in the confidence width
    scale: float  # what multiplies eps_m inside that logarithm
    reach: float  # psi T, which multiplies eps_m^2 inside the logarithm of n_m
    last: int  # M


@cache
def warn_no_guarantee(horizon: int, arms: int) -> None:
    """Warn, once for each problem, that the guarantee does not cover it."""
    shortest = f"K^2.4 ({ceil(arms**2.4)} for {arms} arms)"
    warn_user(f"EUCBV: the paper's guarantee needs a horizon of at least {shortest}, got {horizon}")


class EUCBV(Policy):
    r"""Drop arms for good, round by round, by bounds that use variances; where arms must leave early.

    $m + \sqrt{\rho (v + 2) \log(\psi T \epsilon_k) / (4 n)}$ over the active arms; rounds halve
    $\epsilon_k$.

    Algorithm 1 of Mukherjee, Naveen, Sudarsanam and Ravindran, "Efficient-UCBV: An Almost Optimal
    Algorithm using Variance Estimates", AAAI 2018. After every pull an arm is eliminated if its index is
    below the largest $m - \sqrt{\cdot}$ of the active arms. Round $k$ ends at the first $t \ge N_k$, as
    long as $k \le \lfloor \log_2(T / e) / 2 \rfloor$; then $\epsilon_k$ halves and $N_k = t + B_k n_k$,
    for $B_k$ active arms and $n_k = \lceil \log(\psi T \epsilon_k^2) / (2 \epsilon_k) \rceil$.

    The paper states a guarantee for rewards in [0, 1], $T \ge K^{2.4}$, $\rho = 1/2$ and
    $\psi = T / K^2$, which does not hold as printed (docs/explanation/theory.md). For a shorter horizon
    the policy runs and warns.

    Parameters
    ----------
    rho : float, default 0.5
        Arm elimination parameter, positive.
    psi : float, optional
        Exploration regulatory factor, positive; $T / K^2$ when not given.
    width : {"paper", "released"}, default "paper"
        ``"paper"`` is the printed width. ``"released"`` is what the authors' published code computes:
        $\log(\psi M \epsilon_k)$ in the width, ``T // K**2`` for $\psi$, and $K + K n_0$ as first
        deadline.

    Notes
    -----
    Cases the paper leaves open: a logarithm of less than 1 counts as that of 1, so the width is 0 there; n_m
    is at least 1; with T < K the first T arms are pulled; with one arm there are no rounds.

    See Also
    --------
    MOSSV : Optimism that uses variances and a known horizon.
    UCBImproved : Drop arms round by round, with a known horizon.

    Examples
    --------
    >>> bandit = lr.bernoulli([0.2, 0.8])
    >>> result = lr.simulate(lr.EUCBV(), bandit, horizon=1_000, runs=20, seed=1)
    >>> bool(result.regret("EUCBV").mean() < 60)
    True
    """

    rho: Positive = 0.5
    psi: Annotated[float, Rule("between 0 and 1e250", lambda value: 0 < value <= 1e250)] | None = None
    width: Literal["paper", "released"] = "paper"

    index_trend = "constant"
    needs = ("horizon", "bounded rewards")
    source: ClassVar[str] = "Mukherjee et al., AAAI 2018, Algorithm 1"

    def validate_problem(self, clock: Clock) -> None:
        """Warn of a horizon that the guarantee does not cover."""
        if clock.horizon < clock.arms**2.4:
            warn_no_guarantee(clock.horizon, clock.arms)

    def first_round(self, clock: Clock) -> Round:
        """Open round 0: psi, M, and the first deadline N_0."""
        horizon, arms = clock.horizon, clock.arms
        released = self.width == "released"
        psi = self.psi
        if psi is None:
            psi = horizon // arms**2 if released else horizon / arms**2
        last = floor(log2(horizon / e) / 2)
        scale = psi * (last if released else horizon)
        before = Round(-1, 0, 2.0, 0.0, float(scale), float(psi * horizon), last)
        return self.after(before, arms if released else 0, arms)

    def score(self, arm: Arm, clock: Clock, round: Round) -> float:
        return arm.mean + self.radius(arm, round)

    def lower_bound(self, arm: Arm, clock: Clock, round: Round) -> float:
        return arm.mean - self.radius(arm, round)

    def next_round(self, arms: Arms, clock: Clock, round: Round) -> Round:
        """Halve eps_m and set the next deadline."""
        return self.after(round, clock.t, arms.count_active())

    def radius(self, arm: Arm, round: Round) -> float:
        return sqrt(self.rho * round.width / (4.0 * arm.pulls) * (arm.variance + 2.0))

    def after(self, round: Round, now: int, active: int) -> Round:
        """Open the round after ``round`` at time ``now`` with ``active`` arms."""
        number, epsilon = round.number + 1, round.epsilon / 2.0
        width = log(max(round.scale * epsilon, 1.0))
        pulls = max(ceil(log(max(round.reach * epsilon * epsilon, 1.0)) / (2.0 * epsilon)), 1)
        until = now + active * pulls if number <= round.last else NEVER
        return Round(number, until, epsilon, width, round.scale, round.reach, round.last)
