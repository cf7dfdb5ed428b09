"""Which policy to begin with, in one place.

``lowregret policies``, README.md and ``docs/reference/which-policy.md`` repeat this table; a test compares
them.
"""

from __future__ import annotations

RECOMMENDED = {
    "MOSSV": "most problems: rewards of 0 and 1, or in a known range (cap a sale to have one)",
    "MOSSVAnytime": "the same, if nobody knows how many pulls there will be",
    "MOSS": "a lost run is a disaster: it hardly ever fails, and has more regret on average",
    "ThompsonBeta": "decisions that must be random; KLMS if their probabilities must be exact",
    "ThompsonGauss": "measurements without a range, given their variance; ThompsonNormal if it is unknown",
    "GLRKLUCB": "means that change abruptly; DiscountedThompson if slowly",
    "TopTwoThompson": "a proof that an arm is the best; RoundRobin for an equal split",
    "KLUCB": "very long horizons and rewards of 0 and 1",
    "EUCBV": "arms that must be dropped for good, in rounds",
}
"""Each policy with the problems for which it is the first to try, the most frequent problems first."""
