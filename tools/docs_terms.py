"""The terms that docs/reference/concepts.md explains, linked to it from every other page."""

from __future__ import annotations

import re

TERMS = {
    "bandit": "bandit-arm-policy",
    "testbed": "environment-testbed",
    "horizon": "run-horizon-seed",
    "seed": "run-horizon-seed",
    "regret": "regret",
    "gap": "regret",
    "index policy": "index-policies-sampling-policies",
    "index policies": "index-policies-sampling-policies",
    "sampling policy": "index-policies-sampling-policies",
    "warm-up": "warm-up",
    "round": "rounds-elimination",
    "eliminated": "rounds-elimination",
    "eliminates": "rounds-elimination",
    "elimination": "rounds-elimination",
    "standard error": "standard-error-interval-verdict",
    "verdict": "standard-error-interval-verdict",
    "inconclusive": "standard-error-interval-verdict",
    "worst 5%": "tail",
    "tail": "tail",
    "paired": "pairing",
    "exact": "exactness",
    "shard": "shard",
    "drift": "drift",
    "delay": "delay-batch",
    "batch": "delay-batch",
    "agent": "agent-decision-pending",
    "pending": "agent-decision-pending",
    "maturity window": "maturity-window",
    "idempotent": "idempotent",
    "propensity": "propensity",
    "minimum share": "propensity",
    "replay": "replay",
}
"""Each term with the anchor of the section that explains it."""

OTHER_SENSE = {
    "how-to/analysis.md": ("delay-batch",),
    "explanation/architecture.md": ("tail",),
    "how-to/environments.md": ("exactness",),
    "live/operations.md": ("replay",),
    "explanation/simulator.md": ("tail",),
    "explanation/theory.md": ("exactness", "tail"),
}
"""Anchors that a page does not link to, since it uses their terms in another sense."""

_CODE = r"```.*?^```|``.*?``|`[^`\n]*`"
_NOT_PROSE = rf"(?:{_CODE}|<!--.*?-->|!?\[[^\]]*\]\([^)]*\)|^#.*?$|^\*\*.*?\*\*|<[^>\n]+>|^:::.*?$)"
_WORD = "|".join(sorted(map(re.escape, TERMS), key=len, reverse=True))
_TOKEN = re.compile(
    rf"{_NOT_PROSE}|(?<![\w.-])({_WORD})((?<!delay)(?:es|s))?(?![\w-]|\.\w)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)


def linked(markdown: str, concepts: str, page: str = "") -> str:
    """Link the first use of each term in the prose of a page; ``concepts`` is the way to concepts.md."""
    known = {*re.findall(r"concepts\.md#([\w-]+)", markdown), *OTHER_SENSE.get(page, ())}

    def link(found: re.Match[str]) -> str:
        anchor = TERMS.get((found[1] or "").lower())
        if anchor is None or anchor in known:
            return found[0]
        known.add(anchor)
        return f"[{found[0]}]({concepts}#{anchor})"

    return _TOKEN.sub(link, markdown)
