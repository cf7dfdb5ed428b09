"""Which arm is the best, how sure that is, and how long until it is known."""

from dataclasses import asdict, dataclass
from math import log
from typing import Any, Literal

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret._common.other_names import VERDICT, answers
from lowregret._common.text import count
from lowregret.analysis.confidence_sequences import Totals
from lowregret.analysis.matched_rewards import Matched, log_matched_evidence
from lowregret.analysis.mean_differences import MAX_COMPARED, log_evidence, lower_ratios, proved
from lowregret.analysis.nonnegative_means import MIN_EFFECTIVE_PAIR, effective_rewards
from lowregret.errors import InputError
from lowregret.online.agent_state import AgentState
from lowregret.online.arm_totals import ArmTotals, arm_totals
from lowregret.online.live_periods import MAX_MATCHED, LivePeriods
from lowregret.online.model import live_clock
from lowregret.policies import Arms

Claim = Literal["best", "within", "not yet", "none"]
MAX_GROWTH = 1_000.0
"""The verdict is forecast up to so many times the present number of rewards."""
UNBOUNDED_ASSUMPTION = "rewards much larger than those so far are too rare to matter"
"""What a verdict on rewards without a range assumes."""
LOSS_DRAWS = 2_000_000
"""How many draws the expected loss is computed from, of all arms together; 20,000 of each arm at most."""


@dataclass(frozen=True)
class ArmVerdict:
    """What is said of one arm beside the verdict.

    Attributes
    ----------
    arm : str
        The arm.
    probability_best : float or None
        The posterior probability that it is the best; see ``Verdict.prior``. None where the rewards of an arm
        are too few or too uneven to compare means.
    lift, lift_low, lift_high : float or None
        How much larger its mean is than the control's, as a share of the latter, with the interval.
    """

    arm: str
    probability_best: float | None
    lift: float | None
    lift_low: float | None
    lift_high: float | None


@answers("a verdict", VERDICT)
@dataclass(frozen=True, repr=False)
class Verdict:
    """The result of ``Agent.verdict``.

    Attributes
    ----------
    claim : {"best", "within", "not yet", "none"}
        Whether the leader is the best arm, or within ``within`` of it; "none" if there can be no verdict.
    sentence : str
        The same in words.
    arm : str or None
        The leader: the arm with the largest mean.
    error : float
        The probability that a claim is ever wrong is at most this, however often one looks, while the means
        and the arms stay the same.
    within : float
        The difference that does not matter.
    asymptotic : bool
        Whether the error holds for many rewards only, and if rewards much larger than those so far are too
        rare to matter, as for rewards without a range.
    more_decisions : int or None
        With "not yet", about how many more decisions are needed if means and shares stay as they are; None if
        more than 1,000 times the present number.
    expected_loss : float or None
        What a decision is expected to lose if the leader is chosen from now on, under the posterior.
    prior : str
        The prior of the posterior.
    arms : tuple of ArmVerdict
        The arms that are not retired.
    recommended : str or None
        What the policy itself recommends, if it is one of best arm identification.
    stopped : bool
        Whether that policy has stopped, so that it chooses no other arm any more.
    """

    claim: Claim
    sentence: str
    arm: str | None
    error: float
    within: float
    asymptotic: bool
    more_decisions: int | None
    expected_loss: float | None
    prior: str
    arms: tuple[ArmVerdict, ...]
    recommended: str | None = None
    stopped: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON has it.

        Returns
        -------
        dict
            The fields, the arms as dictionaries.
        """
        return asdict(self)

    def __bool__(self) -> bool:
        """Return whether something is claimed: ``if agent.verdict():`` waits for the evidence."""
        return self.claim in ("best", "within")

    def __str__(self) -> str:
        """Return the sentence, and what is known of each arm."""
        from lowregret.online.agent_text import verdict_text

        return verdict_text(self)

    def __repr__(self) -> str:
        return f"Verdict({self.sentence!r})"


def verdict_of(state: AgentState, error: float, within: float) -> Verdict:
    """Return the verdict on an agent; ``within`` is in the user's units."""
    if state.periods is not None and within > 0.0:
        raise InputError(
            "differences change from period to period: leave out within for an agent with a period"
        )
    totals = arm_totals(state)
    scale = state.settings.unscaled(1.0) - state.settings.unscaled(0.0)
    leader, reason = totals.leader, _obstacle(totals, state)
    claim: Claim = "none"
    more = None
    if leader is not None and not reason:
        by_period = state.by_period
        matched = by_period.settle(state.is_compiled) if isinstance(by_period, LivePeriods) else None
        claim, more = _claim(totals, leader, error, within / scale, matched)
    arm = None if leader is None else totals.names[leader]
    constant = state.periods is None
    probabilities, loss, prior = _posterior(totals, leader if constant else None)
    lifts = _lifts(totals, error, state) if constant else {}
    arms = tuple(
        ArmVerdict(totals.names[place], probabilities.get(place), *lifts.get(place, (None, None, None)))
        for place in np.flatnonzero(~totals.retired).tolist()
    )
    sentence = reason or _sentence(claim, arm or "", error, within, more, totals, state)
    expected_loss = None if loss is None else loss * scale
    asymptotic = not totals.bounded
    own = _recommended(state)
    return Verdict(claim, sentence, arm, error, within, asymptotic, more, expected_loss, prior, arms, *own)


