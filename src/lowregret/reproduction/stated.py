"""The four experiments of the EUCBV paper as its text states them."""

from dataclasses import dataclass

from lowregret.errors import InputError
from lowregret.reproduction.plotted import CURVES, Curve


@dataclass(frozen=True)
class PaperExperiment:
    """An experiment of the paper; its testbed is ``lr.paper(number)``."""

    number: int
    title: str
    policies: dict[str, str]
    """The policies that the text names, under their names in the paper, and the policy of this package for
    each. Parameters that the text does not state are those of the policy's source."""

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The published curves of the experiment."""
        return tuple(curve for curve in CURVES if curve.experiment == self.number)


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
UNIFORM_PLAY = "uniform play"
_UNIFORM = {UNIFORM_PLAY: "RoundRobin"}

PAPER = (
    PaperExperiment(1, "Bernoulli with uniform gaps", {**_UCB, **_BERNOULLI, **_UNIFORM}),
    PaperExperiment(2, "Gaussian, three groups of means", {**_UCB, **_GAUSSIAN, **_WEAK, **_UNIFORM}),
    PaperExperiment(3, "Failure of Thompson sampling", {**_UCB, **_GAUSSIAN, **_WEAK, **_UNIFORM}),
    PaperExperiment(4, "Gaussian, three groups of variances", {**_UCB, **_GAUSSIAN, **_UNIFORM}),
)
"""The experiments. Uniform play is our addition, as a baseline."""


def paper_experiment(number: int) -> PaperExperiment:
    for experiment in PAPER:
        if experiment.number == number:
            return experiment
    raise InputError(f"reproduce: experiment must be 1, 2, 3 or 4, got {number!r}")
