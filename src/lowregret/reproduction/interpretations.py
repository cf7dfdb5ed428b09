"""The three readings of the EUCBV paper: which policy runs on which testbed.

*As printed*: Algorithm 1 and every policy that the text names, on the testbed as stated.
*Released width*: EUCBV with the width of the released code, on the same testbed.
*As plotted*: for each published curve, the policy and the testbed of its released script.
"""

from typing import NamedTuple

from lowregret.experiments.spec import Experiment
from lowregret.reproduction.plotted import NOISELESS, RELEASED, STATED, paper_testbed
from lowregret.reproduction.script_policies import plotted_policy
from lowregret.reproduction.stated import PAPER, paper_experiment

AS_PRINTED, RELEASED_WIDTH, AS_PLOTTED = "as printed", "released width", "as plotted"
"""The three readings."""

GRID_POINTS = 100
"""The number of times at which the regret is recorded; the times of the published points are among them."""

MORE_RUNS = 10
"""The factor by which some configurations on the stated testbeds get more runs: the released width, which
eliminates the optimal arm in a part of them, and the policies of `PRECISE_POLICIES`."""

PRECISE_POLICIES = {1: ("MOSSAnytime(alpha=1)", "OCUCB(alpha=2)", "UCB1", "DMED", "KLUCB")}
"""Policies behind published curves that 100 runs estimate too imprecisely, by experiment. Those that are
missing, Thompson sampling and Bayes-UCB, take too long."""

FEWER_RUNS = 4
"""The factor by which `rivals` on a plotted testbed get fewer runs: they are to be excluded by a margin."""

RUNS_WITHOUT_NOISE = 2
"""The number of runs without noise, which are all equal."""

SLOW_POLICIES = ("DMED", "ThompsonGauss", "BayesUCBStudent")
"""The slowest policies with 100 arms. They run first, so that no core is idle at the end."""


class Configuration(NamedTuple):
    """A policy on a testbed."""

    experiment: int
    policy: str  # its name in the paper
    reading: str
    environment: str  # the name of the testbed
    our_policy: str  # the policy of this package


def configurations(number: int) -> tuple[Configuration, ...]:
    experiment, stated = paper_experiment(number), paper_testbed(number).name
    printed = experiment.policies.items()
    return (
        *(Configuration(number, name, AS_PRINTED, stated, ours) for name, ours in printed),
        Configuration(number, "EUCBV", RELEASED_WIDTH, stated, RELEASED),
        *(
            Configuration(number, curve.policy, AS_PLOTTED, curve.environment, curve.our_policy)
            for curve in experiment.curves
        ),
    )


def rivals(number: int) -> tuple[str, ...]:
    """Return the policies that play on the plotted testbeds too, to see whether others match a curve."""
    policies = paper_experiment(number).policies.values()
    return (*(policy for policy in policies if policy not in SLOW_POLICIES), RELEASED)


def experiments_to_run(number: int | None = None, runs: int = 100, seed: int = 0) -> tuple[Experiment, ...]:
    """Return the `Experiment` of every testbed of one experiment of the paper, or of all, in all readings."""
    experiments = []
    for paper in PAPER if number is None else [paper_experiment(number)]:
        policies: dict[str, list[str]] = {}
        for case in configurations(paper.number):
            policies.setdefault(case.environment, []).append(case.our_policy)
        precise = (RELEASED, *PRECISE_POLICIES.get(paper.number, ()))
        for kind in dict.fromkeys([STATED, *(curve.testbed for curve in paper.curves)]):
            bandit = paper_testbed(paper.number, kind)
            own = list(dict.fromkeys(policies.get(bandit.name, ())))
            if kind == STATED:
                with_more_runs = [policy for policy in own if policy in precise]
                others = [policy for policy in own if policy not in precise]
                parts = [("-more-runs", with_more_runs, MORE_RUNS * runs), ("", others, runs)]
            elif kind == NOISELESS:
                parts = [("", list(dict.fromkeys([*own, *rivals(paper.number)])), RUNS_WITHOUT_NOISE)]
            else:
                others = [policy for policy in rivals(paper.number) if policy not in own]
                parts = [("", own, runs), ("-others", others, max(runs // FEWER_RUNS, min(runs, 2)))]
            experiments += [
                Experiment(
                    name=bandit.name + suffix,
                    environments=bandit,
                    policies=list(map(plotted_policy, sorted(chosen, key=_is_fast))),
                    runs=count,
                    seed=seed,
                    clip=True,  # the text runs DMED, which needs rewards in [0, 1], on Gaussian rewards
                    grid={"points": GRID_POINTS},
                )
                for suffix, chosen, count in parts
                if chosen
            ]
    return tuple(experiments)


def _is_fast(policy: str) -> bool:
    return policy not in SLOW_POLICIES
