"""The policies, each a class: ``dir(lr.policies)`` lists them, ``help(lr.policies.UCB1)`` is about one.

``POLICIES`` maps the name of each to its class. `Policy` is the base of your own, whose methods see an `Arm`,
the `Clock` and for draws a `Random`. ``lowregret policies`` prints which to use when.

Examples
--------
>>> len(dir(lr.policies)) > 50, "UCB1" in dir(lr.policies)
(True, True)
"""

from __future__ import annotations

from lowregret._common.other_names import missing_from_module
from lowregret.policies.adaucb import AdaUCB as AdaUCB
from lowregret.policies.base import Policy as Policy
from lowregret.policies.baselines import EpsilonGreedy as EpsilonGreedy
from lowregret.policies.baselines import FixedArm as FixedArm
from lowregret.policies.baselines import RoundRobin as RoundRobin
from lowregret.policies.bayesucb import BayesUCBBeta as BayesUCBBeta
from lowregret.policies.bayesucb import BayesUCBBetaHorizon as BayesUCBBetaHorizon
from lowregret.policies.bayesucb import BayesUCBGauss as BayesUCBGauss
from lowregret.policies.bayesucb import BayesUCBStudent as BayesUCBStudent
from lowregret.policies.change_detection import GLRKLUCB as GLRKLUCB
from lowregret.policies.discounted import DiscountedThompson as DiscountedThompson
from lowregret.policies.discounted import DiscountedUCB as DiscountedUCB
from lowregret.policies.divergence import DMED as DMED
from lowregret.policies.divergence import IMED as IMED
from lowregret.policies.empirical import EmpiricalIMED as EmpiricalIMED
from lowregret.policies.empirical import EmpiricalKLUCB as EmpiricalKLUCB
from lowregret.policies.eucbv import EUCBV as EUCBV
from lowregret.policies.expts import ExpTSPlus as ExpTSPlus
from lowregret.policies.fixed_budget import UCBE as UCBE
from lowregret.policies.fixed_budget import SequentialHalving as SequentialHalving
from lowregret.policies.fixed_budget import SuccessiveRejects as SuccessiveRejects
from lowregret.policies.fixed_confidence import EBTC as EBTC
from lowregret.policies.fixed_confidence import KLLUCB as KLLUCB
from lowregret.policies.fixed_confidence import LUCB as LUCB
from lowregret.policies.fixed_confidence import TopTwoStopping as TopTwoStopping
from lowregret.policies.fixed_confidence import TrackAndStop as TrackAndStop
from lowregret.policies.klucb import KLMOSS as KLMOSS
from lowregret.policies.klucb import KLUCB as KLUCB
from lowregret.policies.klucb import KLUCBGauss as KLUCBGauss
from lowregret.policies.klucb import KLUCBPlus as KLUCBPlus
from lowregret.policies.klucb import KLUCBPlusPlus as KLUCBPlusPlus
from lowregret.policies.klucb import KLUCBSwitch as KLUCBSwitch
from lowregret.policies.maillard import KLMS as KLMS
from lowregret.policies.maillard import MaillardSampling as MaillardSampling
from lowregret.policies.moss import MOSS as MOSS
from lowregret.policies.moss import MOSSAnytime as MOSSAnytime
from lowregret.policies.mossv import MOSSV as MOSSV
from lowregret.policies.mossv import MOSSVAnytime as MOSSVAnytime
from lowregret.policies.mots import MOTS as MOTS
from lowregret.policies.npts import NPTS as NPTS
from lowregret.policies.ocucb import OCUCB as OCUCB
from lowregret.policies.perturbed_history import PHE as PHE
from lowregret.policies.rounds import CCB as CCB
from lowregret.policies.rounds import MedianElimination as MedianElimination
from lowregret.policies.rounds import UCBImproved as UCBImproved
from lowregret.policies.sliding_window import SlidingWindowUCB as SlidingWindowUCB
from lowregret.policies.subsampling import BESA as BESA
from lowregret.policies.subsampling import LBSDA as LBSDA
from lowregret.policies.subsampling import LDSSDA as LDSSDA
from lowregret.policies.thompson import ThompsonBeta as ThompsonBeta
from lowregret.policies.thompson import ThompsonGauss as ThompsonGauss
from lowregret.policies.thompson import ThompsonNormal as ThompsonNormal
from lowregret.policies.thompson import TopTwoThompson as TopTwoThompson
from lowregret.policies.thompson import TopTwoThompsonGauss as TopTwoThompsonGauss
from lowregret.policies.thresholding import APT as APT
from lowregret.policies.thresholding import AugUCB as AugUCB
from lowregret.policies.tsallis import TsallisINF as TsallisINF
from lowregret.policies.ucb import UCB1 as UCB1
from lowregret.policies.ucb import UCBV as UCBV
from lowregret.policies.ucb import UCBNormal as UCBNormal
from lowregret.policies.ucb import UCBTuned as UCBTuned
from lowregret.policies.views import NEVER as NEVER
from lowregret.policies.views import Arm as Arm
from lowregret.policies.views import Arms as Arms
from lowregret.policies.views import Clock as Clock
from lowregret.policies.views import Random as Random
from lowregret.policies.views import clock_at as clock_at

POLICIES: dict[str, type[Policy]] = {
    name: value
    for name, value in sorted(globals().items())
    if isinstance(value, type) and issubclass(value, Policy) and value is not Policy
}


def __getattr__(name: str) -> object:
    raise missing_from_module("lowregret.policies", name, __dir__())


def __dir__() -> list[str]:
    return sorted({*POLICIES, "NEVER", "POLICIES", "Arm", "Arms", "Clock", "Policy", "Random"})
