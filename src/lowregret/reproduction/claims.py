"""The claims of the EUCBV paper about its experiments, as data.

Statements that no simulation could refute ("performs superbly", "extremely stable") and statements about
testbeds of other papers are omitted. Claims overlap: most are about the same few comparisons. So each belongs
to a group, in which every comparison counts once. The paper states no criteria; `Claim.criterion` is ours.
"""

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
    more than half of the suboptimal arms; ``variance``: of the suboptimal arms with equal gaps it pulls those
    of higher variance more often.
    """

    group: str  # what it is about

    place: str  # the section it is in
    quote: str
    experiments: tuple[int, ...]
    better: tuple[str, ...] = ("EUCBV",)  # policies, under their names in the paper
    worse: tuple[str, ...] = ()
    kind: Kind = "lower"
    criterion: str = "lower regret"  # ours; the paper states none


UCB = "EUCBV and UCB policies without variances"
UCBV = "EUCBV and UCB-V"
BAYESIAN = "EUCBV and Bayesian policies"
DIVERGENCE = "EUCBV, KL-UCB and DMED"
SEVERAL = "EUCBV and several kinds of policies"
OTHERS = "Weak policies, and policies other than EUCBV"
MECHANISM = "How EUCBV works"

_WEAKER = "lower regret, which is less than the words say"
_ALL, _SHOWN = (1, 2, 3, 4), (1, 2, 3)
_FIRST, _SECOND, _THIRD, _FOURTH = (f"Experiment {number}" for number in _ALL)
_ABSTRACT = "Abstract, Contributions"
_BAYESIAN = "significantly outperforms [...] Thompson sampling and Bayes-UCB algorithms"
_FIGURE_3 = ("TS-G", "BU-G", "UCB-V", "MOSS", "OCUCB")
_OMITTED = ("KLUCB-G+", "DMED", "UCB1", "UCB-Improved", "Median Elimination")
_RIVALS = ("MOSS", "OCUCB", "UCB-V", "TS", "BU", "KLUCB+", *_OMITTED[1:])


def _over(group: str, rival: str, experiments: tuple[int, ...]) -> Claim:
    quote = f"performs significantly better than [...] {rival.removesuffix('+')}"
    return Claim(group, "Contributions", quote, experiments, worse=(rival,))


CLAIMS = (
    Claim(
        UCB,
        _ABSTRACT,
        "significantly outperforms the popular UCB variants (like MOSS, OCUCB, etc.)",
        _ALL,
        worse=("MOSS",),
    ),
    Claim(
        UCB, "Related work", "outperforms OCUCB in all the environments considered", _ALL, worse=("OCUCB",)
    ),
    _over(UCB, "UCB1", _SHOWN),
    _over(UCB, "UCB-Improved", _SHOWN),
    _over(UCB, "Median Elimination", (2, 3)),
    Claim(
        UCB,
        _FIRST,
        "better than all the non-variance based algorithms such as MOSS, OCUCB, UCB-Improved and UCB1",
        (1,),
        worse=("MOSS", "OCUCB", "UCB-Improved", "UCB1"),
    ),
    Claim(
        UCB,
        _SECOND,
        "all the non-variance based algorithms MOSS, OCUCB, UCB1, UCB-Improved and Median-Elimination",
        (2,),
        worse=("MOSS", "OCUCB", "UCB1", "UCB-Improved", "Median Elimination"),
    ),
    Claim(UCBV, _THIRD, "outperforms UCBV in all the experiments", _ALL, worse=("UCB-V",)),
    Claim(UCBV, _FIRST, "it also outperforms UCBV", (1,), worse=("UCB-V",)),
    Claim(BAYESIAN, _ABSTRACT, _BAYESIAN, _ALL, worse=("TS",)),
    Claim(BAYESIAN, _ABSTRACT, _BAYESIAN, _ALL, worse=("BU",)),
    Claim(
        BAYESIAN,
        _THIRD,
        "the Bayesian algorithms (like TS) do not perform well but EUCBV performs exceptionally well",
        (3,),
        worse=("TS-G", "BU-G"),
        criterion=_WEAKER,
    ),
    Claim(
        BAYESIAN,
        _FOURTH,
        "in all the experiments with Gaussian distributions EUCBV significantly outperforms all the Bayesian",
        (2, 3, 4),
        worse=("TS-G", "BU-G"),
    ),
    _over(DIVERGENCE, "DMED", _SHOWN),
    _over(DIVERGENCE, "KLUCB+", _SHOWN),
    Claim(
        SEVERAL,
        _SECOND,
        "Both KLUCB-G+ and UCBV [...] perform much worse than TS-G and EUCBV",
        (2,),
        ("TS-G", "EUCBV"),
        ("KLUCB-G+", "UCB-V"),
        criterion=_WEAKER,
    ),
    Claim(
        SEVERAL,
        _THIRD,
        "outperforms its closest competitors TS-G, BU-G, UCBV, MOSS and OCUCB",
        (3,),
        worse=_FIGURE_3,
    ),
    Claim(
        SEVERAL,
        _FOURTH,
        "the growth of regret for EUCBV is much lower than that of TS-G, MOSS, BU-G, OCUCB and UCBV",
        (4,),
        worse=_FIGURE_3,
        criterion=_WEAKER,
    ),
    Claim(
        SEVERAL,
        "Conclusion",
        "outperforms most of the bandit algorithms",
        _ALL,
        worse=_RIVALS,
        kind="most",
        criterion="lower regret in more than half of the comparisons",
    ),
    Claim(
        OTHERS,
        _SECOND,
        "Median-Elimination is extremely weak in comparison with the other algorithms",
        (2,),
        ("EUCBV", *_FIGURE_3, "KLUCB-G+", "DMED", "UCB1", "UCB-Improved"),
        ("Median Elimination",),
        criterion=_WEAKER,
    ),
    Claim(
        OTHERS,
        _THIRD,
        "KLUCB-G+, DMED, UCB1, UCB-Improved and Median Elimination [...] extremely weak in comparison",
        (3,),
        ("EUCBV", *_FIGURE_3),
        _OMITTED,
        criterion=_WEAKER,
    ),
    Claim(
        OTHERS,
        _SECOND,
        "DMED is similar to KLUCB-G+",
        (2,),
        ("DMED",),
        ("KLUCB-G+",),
        "similar",
        "regrets within 10%",
    ),
    Claim(OTHERS, "Experiments", "KLUCB+ empirically outperforms KLUCB", (1,), ("KLUCB+",), ("KLUCB",)),
    Claim(
        MECHANISM,
        "Section 2.2",
        "aggressive elimination of sub-optimal arms",
        _ALL,
        kind="eliminates",
        criterion="more than half of the suboptimal arms",
    ),
    Claim(
        MECHANISM,
        f"{_SECOND}, 3",
        "allocates pulls proportional to the variances of the arms",
        (3, 4),  # in experiment 2 arms with equal gaps have equal variances
        kind="variance",
        criterion="more pulls of arms of higher variance at equal gaps, which is less than the words say",
    ),
)
