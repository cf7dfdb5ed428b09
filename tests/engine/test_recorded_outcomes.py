"""Outcomes recorded before the engine was rebuilt: every policy must still give them, bit for bit.

To record anew, after a change that is meant to change outcomes, run this file as a script.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import lowregret as lr
import lowregret.policies

RECORDED = Path(__file__).parents[1] / "data" / "recorded_outcomes.json"

BANDITS = {
    "bernoulli": (lr.bernoulli([0.07] * 19 + [0.10]), 3_000),
    "two arms": (lr.bernoulli([0.45, 0.55]), 800),
    "gaussian": (lr.gaussian([0.3, 0.5, 0.45, 0.7], [0.05, 0.25, 0.01, 0.1]), 1_500),
    "beta": (lr.beta([1, 2, 3, 4, 5], [5, 4, 3, 2, 2]), 1_200),
    "mixed": (
        lr.bernoulli([0.2, 0.4])
        + lr.uniform([0.1], [0.9])
        + lr.empirical([[0.0, 0.25, 0.25, 1.0], [0.5, 0.75]])
        + lr.beta([2], [3]),
        1_000,
    ),
    "unbounded": (lr.exponential([0.2, 0.5]) + lr.poisson([0.3, 0.6]) + lr.gaussian([0.4], 0.2), 900),
    "sixty arms": (lr.bernoulli(np.linspace(0.1, 0.8, 60)), 2_000),
}

POLICIES = (
    "AdaUCB",
    "BESA",
    "BayesUCBBeta",
    "BayesUCBBetaHorizon(c=0)",
    "BayesUCBGauss",
    "BayesUCBStudent",
    "CCB",
    "CCB(r='log')",
    "DMED",
    "DMED(genuine=False)",
    "DiscountedThompson",
    "DiscountedUCB",
    "EUCBV",
    "EUCBV(width='released')",
    "EUCBV(rho=0.1, psi=3)",
    "EmpiricalIMED",
    "EmpiricalKLUCB",
    "EpsilonGreedy",
    "ExpTSPlus",
    "FixedArm(arm=1)",
    "GLRKLUCB",
    "GLRKLUCB(alpha=0.2, delta=0.5, local=True)",
    "IMED",
    "KLMOSS",
    "KLMS",
    "KLUCB",
    "KLUCBGauss",
    "KLUCBGauss(plus=True)",
    "KLUCBPlus",
    "KLUCBPlusPlus",
    "KLUCBSwitch",
    "KLUCBSwitch(exponent=0.9)",
    "LBSDA",
    "LDSSDA",
    "MOSS",
    "MOSSAnytime",
    "MOSSV",
    "MOSSV(peers=0)",
    "MOSSVAnytime",
    "MOSSVAnytime(peers=0)",
    "MOTS",
    "MaillardSampling",
    "MedianElimination",
    "MedianElimination(epsilon=0.9, delta=0.9)",
    "NPTS",
    "OCUCB",
    "PHE",
    "ThompsonBeta",
    "ThompsonGauss",
    "ThompsonNormal",
    "TopTwoThompson",
    "TopTwoThompsonGauss(variance=0.25)",
    "TsallisINF",
    "TsallisINF(reduced_variance=True)",
    "UCB1",
    "UCB1(alpha=0.5)",
    "UCBImproved",
    "UCBNormal",
    "UCBTuned",
    "UCBV",
    "RoundRobin",
    "SlidingWindowUCB",
    "SlidingWindowUCB(tau=100)",
    "APT",
    "AugUCB",
    "EBTC",
    "KLLUCB",
    "LUCB(delta=0.3, epsilon=0.2)",
    "SequentialHalving",
    "SequentialHalving(reset=True)",
    "SuccessiveRejects",
    "TopTwoStopping",
    "TrackAndStop",
    "UCBE",
)
RECORDED_AS = {
    "MOSSV": "MOSSV(peers=2)",
    "MOSSV(peers=0)": "MOSSV",
    "MOSSVAnytime": "MOSSVAnytime(peers=2)",
    "MOSSVAnytime(peers=0)": "MOSSV(anytime=True)",
    "BayesUCBBetaHorizon(c=0)": "BayesUCBBeta",
}
"""The keys of policies that were recorded under another name, or as an equal policy."""


def digest(*arrays: object) -> str:
    """Hash numbers, not their rounded forms."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