def _recommended(state: AgentState) -> tuple[str | None, bool]:
    """Return the arm that a policy of best arm identification recommends, and whether it has stopped."""
    policy, rows = state.settings.policy, state.rows
    if not policy.identifies or policy.overrides("accepts") or not rows["pulls"].any():
        return None, False
    active = np.flatnonzero(rows["active"])
    if len(active) == 1 < len(rows):
        return state.names[int(active[0])], True
    clock = live_clock(policy, state.table, state.models[0], int(state.models[0]["told"]))
    return state.names[int(policy.recommend(Arms(policy, state.table), clock))], False


def _obstacle(arms: ArmTotals, state: AgentState) -> str:
    """Return why there can be no verdict, "" if there can."""
    if isinstance(state.by_period, LivePeriods) and state.by_period.matching is None:
        return f"no verdict: an agent with a period compares up to {MAX_MATCHED} arms"
    if state.settings.knows_successes_first and not (arms.bounded and state.periods is None):
        return "no verdict: failures are known later than successes; use matures_after"
    if arms.has_forgotten:
        return "no verdict: the policy has reset its statistics"
    if (~arms.retired).sum() < 2:
        return "no verdict: there is only one arm"
    missing = [arms.names[place] for place in np.flatnonzero((arms.totals.pulls == 0) & ~arms.retired)]
    if len(missing) == 1:
        return f"not yet: {missing[0]} has no reward"
    return f"not yet: {missing[0]} and {count(len(missing) - 1, 'other')} have no reward" if missing else ""


def _claim(
    arms: ArmTotals, leader: int, error: float, within: float, matched: Matched | None
) -> tuple[Claim, int | None]:
    """Return what can be said of the leader, and about how many decisions are missing.

    If an arm is not the best, the evidence that it exceeds the best one is ever K / error with probability at
    most error / K. So the probability of a false claim is at most error, K the number of arms. If several are
    the best, one more pair is needed for "best" to be false: that of two of them. Who retires arms may look
    at the data, and each arm may become the best of those left: then all K (K - 1) pairs count. Rewards
    without a range that are too few or too uneven are no evidence.
    """
    rivals = np.flatnonzero(~arms.retired & (np.arange(len(arms.names)) != leader))
    size = len(arms.names)
    limit = log((size * (size - 1) if arms.retired.any() else size) / error)

    def evidence_of(growth: float, among: Any, margin: float) -> Floats:
        if matched is not None:
            numbers = arms.rows["number"]
            return log_matched_evidence(matched, int(numbers[leader]), numbers[among], growth)
        further = [(growth - 1.0) * values for values in arms.totals]
        low, high = (Totals(*map(np.add, totals, further)) for totals in (arms.low, arms.high))
        first = low.at(np.full(len(among), leader))
        evidence = log_evidence(first, high.at(among), -margin, bounded=arms.bounded)
        effective = growth * np.minimum(arms.effective[leader], arms.effective[among])
        return np.where(effective >= MIN_EFFECTIVE_PAIR, evidence, 0.0)

    def is_proved(evidence: Floats, margin: float) -> bool:
        first = arms.low.at(np.full(len(rivals), leader))
        enough = bool(evidence.min() >= limit)
        certain = matched is not None or not arms.bounded
        return enough and (certain or proved(first, arms.high.at(rivals), -margin, limit))

    if is_proved(evidence_of(1.0, rivals, 0.0), 0.0):
        return "best", None
    if arms.bounded and within >= 1.0:
        return "within", None
    evidence = evidence_of(1.0, rivals, within)
    if within > 0.0 and is_proved(evidence, within):
        return "within", None
    weakest = rivals[np.argsort(evidence)[:10]]
    low, high = 1.0, MAX_GROWTH
    if evidence_of(high, weakest, within).min() < limit:
        return "not yet", None
    while high > 1.02 * low:
        middle = (low * high) ** 0.5
        enough = evidence_of(middle, weakest, within).min() >= limit
        low, high = (low, middle) if enough else (middle, high)
    return "not yet", int((high - 1.0) * arms.totals.pulls[~arms.retired].sum())


