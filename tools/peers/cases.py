"""Which policy of lowregret is compared with which class, why they differ, and what the source says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import changes
from mabwiser.mab import LearningPolicy
from players import Make, klucbGauss, of_mabwiser, of_pymab, of_river, of_smpybandits
from river import bandit as river

AUER = "Auer et al. 2002, Figure 1: the plays so far"
TUNED = "Auer et al. 2002, section 4: the plays so far, at most 1/4"
KLUCB = "Garivier, Cappe 2011, Algorithm 1: t"
GAUSS = "Garivier, Cappe 2011, Algorithm 1: t; Cappe et al. 2013: t - 1"
MOSS = "Audibert, Bubeck 2009: no t"
SWITCH = "Garivier et al. 2022: no t; exponents 1/5 and 8/9"
DUCB = "Garivier, Moulines 2011, section 2.1: every arm at every step"
SWUCB = "Garivier, Moulines 2011: the plays so far"
BAYES = "Kaufmann et al. 2012, Algorithm 1: t, no initial pulls"

PAST = "t - 1 instead of t"
COARSE = "index to within 1e-4"
EXACT, LATER = {"tolerance": 1e-14}, {"add": 1}


@dataclass(frozen=True)
class Case:
    """One comparison.

    Attributes
    ----------
    policy : str
        The policy of lowregret.
    peer : str
        The class of the other package.
    make : Make
        The other package's player.
    source : str
        Where the policy is defined, and what that says of the difference.
    follows : str
        Who follows the source: "both", "lowregret", "peer" or "not checked".
    why : str, default ""
        Why the two differ.
    changed : Make, optional
        The other package's player without what makes it differ. It must play as lowregret at every step.
    rewards : str, default "continuous"
        The table of rewards.
    warmup : int, default 1
        How many pulls of every arm are made in turn at the start.
    """

    policy: str
    peer: str
    make: Make
    source: str
    follows: str
    why: str = ""
    changed: Make | None = None
    rewards: str = "continuous"
    warmup: int = 1


def _in_smpybandits(policy: str, name: str, source: str, why: str = "", **options: Any) -> Case:
    """Return the case of a class of SMPyBandits; ``to_change`` are the arguments that make it play alike."""
    to_change = options.pop("to_change", None)
    follows = options.pop("follows", "lowregret" if why else "both")
    place = {key: options.pop(key) for key in ("rewards", "warmup") if key in options}
    make = of_smpybandits(name, **options)
    changed = None if to_change is None else of_smpybandits(name, **{**options, **to_change})
    return Case(policy, f"SMPyBandits {name}", make, source, follows, why, changed, **place)


def _confidence_bounds() -> list[Case]:
    """Return the cases of upper confidence bounds in closed form."""
    return [
        _in_smpybandits("UCB1", "UCB", AUER),
        _in_smpybandits("UCB1(alpha=0.5)", "UCBalpha", AUER, alpha=1),
        Case("UCB1", "MABWiser UCB1", of_mabwiser(LearningPolicy.UCB1(alpha=1)), AUER, "both"),
        Case("UCB1", "river UCB", of_river(river.UCB(delta=1)), AUER, "both"),
        Case(
            "UCB1",
            "pymab UCBPolicy",
            of_pymab("UCBPolicy", c=2.0),
            AUER,
            "lowregret",
            "t instead of t - 1",
            of_pymab("UCBPolicy", c=2.0, rule=changes.plays_so_far),
        ),
        _in_smpybandits(
            "UCBTuned",
            "UCBVtuned",
            TUNED,
            "no bound of 1/4 on the variance",
            to_change={"change": changes.variance_at_most_a_quarter},
        ),
        _in_smpybandits("UCBV(zeta=1)", "UCBV", "Audibert et al. 2009, section 3: t", PAST, to_change=LATER),
        _in_smpybandits(
            "MOSSAnytime(alpha=1)",
            "MOSSAnytime",
            "Degenne, Perchet 2016",
            PAST,
            to_change=LATER,
            follows="not checked",
        ),
        _in_smpybandits(
            "OCUCB",
            "OCUCBH",
            "Lattimore 2015, Algorithm 1: t",
            f"plays the index of UCB, which it inherits; {PAST}",
            alpha=3,
            psi=2,
            horizon=True,
            to_change={"change": changes.own_index, **LATER},
        ),
        _in_smpybandits("MOSS", "MOSSH", MOSS, horizon=True),
        Case("MOSS", "pymab MOSSPolicy", of_pymab("MOSSPolicy", horizon=True), MOSS, "both"),
    ]


def _divergences() -> list[Case]:
    """Return the cases of the variants of KL-UCB."""
    coarse, exact = f"{PAST}; {COARSE}", {**LATER, **EXACT}
    gauss = {"klucb": klucbGauss, "to_change": {**LATER, "tolerance": 0.25}}
    taken = f"takes the tolerance 1e-4 for the variance; {PAST}"
    menard = "Menard, Garivier 2017: no t"
    inherits = "plays the index of KL-UCB, which it inherits; its own has an error in its code"
    own = {"change": changes.own_index_after_a_correction, **EXACT}
    switch: dict[str, Any] = {"horizon": True, "to_change": own}
    return [
        _in_smpybandits("KLUCB", "klUCB", KLUCB, coarse, to_change=exact),
        _in_smpybandits("KLUCB(c=3)", "klUCBloglog", KLUCB, coarse, c=3, to_change=exact),
        Case(
            "KLUCB(c=3)",
            "pymab KLUCBPolicy",
            of_pymab("KLUCBPolicy", rule=changes.first_largest_index, c=3.0),
            KLUCB,
            "lowregret",
            f"{PAST}; index to within 1e-6; rounding of the means decides ties",
            of_pymab(
                "KLUCBPolicy",
                change=changes.one_step_later,
                rule=changes.first_largest_to_12_digits,
                c=3.0,
                tolerance=1e-15,
                max_iterations=60,
            ),
            "binary",
        ),
        _in_smpybandits("KLUCBPlus", "klUCBPlus", KLUCB, coarse, to_change=exact),
        _in_smpybandits("KLUCBGauss", "klUCB", GAUSS, taken, **gauss),
        _in_smpybandits("KLUCBGauss(plus=True)", "klUCBPlus", GAUSS, taken, **gauss),
        _in_smpybandits("KLUCBPlusPlus", "klUCBPlusPlus", menard, COARSE, horizon=True, to_change=EXACT),
        _in_smpybandits("KLUCBSwitch", "klUCBswitch", SWITCH, inherits, **switch),
        _in_smpybandits(
            f"KLUCBSwitch(exponent={8 / 9})", "klUCBswitch", SWITCH, inherits, threshold="delayed", **switch
        ),
    ]


def _discounted_and_bayesian() -> list[Case]:
    """Return the cases of discounted UCB and Bayes-UCB."""
    return [
        _in_smpybandits(
            "DiscountedUCB",
            "DiscountedUCB",
            DUCB,
            "discounted pulls truncated to integers, and discounted only when the arm is pulled",
            alpha=4.8,
            to_change={"change": changes.every_arm_discounted},
        ),
        Case(
            "DiscountedUCB",
            "pymab DiscountedUCBPolicy",
            of_pymab("DiscountedUCBPolicy", c=2.4, discount_factor=0.99),
            DUCB,
            "both",
        ),
        _in_smpybandits("SlidingWindowUCB(tau=300)", "SWUCB", SWUCB, tau=300, alpha=0.6),
        _in_smpybandits("BayesUCBBeta", "BayesUCB", BAYES, rewards="binary", warmup=0),
        Case(
            "BayesUCBBeta",
            "river BayesUCB",
            of_river(river.BayesUCB(), index=True),
            BAYES,
            "both",
            rewards="binary",
            warmup=0,
        ),
    ]


def _lists_and_rounds() -> list[Case]:
    """Return the cases of IMED, DMED, policies with rounds, and baselines."""
    lists = "an arm enters the next list only by its state at the end of a list"
    honda = "Honda, Takemura 2010: after every pull"
    enter = {"change": changes.arms_enter_after_every_pull}
    median = {"epsilon": 0.9, "delta": 0.9}
    return [
        _in_smpybandits(
            "IMED",
            "IMED",
            "Honda, Takemura 2015: the divergence",
            "minimizes with the mean that has the least divergence instead of the divergence",
            to_change={"change": changes.divergence_of_means},
        ),
        _in_smpybandits("DMED", "DMEDPlus", honda, lists, warmup=0, to_change=enter),
        _in_smpybandits("DMED(genuine=False)", "DMED", honda, lists, warmup=0, to_change=enter),
        _in_smpybandits(
            "UCBImproved",
            "UCBimproved",
            "Auer, Ortner 2010, Figure 1: any order",
            "other order of the pulls within a round (random there, here arm by arm)",
            follows="both",
            warmup=0,
            horizon=True,
            to_change={"change": changes.fewest_pulls_first},
        ),
        Case(
            "MedianElimination(epsilon=0.9, delta=0.9)",
            "pymab MedianEliminationPolicy",
            of_pymab("MedianEliminationPolicy", **median),
            "Even-Dar et al. 2006, Algorithm 4: any order",
            "both",
            "random order of the pulls within a phase",
            of_pymab("MedianEliminationPolicy", rule=changes.first_of_least_pulled, **median),
        ),
        _in_smpybandits("FixedArm(3)", "TakeFixedArm", "-", armIndex=3, warmup=0),
    ]


def cases() -> list[Case]:
    """Return all comparisons."""
    return _confidence_bounds() + _divergences() + _discounted_and_bayesian() + _lists_and_rounds()