GROUPED = "sixty arms"
"""With so many arms the classes with ``index_depends_on`` are compiled a second time."""


def simulated(name: str, *left_out: str) -> dict[str, str]:
    """Hash regret, pulls and eliminations of six runs on every bandit."""
    found = {}
    for title, (bandit, horizon) in BANDITS.items():
        if title in left_out:
            continue
        result = lr.simulate(name, bandit, horizon, runs=6, seed=11, grid=20, clip=True)
        outcome = result[result.policies[0]]
        found[title] = digest(outcome.regret, outcome.pulls, outcome.eliminated)
    return found


def rewards(arms: int, length: int) -> np.ndarray:
    """Draw a table of rewards from NumPy's frozen generator."""
    draws = np.random.RandomState(5)
    return (draws.random_sample((arms, length)) < np.linspace(0.2, 0.6, arms)[:, None]).astype(float)


def traced(name: str) -> str:
    """Hash every choice of one run on a table of rewards."""
    path = lr.trace(name, rewards(6, 900), horizon=900, seed=3, clip=True)
    return digest(path.arm, path.round, path.active)


def asked(name: str, pending: int) -> str:
    """Hash every choice of an agent that is told each reward after a number of further choices."""
    from lowregret.policies.policy_string import policy

    names = [f"arm {number}" for number in range(6)]
    agent = lr.Agent(policy(name), names, horizon=600, seed=7)
    table, used, waiting, chosen = rewards(6, 700), [0] * 6, [], []
    for step in range(600):
        choice = agent.ask()
        arm = names.index(choice.arm)
        waiting.append((choice, table[arm][used[arm]]))
        used[arm] += 1
        chosen.append(arm)
        while len(waiting) > pending:
            agent.tell(*waiting.pop(step % len(waiting)))
    return digest(np.array(chosen))


def outcomes(name: str) -> dict[str, object]:
    """Hash all that a policy does."""
    return {
        "simulated": simulated(name),
        "traced": traced(name),
        "asked": asked(name, 0),
        "asked late": asked(name, 7),
    }


def recorded(name: str) -> dict[str, object]:
    """Return the hashes that were recorded."""
    return json.loads(RECORDED.read_text())[RECORDED_AS.get(name, name)]


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.filterwarnings("ignore")
def test_outcomes_are_those_recorded(name):
    """Groups of arms are those of a few classes here, of all in `make verify`."""
    kind, wanted = lowregret.policies.POLICIES[name.partition("(")[0]], recorded(name)
    few = bool(kind.index_depends_on) and name not in ("UCB1", "UCBV", "KLUCBPlus", "IMED")
    assert simulated(name, *[GROUPED] * few).items() <= wanted["simulated"].items()
    assert traced(name) == wanted["traced"]
    assert asked(name, 7) == wanted["asked late"]


@pytest.mark.heavy
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.filterwarnings("ignore")
def test_outcomes_of_many_arms_are_those_recorded(name):
    assert simulated(name, *BANDITS.keys() - {GROUPED}).items() <= recorded(name)["simulated"].items()


@pytest.mark.heavy
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.filterwarnings("ignore")
def test_choices_of_an_agent_are_those_recorded(name):
    """The conformance suite compares them with the reference."""
    assert asked(name, 0) == recorded(name)["asked"]


def test_every_policy_is_recorded():
    assert {name.partition("(")[0] for name in POLICIES} == set(lowregret.policies.POLICIES)


if __name__ == "__main__":
    hashes = {RECORDED_AS.get(name, name): outcomes(name) for name in POLICIES}
    RECORDED.write_text(json.dumps(hashes, indent=1) + "\n")
