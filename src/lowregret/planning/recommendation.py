"""Which policy to use, why, and the line to start with."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

from lowregret.analysis.summary import tail_mean
from lowregret.engine.state import Floats
from lowregret.planning.assumptions import Assumptions
from lowregret.planning.fixed_split import FixedSplit
from lowregret.policies import Policy

CLEAR = 2.0
"""A difference of more standard errors than this is taken to be real."""
WORTH = 0.01
"""A policy that saves less than this share of the loss of a fixed split is not worth it."""
KNOWN = "known variance"
"""What a policy should not need if another one is as good without."""


class Recommendation(NamedTuple):
    """The policy, the reason and the line to start with."""

    policy: str
    reason: str
    code: str


def recommend(
    given: Assumptions,
    split: FixedSplit,
    policies: Mapping[str, Policy],
    losses: Mapping[str, Floats],
    name: str,
) -> Recommendation:
    """Return the policy of the smallest expected loss; among those that are as good, that of the best tail.

    One that must be given the variance of the rewards comes after those that need not. Where no policy is
    clearly better than the fixed split, by 1% at least, that is recommended, whose estimates are unbiased.
    """
    if given.delay_days >= given.days:
        return Recommendation(
            name, "no reward is known before the last day, so no policy can learn.", code(given)
        )
    order = sorted(policies, key=lambda each: losses[each].mean())
    first = order[0]
    close = [each for each in order if not _is_clear(losses[each] - losses[first])]
    easy = [each for each in close if KNOWN not in policies[each].needs]
    chosen = min(easy or close, key=lambda each: tail_mean(losses[each]))
    fixed = losses[name]
    saved = 1.0 - losses[chosen].mean() / fixed.mean() if fixed.any() else 0.0
    if saved < WORTH or not _is_clear(fixed - losses[chosen]):
        reason = (
            f"no policy loses clearly less (the best {_size(losses[chosen])}, a fixed split {_size(fixed)}), "
            "and the means of a fixed split are unbiased."
        )
        return Recommendation(name, reason, code(given))
    reason = (
        f"it loses {_size(losses[chosen])} {given.unit}, {saved:.0%} less than a fixed split ({_size(fixed)})"
    )
    others = [each for each in close if each != chosen]
    if chosen != first and first not in easy:
        reason += f"; {first} is as good, but must be given the variance of the rewards"
    elif chosen != first:
        reason += f"; {first} is as good on average, but its worst 5% of the runs are worse"
    elif others:
        reason += f"; {' and '.join(others)} {'is' if len(others) == 1 else 'are'} as good within the error"
    reason += (
        "." if split.power >= 0.8 else f". The fixed split would have a power of {split.power:.0%} only."
    )
    return Recommendation(chosen, reason, code(given, policies[chosen]))


def _is_clear(differences: Floats) -> bool:
    """Return whether paired differences are above 0 by more than chance."""
    error = differences.std(ddof=1) / sqrt(len(differences))
    return bool(differences.mean() > CLEAR * error)


def _size(loss: Floats) -> str:
    mean = loss.mean()
    return f"{mean:,.0f}" if mean >= 10 else f"{mean:.2g}"


def _written(policy: Policy | None) -> str:
    name = "RoundRobin" if policy is None else str(policy)
    return f"lr.{name}" if name.endswith(")") else f"lr.{name}()"


def code(given: Assumptions, policy: Policy | None = None) -> str:
    """Return the lines that open the agent; a fixed split is the policy RoundRobin."""
    names = (
        ", ".join(f'"{chr(65 + number)}"' for number in range(given.options))
        if given.options <= 10
        else f"str(number) for number in range(1, {given.options + 1})"
    )
    imports = ["import lowregret as lr"]
    parts = ['"experiment.db"', _written(policy), f"[{names}]"]
    if policy and "horizon" in policy.needs:
        parts.append(f"horizon={given.total}")
    if given.rate is None:
        parts.append("reward_range=None")
    if given.delay_days:
        imports.insert(0, "from datetime import timedelta")
        parts.append(f"matures_after=timedelta(days={given.delay_days:g})")
        parts.append("default_reward=0")
    return "\n".join([*imports, f"agent = lr.open_agent({', '.join(parts)})"])
