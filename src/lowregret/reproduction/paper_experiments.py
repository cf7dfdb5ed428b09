"""The four experiments of the EUCBV paper in three readings, as plain data.

*As printed*: Algorithm 1 and every policy that the text names for an experiment, on the testbed as stated.
*Released width*: EUCBV with the width of the released code, on the same testbed. *As plotted*: for each
published curve the policy and the testbed that its script sets up (see `lowregret.reproduction.plotted_curves`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from lowregret.errors import InputError
from lowregret.reproduction.plotted_curves import CURVES, RELEASED, Curve
from lowregret.reproduction.published_curves import final
from lowregret.experiments.spec import Experiment
from lowregret.reproduction.plotted_testbeds import STATED, paper_testbed

AS_PRINTED, RELEASED_WIDTH, AS_PLOTTED = "as printed", "released width", "as plotted"
"""The three readings."""

POINTS = 100
"""At how many times the regret is recorded; the times of the published points are among them."""

SLOW = ("DMED", "ThompsonGauss", "BayesUCBStudent")
"""What is run first where there are 100 arms, so that no core is idle at the end."""


@dataclass(frozen=True)
class PaperExperiment:
    """What one experiment of the paper plays.

    Attributes
    ----------
    number : int
        The number in the paper.
    title : str
        The title in the paper.
    printed : dict of str to str
        The policies the text names, as the paper calls them, and which of ours each is. Where the text states
        no parameters, ours are those of the policy's source.

    Examples
    --------
    >>> from lowregret.reproduction.paper_experiments import PAPER
    >>> PAPER[0].title, PAPER[0].printed["KLUCB+"]
    ('Bernoulli with uniform gaps', 'KLUCBPlus')
    >>> PAPER[0].published["MOSS"], len(PAPER[0].curves)
    (624.16, 9)
    """

    number: int
    title: str
    printed: dict[str, str]

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The published curves."""
        return tuple(curve for curve in CURVES if curve.experiment == self.number)

    @property
    def published(self) -> dict[str, float]:
        """The published regrets at the horizon, by policy."""
        return {
            curve.policy: regret
            for curve in self.curves
            if (regret := final(self.number, curve.policy)) is not None
        }


_UCB = {"EUCBV": "EUCBV", "MOSS": "MOSS", "OCUCB": "OCUCB", "UCB-V": "UCBV"}
_GAUSSIAN = {"TS-G": "ThompsonGauss", "BU-G": "BayesUCBStudent"}
_WEAK = {
    "KLUCB-G+": "KLUCBGauss(plus=True)",
    "DMED": "DMED",
    "UCB1": "UCB1",
    "UCB-Improved": "UCBImproved",
    "Median Elimination": "MedianElimination",
}
_BERNOULLI = {
    "KLUCB+": "KLUCBPlus",
    "DMED": "DMED",
    "UCB1": "UCB1",
    "TS": "ThompsonBeta",
    "BU": "BayesUCBBeta",
    "UCB-Improved": "UCBImproved",
}
_UNIFORM = {"uniform play": "RoundRobin"}

PAPER = (
    PaperExperiment(1, "Bernoulli with uniform gaps", {**_UCB, **_BERNOULLI, **_UNIFORM}),
    PaperExperiment(2, "Gaussian, three groups of means", {**_UCB, **_GAUSSIAN, **_WEAK, **_UNIFORM}),
    PaperExperiment(3, "Failure of Thompson sampling", {**_UCB, **_GAUSSIAN, **_WEAK, **_UNIFORM}),
    PaperExperiment(4, "Gaussian, three groups of variances", {**_UCB, **_GAUSSIAN, **_UNIFORM}),
)
"""The experiments, in the paper's order. Uniform play is ours, to measure the others by."""


class Configuration(NamedTuple):
    """A policy on a testbed: which experiment and reading it belongs to, and what the paper calls it."""

    experiment: int
    policy: str
    reading: str
    environment: str
    plays: str


def chosen(number: int | None = None) -> tuple[PaperExperiment, ...]:
    """Give one experiment by its number, or all of them.

    Examples
    --------
    >>> from lowregret.reproduction.paper_experiments import chosen
    >>> [experiment.title for experiment in chosen(3)]
    ['Failure of Thompson sampling']
    """
    found = tuple(experiment for experiment in PAPER if number in (None, experiment.number))
    if not found:
        raise InputError(f"reproduce: experiment must be 1, 2, 3 or 4, got {number!r}")
    return found


def configurations(number: int) -> tuple[Configuration, ...]:
    """Give all that plays in an experiment, reading by reading.

    Examples
    --------
    >>> from lowregret.reproduction.paper_experiments import configurations
    >>> configurations(2)[-1]
    Configuration(experiment=2, policy='BU-G', reading='as plotted', environment='paper-2-mirror', \
plays='BayesUCBStudent')
    """
    (experiment,) = chosen(number)
    stated = paper_testbed(number).name
    return (
        *(Configuration(number, name, AS_PRINTED, stated, ours) for name, ours in experiment.printed.items()),
        Configuration(number, "EUCBV", RELEASED_WIDTH, stated, RELEASED),
        *(
            Configuration(
                number, curve.policy, AS_PLOTTED, paper_testbed(number, curve.testbed).name, curve.plays
            )
            for curve in experiment.curves
            if curve.plays is not None
        ),
    )


def experiments(number: int | None = None, runs: int = 100, seed: int = 1) -> tuple[Experiment, ...]:
    """Give what is to be run for the three readings: one `Experiment` for every testbed.

    Parameters
    ----------
    number : int, optional
        One experiment of the paper; all four if not given.
    runs, seed : int, defaults 100 and 1
        How many independent runs, and what the rewards are drawn from.

    Examples
    --------
    >>> from lowregret.reproduction.paper_experiments import experiments
    >>> [experiment.name for experiment in experiments(2, runs=1)]
    ['paper-2', 'paper-2-noiseless', 'paper-2-mirror']
    """
    found = []
    for experiment in chosen(number):
        policies: dict[str, dict[str, None]] = {}
        for each in configurations(experiment.number):
            policies.setdefault(each.environment, {})[each.plays] = None
        kinds = {paper_testbed(experiment.number, kind).name: kind for kind in _kinds(experiment)}
        for name, plays in policies.items():
            found.append(
                Experiment(
                    name=name,
                    environments=paper_testbed(experiment.number, kinds[name]),
                    policies=sorted(plays, key=lambda policy: policy not in SLOW),
                    runs=runs,
                    seed=seed,
                    clip=True,  # DMED needs rewards in [0, 1], and the text lets it play Gaussian ones
                    grid={"points": POINTS},
                )
            )
    return tuple(found)


def _kinds(experiment: PaperExperiment) -> dict[str, None]:
    return {STATED: None, **{curve.testbed: None for curve in experiment.curves}}