def _sentence(
    claim: Claim, arm: str, error: float, within: float, more: int | None, arms: ArmTotals, state: AgentState
) -> str:
    if claim == "not yet":
        forecast = "too little to say when a verdict would come"
        if more is not None:
            forecast = f"about {round(more, 1 - len(str(more))):,} more decisions at the shares so far"
        few = np.flatnonzero((arms.effective < MIN_EFFECTIVE_PAIR) & ~arms.retired)
        if not len(few):
            return f"not yet: {arm} leads, {forecast}"
        others = f" and {count(len(few) - 1, 'other')}" if len(few) > 1 else ""
        subject = f"the rewards of {arms.names[few[0]]}{others} are too few or too uneven"
        return f"not yet: {arm} leads, but {subject} to compare means; {forecast}"
    claimed = "the best" if claim == "best" else f"within {within:g} of the best"
    if arms.retired.any():
        claimed += " of the arms not retired"
    size = "at most" if arms.bounded else "about"
    assumed = "" if arms.bounded else f"; assumes that {UNBOUNDED_ASSUMPTION}"
    incomplete = state.settings.window is not None and state.settings.default_reward is None
    condition = ", if rewards were missing at random" if incomplete and state.models[0]["discarded"] else ""
    return f"{arm} is {claimed} (error {size} {100 * error:g}%, whenever you look{assumed}){condition}"


def _posterior(arms: ArmTotals, leader: int | None) -> tuple[dict[int, float], float | None, str]:
    """Return the probability of each arm to be the best, the expected loss of the leader, and the prior.

    The probabilities are computed by quadrature; the loss from draws, with a seed of its own. There are none
    where the rewards of an arm are too few or too uneven: the sample may lack the rare rewards that make the
    mean, and the posterior of mean and variance would be certain of an arm that is not the best.
    """
    from lowregret.special.argmax_probabilities import beta_argmax, student_argmax

    totals = arms.totals
    binary = arms.bounded and bool(totals.binary.all())
    words = "Beta(1, 1) for each rate" if binary else "uniform in each mean and variance"
    places = np.flatnonzero(~arms.retired)
    own = totals.at(places)
    few = (own.pulls < (1 if binary else 5)).any()  # else the prior alone speaks for an arm, as for a new one
    if leader is None or few or (not binary and _is_uneven(arms, places)):
        return {}, None, words
    random = np.random.default_rng(0)
    shape = max(1_000, min(20_000, LOSS_DRAWS // len(places))), len(places)
    if binary:
        a, b = 1.0 + own.total, 1.0 + own.pulls - own.total
        shares, draws = beta_argmax(a, b), random.beta(a, b, shape)
    else:
        degrees = own.pulls - 3.0
        scales = np.sqrt(own.variances / degrees)
        shares = student_argmax(own.means, scales, degrees)
        draws = own.means + scales * random.standard_t(degrees, shape)
    loss = draws.max(axis=1) - draws[:, np.searchsorted(places, leader)]
    return dict(zip(places.tolist(), shares.tolist(), strict=True)), float(loss.mean()), words


def _is_uneven(arms: ArmTotals, places: Integers) -> bool:
    """Return whether an arm has so few rewards above the lowest possible one that means are not compared."""
    effective = arms.effective[places]
    if arms.bounded:
        own = arms.totals.at(places)
        effective = np.array([*map(effective_rewards, own.total, own.squares)])
    return bool((effective < MIN_EFFECTIVE_PAIR).any())


def _lifts(arms: ArmTotals, error: float, state: AgentState) -> dict[int, tuple[float, float, float | None]]:
    """Return the lifts over the control with their intervals, by place, for rewards that begin at 0.

    As the differences in the summary, those of all pairs of arms hold simultaneously.
    """
    control, ends, size = arms.control, state.settings.reward_range, len(arms.names)
    if control is None or not ends or ends[0] != 0.0 or size > MAX_COMPARED or not arms.totals.total[control]:
        return {}
    others = np.flatnonzero(~arms.retired & (np.arange(size) != control) & (arms.totals.pulls > 0))
    share, fixed = error / (size * (size - 1)), np.full(len(others), control)
    lows = lower_ratios(arms.low.at(others), arms.high.at(fixed), share) - 1.0
    inverses = lower_ratios(arms.low.at(fixed), arms.high.at(others), share)
    lifts = arms.totals.means[others] / arms.totals.means[control] - 1.0
    return {
        place: (lift, low, 1.0 / inverse - 1.0 if inverse > 0.0 else None)
        for place, lift, low, inverse in zip(
            *(values.tolist() for values in (others, lifts, lows, inverses)), strict=True
        )
    }
