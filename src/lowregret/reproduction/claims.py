"""The claims of the EUCBV paper about its experiments, as data.

Statements that no simulation could refute ("performs superbly", "extremely stable") and statements about
testbeds of other papers are omitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["lower", "most", "similar", "eliminates", "variance"]

GAUSSIAN_NAMES = {"TS": "TS-G", "BU": "BU-G", "KLUCB+": "KLUCB-G+"}
"""The paper's names of the Gaussian versions, which replace a policy where rewards are Gaussian."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    The kind is ``lower``: each of ``better`` has a lower regret at the horizon than each of ``worse``;
    ``most``: than most of them; ``similar``: the regrets are similar; ``eliminates``: the policy eliminates
    more than half of the suboptimal arms; ``variance``: it pulls a suboptimal arm of high variance more often
    than one of low variance.
    """

    place: str  # the section it is in
    quote: str
    experiments: tuple[int, ...]
    better: tuple[str, ...] = ("EUCBV",)  # policies, under their names in the paper
    worse: tuple[str, ...] = ()
    kind: Kind = "lower"


_ALL, _SHOWN = (1, 2, 3, 4), (1, 2, 3)
_FIRST, _SECOND, _THIRD, _FOURTH = (f"Experiment {number}" for number in _ALL)
_ABSTRACT = "Abstract, Contributions"
_BAYESIAN = "significantly outperforms [...] Thompson sampling and Bayes-UCB algorithms"
_FIGURE_3 = ("TS-G", "BU-G", "UCB-V", "MOSS", "OCUCB")
_OMITTED = ("KLUCB-G+", "DMED", "UCB1", "UCB-Improved", "Median Elimination")
_RIVALS = ("MOSS", "OCUCB", "UCB-V", "TS", "BU", "KLUCB+", *_OMITTED[1:])


def _over(rival: str, experiments: tuple[int, ...]) -> Claim:
    quote = f"performs significantly better than [...] {rival.removesuffix('+')}"
    return Claim("Contributions", quote, experiments, worse=(rival,))


CLAIMS = (
    Claim(
        _ABSTRACT,
        "significantly outperforms the popular UCB variants (like MOSS, OCUCB, etc.)",
        _ALL,
        worse=("MOSS",),
    ),
    Claim("Related work", "outperforms OCUCB in all the environments considered", _ALL, worse=("OCUCB",)),
    Claim(_ABSTRACT, _BAYESIAN, _ALL, worse=("TS",)),
    Claim(_ABSTRACT, _BAYESIAN, _ALL, worse=("BU",)),
    Claim(_THIRD, "outperforms UCBV in all the experiments", _ALL, worse=("UCB-V",)),
    _over("UCB1", _SHOWN),
    _over("UCB-Improved", _SHOWN),
    _over("DMED", _SHOWN),
    _over("KLUCB+", _SHOWN),
    _over("Median Elimination", (2, 3)),
    Claim(
        _FIRST,
        "better than all the non-variance based algorithms such as MOSS, OCUCB, UCB-Improved and UCB1",
        (1,),
        worse=("MOSS", "OCUCB", "UCB-Improved", "UCB1"),
    ),
    Claim(_FIRST, "it also outperforms UCBV", (1,), worse=("UCB-V",)),
    Claim("Experiments", "KLUCB+ empirically outperforms KLUCB", (1,), ("KLUCB+",), ("KLUCB",)),
    Claim(
        _SECOND,
        "all the non-variance based algorithms MOSS, OCUCB, UCB1, UCB-Improved and Median-Elimination",
        (2,),
        worse=("MOSS", "OCUCB", "UCB1", "UCB-Improved", "Median Elimination"),
    ),
    Claim(
        _SECOND,
        "Median-Elimination is extremely weak in comparison with the other algorithms",
        (2,),
        ("EUCBV", *_FIGURE_3, "KLUCB-G+", "DMED", "UCB1", "UCB-Improved"),
        ("Median Elimination",),
    ),
    Claim(
        _SECOND,
        "Both KLUCB-G+ and UCBV [...] perform much worse than TS-G and EUCBV",
        (2,),
        ("TS-G", "EUCBV"),
        ("KLUCB-G+", "UCB-V"),
    ),
    Claim(_SECOND, "DMED is similar to KLUCB-G+", (2,), ("DMED",), ("KLUCB-G+",), "similar"),
    Claim(
        _THIRD,
        "the Bayesian algorithms (like TS) do not perform well but EUCBV performs exceptionally well",
        (3,),
        worse=("TS-G", "BU-G"),
    ),
    Claim(
        _THIRD,
        "outperforms its closest competitors TS-G, BU-G, UCBV, MOSS and OCUCB",
        (3,),
        worse=_FIGURE_3,
    ),
    Claim(
        _THIRD,
        "KLUCB-G+, DMED, UCB1, UCB-Improved and Median Elimination [...] extremely weak in comparison",
        (3,),
        ("EUCBV", *_FIGURE_3),
        _OMITTED,
    ),
    Claim(
        _FOURTH,
        "the growth of regret for EUCBV is much lower than that of TS-G, MOSS, BU-G, OCUCB and UCBV",
        (4,),
        worse=_FIGURE_3,
    ),
    Claim(
        _FOURTH,
        "in all the experiments with Gaussian distributions EUCBV significantly outperforms all the Bayesian",
        (2, 3, 4),
        worse=("TS-G", "BU-G"),
    ),
    Claim("Conclusion", "outperforms most of the bandit algorithms", _ALL, worse=_RIVALS, kind="most"),
    Claim("Section 2.2", "aggressive elimination of sub-optimal arms", _ALL, kind="eliminates"),
    Claim(
        f"{_SECOND}, 3", "allocates pulls proportional to the variances of the arms", (2, 3), kind="variance"
    ),
)
"""The claims; those about several experiments come first."""
