"""Which policy to use, why, and how to start its agent."""

from collections.abc import Mapping
from math import sqrt
from typing import Any, NamedTuple

from lowregret._common.arrays import Floats, Integers
from lowregret.analysis.summary import tail_mean
from lowregret.planning.fixed_split import FixedSplit
from lowregret.planning.policy_runs import FIXED_SPLIT, PRESENT_OPTION, PolicyRuns
from lowregret.planning.scenario import Scenario, takes_variance
from lowregret.planning.visitor_rewards import Conversions, NormalRewards
from lowregret.policies import POLICIES, Policy, RoundRobin
from lowregret.policies.loading import module_of

CLEAR_ERRORS = 2.0
"""A difference of more standard errors than this is taken to be real."""
MIN_SAVING = 0.01
"""A policy that saves less than this share of the loss of a fixed split is not worth it."""
MIN_POWER = 0.2
"""Below this power of the fixed split the visitors may be too few to learn anything."""
DATABASE = "experiment.db"
"""The store of the recommended agent."""


class Recommendation(NamedTuple):
    """The policy, the reason, the code to start with, and the JSON of ``POST /v1/agents``."""

    policy: str
    reason: str
    code: str = ""
    request: dict[str, Any] | None = None


def recommend(
    scenario: Scenario,
    split: FixedSplit,
    policies: Mapping[str, Policy],
    played: Mapping[str, PolicyRuns],
) -> Recommendation:
    """Return the policy of the smallest expected loss; among those that are as good, that of the best tail.

    For normal rewards, a policy that is given the variance, which the plan knows, goes before those that
    estimate it: a few rewards that happen to be equal make such a policy give up an option.
    The fixed split is recommended where no policy is better by 1%, the present option where nothing is
    learnt.
    """
    if scenario.delay_days >= scenario.days:
        reason = "no reward is known before the last day, so no policy can learn."
        return Recommendation(FIXED_SPLIT, reason, *snippets(scenario, RoundRobin()))
    losses = {name: runs.loss[:, -1] for name, runs in played.items()}
    order = sorted(policies, key=lambda policy: losses[policy].mean())
    first, fixed = order[0], losses[FIXED_SPLIT]
    close = [name for name in order if not _is_clear(losses[name] - losses[order[0]])]
    with_variance = [name for name in close if takes_variance(policies[name])]
    if isinstance(scenario.rewards, NormalRewards) and with_variance:
        close = with_variance
    chosen = min(close, key=lambda policy: tail_mean(losses[policy]))
    saved = fixed.mean() - losses[chosen].mean()
    is_better = saved >= MIN_SAVING * fixed.mean() and _is_clear(fixed - losses[chosen])
    leads = [
        (played[chosen].leads, played[PRESENT_OPTION].leads),
        (played[chosen].good, played[PRESENT_OPTION].good),
    ]
    is_guess = not any(_is_clear(ours - guess) for ours, guess in leads)
    if split.power < MIN_POWER and (is_guess or (isinstance(scenario.rewards, Conversions) and saved < 1.0)):
        reason = (
            f"{scenario.total:,} visitors are too few to learn anything that matters: {chosen} loses "
            f"{_size(losses[chosen])} {scenario.unit}, a fixed split {_size(fixed)}; the best option leads "
            f"in {played[chosen].leads.mean():.0%} of the runs, and a guess finds it in "
            f"{1 / scenario.options:.0%}."
        )
        return Recommendation(PRESENT_OPTION, reason)
    if not is_better:
        reason = (
            f"no policy loses clearly less (the best {_size(losses[chosen])}, a fixed split {_size(fixed)}), "
            "and the means of a fixed split are unbiased."
        )
        return Recommendation(FIXED_SPLIT, reason, *snippets(scenario, RoundRobin()))
    unit = scenario.unit if scenario.unit == "conversions" else f"in {scenario.unit}"
    reason = f"it loses {_size(losses[chosen])} {unit}, {saved / fixed.mean():.0%} less than "
    beside = f"; {first} estimates the variance, which misleads it where many rewards are equal"
    beside = beside if first not in close else _beside(chosen, first, close)
    reason += f"a fixed split ({_size(fixed)}){beside}."
    if split.power < 0.8:
        reason += f" The fixed split would have a power of only {split.power:.0%}."
    return Recommendation(chosen, reason, *snippets(scenario, policies[chosen]))


def _beside(chosen: str, first: str, close: list[str]) -> str:
    """Return what is said of the policies that are as good, or better."""
    others = [policy for policy in close if policy != chosen]
    if chosen != first:
        return f"; {first} is as good on average, but its worst 5% of the runs are worse"
    verb = "is" if len(others) == 1 else "are"
    return f"; {' and '.join(others)} {verb} as good within the error" if others else ""


def _is_clear(differences: Floats | Integers) -> bool:
    """Return whether paired differences are above 0 by more than chance."""
    error = differences.std(ddof=1) / sqrt(len(differences))
    return bool(differences.mean() > CLEAR_ERRORS * error)


def _size(loss: Floats) -> str:
    mean = loss.mean()
    return f"{mean:,.0f}" if mean >= 10 else f"{mean:.2g}"


def snippets(scenario: Scenario, policy: Policy) -> tuple[str, dict[str, Any] | None]:
    """Return the lines that open the agent, and the JSON that creates it, None for a policy of one's own."""
    few = scenario.options <= 10
    arms = [chr(65 + number) if few else str(number + 1) for number in range(scenario.options)]
    listed = ", ".join(f'"{arm}"' for arm in arms)
    names = listed if few else f"str(number) for number in range(1, {scenario.options + 1})"
    ours, written = type(policy) in POLICIES.values(), str(policy)
    call = written if written.endswith(")") else f"{written}()"
    settings: dict[str, Any] = {"horizon": scenario.total} if "horizon" in policy.needs else {}
    parts = [f"{name}={value}" for name, value in settings.items()]
    cap = scenario.cap_of(policy)
    if cap is not None:
        settings |= {"reward_range": [0, cap], "outside": "clip"}
        parts += [f"reward_range=(0, {cap:g})", 'outside="clip"']
    elif not isinstance(scenario.rewards, Conversions):
        settings["reward_range"] = None
        parts.append("reward_range=None")
    imports = ["import lowregret as lr"]
    if not ours:
        imports.append(f"from {module_of(type(policy))} import {type(policy).__name__}")
    if scenario.delay_days:
        imports.insert(0, "from datetime import timedelta")
        parts += [f"matures_after=timedelta(days={scenario.delay_days:g})", "default_reward=0"]
        settings |= {"matures_after": {"seconds": 86_400 * scenario.delay_days}, "default_reward": 0}
    parts = [f'"{DATABASE}"', f"lr.{call}" if ours else call, f"[{names}]", *parts]
    request = {"name": "default", "policy": written, "arms": arms, **settings} if ours else None
    lines = [*imports, "agent = lr.open_agent(", *(f"    {part}," for part in parts), ")"]
    return "\n".join(lines), request
