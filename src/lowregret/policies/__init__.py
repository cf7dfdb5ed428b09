"""The policies. ``POLICIES`` maps the public name of each to its class."""

from __future__ import annotations

from lowregret.policies.adaucb import AdaUCB
from lowregret.policies.base import Policy
from lowregret.policies.baselines import EpsilonGreedy, FixedArm, RoundRobin
from lowregret.policies.bayesucb import BayesUCBBeta, BayesUCBGauss, BayesUCBStudent
from lowregret.policies.change_detection import GLRKLUCB
from lowregret.policies.discounted import DiscountedThompson, DiscountedUCB
from lowregret.policies.divergence import DMED, IMED
from lowregret.policies.empirical import EmpiricalIMED, EmpiricalKLUCB
from lowregret.policies.eucbv import EUCBV
from lowregret.policies.expts import ExpTSPlus
from lowregret.policies.klucb import KLUCB, KLUCBGauss, KLUCBPlus, KLUCBPlusPlus, KLUCBSwitch
from lowregret.policies.moss import MOSS, MOSSAnytime
from lowregret.policies.mossv import MOSSV
from lowregret.policies.mots import MOTS
from lowregret.policies.npts import NPTS
from lowregret.policies.ocucb import OCUCB
from lowregret.policies.perturbed_history import PHE
from lowregret.policies.rounds import CCB, MedianElimination, UCBImproved
from lowregret.policies.sliding_window import SlidingWindowUCB
from lowregret.policies.subsampling import BESA, LBSDA
from lowregret.policies.thompson import ThompsonBeta, ThompsonGauss, ThompsonNormal
from lowregret.policies.tsallis import TsallisINF
from lowregret.policies.ucb import UCB1, UCBV, UCBNormal, UCBTuned
from lowregret.policies.views import NEVER, Arm, Arms, Clock, Random, clock_at

POLICIES: dict[str, type[Policy]] = {
    name: value
    for name, value in sorted(globals().items())
    if isinstance(value, type) and issubclass(value, Policy) and value is not Policy
}

__all__ = [
    "BESA",
    "CCB",
    "DMED",
    "EUCBV",
    "GLRKLUCB",
    "IMED",
    "KLUCB",
    "LBSDA",
    "MOSS",
    "MOSSV",
    "MOTS",
    "NEVER",
    "NPTS",
    "OCUCB",
    "PHE",
    "POLICIES",
    "UCB1",
    "UCBV",
    "AdaUCB",
    "Arm",
    "Arms",
    "BayesUCBBeta",
    "BayesUCBGauss",
    "BayesUCBStudent",
    "Clock",
    "DiscountedThompson",
    "DiscountedUCB",
    "EmpiricalIMED",
    "EmpiricalKLUCB",
    "EpsilonGreedy",
    "ExpTSPlus",
    "FixedArm",
    "KLUCBGauss",
    "KLUCBPlus",
    "KLUCBPlusPlus",
    "KLUCBSwitch",
    "MOSSAnytime",
    "MedianElimination",
    "Policy",
    "Random",
    "RoundRobin",
    "SlidingWindowUCB",
    "ThompsonBeta",
    "ThompsonGauss",
    "ThompsonNormal",
    "TsallisINF",
    "UCBImproved",
    "UCBNormal",
    "UCBTuned",
    "clock_at",
]
