"""Whether a GPU plays the runs that the processor plays: every policy, reward family, rule and refusal.

The tests run the GPU's code in Numba's simulator; this checks the same on a GPU, which compiles it. It needs
NumPy, SciPy, Numba and numba-cuda alone.

    python benchmarks/gpu_check.py [--runs 1000] [--minutes 8] [GROUP ...]

A group is a policy, or one of the further groups that ``--list`` prints; each is played in a process of its
own. The run ends with 1 if a group failed, and a policy fails if more than one run, and more than one in
10,000, differ from the processor's. Without a GPU, in the simulator:

    NUMBA_ENABLE_CUDASIM=1 python benchmarks/gpu_check.py --runs 2 --steps 60 --plain reference MOSS own
"""
# ruff: noqa: D101

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Timer
from time import monotonic, perf_counter
from typing import Any, NamedTuple

import numpy as np

from lowregret import environments as envs
from lowregret import policies
from lowregret.engine.backends import run, unsupported_reason
from lowregret.engine.backends.threads import Stopped
from lowregret.engine.kernels.modes import UNSUPPORTED_ON_GPU
from lowregret.engine.kernels.posteriors import MIN_BETA_ARMS, MIN_NORMAL_ARMS
from lowregret.engine.prior import ArmPrior
from lowregret.engine.problem import PATH, RECOMMENDED, REWARDS, Control, Problem, RewardTable
from lowregret.environments import environment
from lowregret.errors import InputError
from lowregret.policies import Policy

MAX_SHARE = 1e-4
"""The largest share of the runs of a group that may differ."""
UNSTABLE = (policies.TsallisINF,)
"""Policies whose runs part after a difference in the last bit: their weights 1 / probability enlarge it."""
MAX_DEVIATIONS = 4.5
"""How far mean regrets may be apart, in standard errors, where the runs of the processor are others."""
BANDITS = {
    "paper-1": 20_000,
    "paper-4": 3_000,
    "bernoulli:0.4,0.6": 5_000,
    "bernoulli:0.02*50,0.04": 5_000,
    "gaussian:mean=0*9,0.3;variance=1": 5_000,
    "beta:a=2,3,4;b=8,7,6": 5_000,
    "uniform:low=0,0.2;high=0.8,1": 5_000,
    "exponential:0.5,1": 5_000,
    "revenue:rate=0.02*4,0.04;sale=1;sd=0.5": 5_000,
}
"""What every policy plays, with the number of steps: several kinds of rewards, few arms and many."""
VARIANTS = (
    policies.EUCBV(width="released"),
    policies.FixedArm(1),
    policies.MOSSV(peers=0.0),
    policies.MOSSV(peers=4.0),
    policies.MOSSV(caution=2.0),
    policies.MOSSVAnytime(peers=0.0),
    policies.UCB1(alpha=1.0),
)
TWO_ARMS = envs.bernoulli([0.4, 0.6])
FOUR_ARMS = envs.bernoulli([0.3, 0.5, 0.45, 0.6])
FAMILIES = {
    "bernoulli": envs.bernoulli([0.2, 0.5, 0.4]),
    "bernoulli, scaled": envs.bernoulli([0.2, 0.5]).scaled(-1.0, 2.0),
    "gaussian": envs.gaussian([0.2, 0.5, 0.4], 0.3),
    "beta": envs.beta([2.0, 0.5], [3.0, 0.7]),
    "exponential": envs.exponential([0.4, 0.7, 0.2]),
    "poisson": envs.poisson([0.4, 1.2, 30.0]),
    "uniform": envs.uniform([0.0, 0.2], [0.8, 1.0]),
    "lognormal": envs.lognormal([0.0, 0.2, -0.2], 0.5),
    "pareto": envs.pareto([3.0, 2.5], [1.0, 0.9]),
    "truncnormal": envs.truncnormal([0.3, 0.6], 0.4),
    "empirical": envs.empirical([[0.0, 0.0, 3.0], [2.0, 0.5]]),
    "revenue": envs.revenue([0.3, 0.4, 0.5], 1.0, 2.0),
    "several": envs.Bandit(
        (
            *envs.bernoulli([0.4]).arms,
            *envs.beta([2.0], [3.0]).arms,
            *envs.uniform([0.0], [1.0]).arms,
            *envs.revenue([0.3], [1.0], [0.5]).arms,
        ),
        "several",
    ),
    "linear drift": envs.linear_drift(envs.bernoulli([0.2, 0.5]), [0.5, 0.2], 1_000),
    "piecewise drift": envs.piecewise_drift(envs.gaussian([0.4, 0.5], 0.1), {500: [0.9, 0.1]}),
    "sinusoidal drift": envs.sinusoidal_drift(envs.bernoulli([0.3, 0.5]), [0.2, 0.1], 700.0),
    "tabulated drift": envs.tabulated_drift(envs.beta([2.0, 3.0], [3.0, 2.0]), [[0.4, 0.5], [0.6, 0.3]], 400),
    "rhythm": envs.rhythm(envs.bernoulli([0.2, 0.3]), 50, weekend=1.5),
}
GIVEN = RewardTable((np.linspace(0.0, 1.0, 3_000), np.linspace(1.0, 0.0, 3_000)))
"""Arms whose rewards are given."""


class Case(NamedTuple):
    """A problem that is played twice, and the name of what it is about."""

    name: str
    problem: Problem


class Check(NamedTuple):
    """A call that fails with an exception or returns what went wrong, if anything."""

    name: str
    find_mistake: Callable[[], str]


def groups(options: argparse.Namespace) -> dict[str, Callable[[], list[Case | Check]]]:
    """Return by name what makes the cases and checks of a group."""
    found: dict[str, Callable[[], list[Case | Check]]] = {}
    for policy in (policies.MOSS(), policies.UCBV(), policies.MOSSV(), policies.ThompsonGauss()):
        found[f"families, {policy}"] = lambda policy=policy: [
            Case(name, problem(policy, bandit, 2_000, options)) for name, bandit in FAMILIES.items()
        ]
    for policy in (policies.MOSS(), policies.UCBV(), policies.MOSSV()):
        found[f"arms, {policy}"] = lambda policy=policy: list(many_arms(policy, options))
    for policy in OWN:
        found[f"own, {policy}"] = lambda policy=policy: list(own_cases(policy, options))
    further = {"mistakes": mistakes, "engine": engine, "refusals": refusals}
    found |= {name: lambda make=make: list(make(options)) for name, make in further.items()}
    playable = [kind() for name, kind in policies.POLICIES.items() if name != "FixedArm"]
    for policy in (*playable, *VARIANTS):
        if not unsupported_reason(Problem(policy, TWO_ARMS, 100), "cuda"):
            found[str(policy)] = lambda policy=policy: policy_cases(policy, options)
    return found


def problem(
    policy: Policy, bandit: Any, horizon: int, options: argparse.Namespace, runs: int = 0, **settings: Any
) -> Problem:
    """Return a problem of as many steps and runs as the options allow, with ten times in its grid."""
    horizon, runs = min(horizon, options.steps), runs or options.runs
    grid = np.unique(np.ceil(np.linspace(0, horizon, 11)[1:]).astype(np.int64))
    return Problem(policy, bandit, horizon, seed=1, runs=runs, grid=grid, **settings)


def policy_cases(policy: Policy, options: argparse.Namespace) -> list[Case | Check]:
    clip = "rewards in [0, 1]" in policy.needs
    cases: list[Case | Check] = [
        Case(text, problem(policy, environment(text), horizon, options, clip=clip))
        for text, horizon in BANDITS.items()
    ]
    few = min(options.runs, 200)
    path = problem(policy, FOUR_ARMS, 500, options, few, clip=clip, record=frozenset({PATH}))
    return [*cases, Case("every step of four arms", path)]


def many_arms(policy: Policy, options: argparse.Namespace) -> Iterator[Case]:
    """Yield problems whose arms lie in shared memory, in part, or not at all."""
    for number in (6, 33, 100, 300, 1_000):
        horizon = number + min(2_000, options.steps)
        rates = np.linspace(0.2, 0.8, number)
        for bandit in (envs.bernoulli(rates), envs.gaussian(rates, 0.2)):
            played = Problem(policy, bandit, horizon, 1, 0, options.runs, np.array([horizon]))
            yield Case(f"{number} {bandit.name} arms", played)


class Round(NamedTuple):
    number: int
    until: int


class AsksBeyond(Policy):
    """Ask for a place beyond the arms when a round ends."""

    place: int = 2
    late: bool = False

    def first_round(self, clock):
        return Round(1, 20)

    def score(self, arm, clock, round):
        return arm.mean

    def next_round(self, arms, clock, round):
        place = self.place if not self.late or arms.at(0).pulls > 30 else 0
        if arms.at(place).mean < 0.0:
            arms.eliminate(place)
        return Round(round.number + 1, clock.t + 20)


class EliminatesBeyond(AsksBeyond):
    def next_round(self, arms, clock, round):
        arms.eliminate(-3)
        return Round(round.number + 1, clock.t + 20)


class SeesBeyond(Policy):
    uses_arms = True

    def score(self, arm, clock):
        return arm.mean + arm.arms.at(clock.arms).mean


class Resets(AsksBeyond):
    """Forget the rewards of one arm after each round."""

    eliminates_permanently = False

    def next_round(self, arms, clock, round):
        arms.reset(round.number % clock.arms)
        return Round(round.number + 1, clock.t + 20)


class Halves(AsksBeyond):
    """Eliminate the worse half of the arms, round by round, and begin again with all."""

    eliminates_permanently = False

    def next_round(self, arms, clock, round):
        total = 0.0
        for i in range(clock.arms):
            if arms.active(i):
                total += arms.at(i).mean
        mean, alone = total / arms.count_active(), arms.count_active() == 1
        for i in range(clock.arms):
            if alone and arms.is_eliminated(i):
                arms.reactivate(i)
            elif arms.at(i).mean < mean:
                arms.eliminate(i)
        return Round(round.number + 1, clock.t + 20)


class EliminatesOne(AsksBeyond):
    """Eliminate one arm for good."""

    def next_round(self, arms, clock, round):
        arms.eliminate(1)
        return Round(round.number + 1, policies.NEVER)


class NamedAlike(AsksBeyond):
    """Have parameters with the names of what arms and random numbers can do."""

    beta: float = 0.5
    reset: bool = True

    def score(self, arm, clock, round):
        return arm.mean + self.beta / arm.pulls

    def next_round(self, arms, clock, round):
        if self.reset:
            arms.reset(round.number % clock.arms)
        return Round(round.number + 1, clock.t + 20)


class SeesBest(AsksBeyond):
    """End rounds by the best mean, as it was before the reward."""

    uses_best = True

    def lower_bound(self, arm, clock, round):
        return arm.mean - 1.5 / (arm.pulls * clock.best + 0.1)

    def next_round(self, arms, clock, round):
        return Round(round.number + 1, clock.t + 1 + int(1e6 * clock.best) % 7)


class EliminatesAll(AsksBeyond):
    def next_round(self, arms, clock, round):
        for i in range(clock.arms):
            arms.eliminate(i)
        return round


class BoundedBelow(Policy):
    """Eliminate by lower bounds, with an index that moves with time."""

    def score(self, arm, clock):
        return arm.mean + 0.5 / arm.pulls + 0.01 / clock.t

    def lower_bound(self, arm, clock, round):
        return arm.mean - 1.0 / arm.pulls


class BeginsWithTwo(Policy):
    def initially_active(self, number):
        return number != 1

    def score(self, arm, clock):
        return arm.mean + 1.0 / arm.pulls


class Trace(NamedTuple):
    recent: float = 0.0
    last: int = 0
    rose: bool = False


class Remembers(Policy):
    """Follow recent rewards, and what each round has noted."""

    Memory = Trace

    def first_round(self, clock):
        return Round(1, 50)

    def update_memory(self, arm, reward, clock):
        recent = 0.9 * arm.memory.recent + 0.1 * reward
        return Trace(recent, clock.t, recent > arm.memory.recent)

    def score(self, arm, clock, round):
        bonus = 0.1 if arm.memory.rose else 0.0
        return arm.memory.recent + bonus + 0.01 * (clock.t - arm.memory.last) ** 0.5

    def next_round(self, arms, clock, round):
        for i in range(clock.arms):
            memory = arms.at(i).memory
            arms.set_memory(i, Trace(0.5 * memory.recent, memory.last, False))
        return Round(round.number + 1, clock.t + 50)


class Samples(Policy):
    """Draw all that a policy may draw."""

    def sample(self, arm, clock, rng):
        total = rng.uniform() + rng.normal() + rng.beta(2.0, 0.5) + rng.student(5.0)
        return arm.mean * arm.pulls**0.5 + 0.1 * (
            total + rng.binomial(arm.pulls, 0.3) + rng.uniform_at(clock.t)
        )


class Undefined(Policy):
    """Have a score that is not a number after some pulls."""

    def score(self, arm, clock):
        return arm.mean * (float("nan") if arm.pulls > 5 else 1.0)


OWN = (
    Resets(),
    Halves(),
    EliminatesOne(),
    AsksBeyond(place=-2),
    NamedAlike(),
    SeesBest(),
    BoundedBelow(),
    BeginsWithTwo(),
    Remembers(),
    Samples(),
)
"""Policies that do what none of ours does."""


def own_cases(policy: Policy, options: argparse.Namespace) -> Iterator[Case]:
    for bandit in (FOUR_ARMS, envs.gaussian([0.2, 0.9, 0.5], 0.1)):
        yield Case(bandit.name, problem(policy, bandit, 2_000, options))
    few = min(options.runs, 200)
    yield Case("every step", problem(policy, FOUR_ARMS, 500, options, few, record=frozenset({PATH})))


def mistakes(options: argparse.Namespace) -> Iterator[Check]:
    """Yield checks that mistakes of a policy end with the sentence of the processor."""
    ends = RewardTable((np.ones(min(500, options.steps)), np.ones(20)))
    for policy, bandit, place in (
        (AsksBeyond(), TWO_ARMS, 2),
        (AsksBeyond(place=99, late=True), TWO_ARMS, 99),
        (EliminatesBeyond(), TWO_ARMS, -3),
        (SeesBeyond(), TWO_ARMS, 2),
        (EliminatesAll(), TWO_ARMS, None),
        (Undefined(), TWO_ARMS, None),
        (EliminatesOne(), RewardTable((ends.rewards[1], ends.rewards[0])), None),
        (policies.RoundRobin(), ends, None),
    ):
        played = problem(policy, bandit, 500, options)
        sentence = f"no arm is in place {place}: use range" if place is not None else None
        yield Check(str(policy), lambda played=played, sentence=sentence: compare_mistakes(played, sentence))


def compare_mistakes(played: Problem, sentence: str | None) -> str:
    """Return what is wrong with the sentence with which a problem ends on a GPU."""
    on_gpu = refusal(played, "cuda")
    if sentence is None:
        sentence = refusal(played, "reference")
    return "" if sentence and sentence in on_gpu else f"expected {sentence!r}, got {on_gpu!r}"


def refusal(played: Problem, engine: str) -> str:
    """Return the sentence with which an engine refuses a problem or ends it, or an empty string."""
    try:
        run(played, engine)
    except InputError as error:
        return str(error)
    return ""


def engine(options: argparse.Namespace) -> Iterator[Case | Check]:
    """Yield what is about the engine and no policy: many launches, an end from outside, what is recorded."""
    steps = problem(policies.MOSS(), TWO_ARMS, 100, options, 150 * options.runs)
    yield Case("many launches", steps)
    yield Case(
        "later runs", Problem(policies.UCBV(), FOUR_ARMS, 200, 7, 10**9, options.runs, np.array([200]))
    )
    unshuffled = problem(policies.MOSSV(), FOUR_ARMS, 500, options, shuffle=False)
    yield Case("arms in their order", unshuffled)
    for policy in (policies.MOSS(), policies.UCB1(), policies.EUCBV()):
        yield Case(f"given rewards, {policy}", problem(policy, GIVEN, 500, options, min(options.runs, 10)))
        clipped = problem(policy, envs.gaussian([0.3, 0.6], 1.0), 1_000, options, clip=True)
        yield Case(f"clipped rewards, {policy}", clipped)
    rewards = problem(policies.MOSS(), FAMILIES["several"], 500, options, record=frozenset({REWARDS}))
    yield Case("recorded rewards", rewards)
    yield Check("a halt stops the runs", halt)


def halt() -> str:
    control = Control()
    control.halt[0] = 1
    try:
        run(Problem(policies.MOSS(), TWO_ARMS, 100, runs=2), "cuda", control)
    except Stopped:
        return ""
    return "the runs went on"


class Duels(Policy):
    def duel(self, one, other, clock, rng):
        return one.mean > other.mean


class DrawsRounds(AsksBeyond):
    def next_round(self, arms, clock, round, rng):
        return Round(round.number + 1, clock.t + 1 + int(9 * rng.uniform()))


class DrawsMemory(Remembers):
    def update_memory(self, arm, reward, clock, rng):
        return Trace(arm.memory.recent + rng.uniform(), clock.t, False)


class AdmitsLater(AsksBeyond):
    def initially_active(self, number):
        return number != 1


def refusals(options: argparse.Namespace) -> Iterator[Check]:
    """Yield checks that all problems of the table of docs/how-to/gpu.md are refused in its words."""
    moss, horizon = policies.MOSS(), 100
    sampled = envs.Sampled(lambda rng: rng.uniform(), 0.5, 1.0 / 12.0)
    plain = [policies.BESA(), policies.NPTS(), policies.DMED(), Duels(), policies.TopTwoThompsonGauss()]
    plain += [policies.LUCB(), DrawsRounds(), DrawsMemory(), AdmitsLater()]
    bandits = {
        "Sampled": envs.Bandit((sampled, sampled), "own"),
        "random_bandit": envs.random_bandit("bernoulli:uniform(0,1)*3"),
        "rotting_arms": envs.rotting_arms(TWO_ARMS, [0.1, 0.1], scale=[10.0, 10.0]),
        "rising_arms": envs.rising_arms(TWO_ARMS, [0.7, 0.7], scale=[10.0, 10.0]),
        "replaced_arms": envs.replaced_arms("bernoulli:uniform(0,1)*10", rate=0.01),
    }
    settings: dict[str, dict[str, Any]] = {
        "record_recommendations": {"record": frozenset({RECOMMENDED}), "grid": np.array([50])},
        "delay": {"delay": envs.Delay.constant(3)},
        "batch": {"batch": 2},
        "prior": {"prior": {0: ArmPrior(0.5, 10)}},
        "period": {"period": 10},
    }
    refused = {str(policy): Problem(policy, TWO_ARMS, horizon) for policy in plain}
    refused |= {name: Problem(moss, TWO_ARMS, horizon, **setting) for name, setting in settings.items()}
    refused |= {"horizon": Problem(moss, TWO_ARMS, 2**31)}
    refused |= {name: Problem(moss, bandit, horizon) for name, bandit in bandits.items()}
    reasons = {unsupported_reason(played, "cuda") for played in refused.values()}
    missing = {reason for _, reason in UNSUPPORTED_ON_GPU} - reasons
    yield Check("every reason is met", lambda: "; ".join(missing))
    for name, played in refused.items():
        yield Check(name, lambda played=played: compare_refusal(played))


def compare_refusal(played: Problem) -> str:
    reason, sentence = unsupported_reason(played, "cuda"), refusal(played, "cuda")
    wanted = f'{played.policy}: engine="cuda" cannot play it, since {reason}: use engine="compiled"'
    return "" if reason and sentence == wanted else f"expected {wanted!r}, got {sentence!r}"


def draws_otherwise(played: Problem) -> bool:
    """Return whether the processor plays other runs: it samples fewer arms, or the policy is unstable."""
    if isinstance(played.policy, UNSTABLE):
        return True
    policy, arms = played.policy, len(played.bandit)
    by_beta = policy.overrides("beta_posterior") and arms >= MIN_BETA_ARMS
    return by_beta or (policy.overrides("normal_posterior") and arms >= MIN_NORMAL_ARMS)


def count_different(played: Problem, plain_engine: str, threads: int) -> tuple[int, str]:
    """Return in how many runs the engines differ, and what else there is to say."""
    on_gpu = run(played, "cuda")
    plain = run(played, plain_engine, Control(threads=threads))
    if draws_otherwise(played):
        one, other = plain.regret[:, -1], on_gpu.regret[:, -1]
        error = ((one.var() + other.var()) / len(one)) ** 0.5
        deviations = float(abs(one.mean() - other.mean()) / error) if error > 0.0 else 0.0
        others = int((plain.pulls != on_gpu.pulls).any(axis=1).sum())
        note = f"{others:,} other runs; means {deviations:.1f} standard errors apart"
        return (len(one) if deviations > MAX_DEVIATIONS else 0), note
    different = (plain.pulls != on_gpu.pulls).any(axis=1)
    scale = max(1.0, float(np.abs(plain.regret).max()))
    different |= (np.abs(plain.regret - on_gpu.regret) > 1e-9 * scale).any(axis=1)
    if plain.eliminated is not None:
        different |= (plain.eliminated != on_gpu.eliminated).any(axis=1)
    for name, values in plain.records.items():
        difference = np.abs(values - on_gpu.records[name]) > 1e-9 * scale
        different |= difference.reshape(len(values), -1).any(axis=1)
    return int(different.sum()), ""


def play_group(name: str, options: argparse.Namespace) -> int:
    """Play a group, print a line for each case, and one that begins with = at the end."""
    runs, different, failed = 0, 0, 0
    for case in groups(options)[name]():
        began, count, note, size = perf_counter(), 0, "", 0
        try:
            if isinstance(case, Check):
                note = case.find_mistake()
                failed += bool(note)
                verdict = "failed" if note else "as expected"
            else:
                size = case.problem.runs
                count, note = count_different(case.problem, options.plain, options.threads)
                verdict = f"{count:,} of {size:,} runs differ"
        except Exception as error:  # the next case may still be played
            failed += 1
            verdict, note = "failed", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        runs, different = runs + size, different + count
        seconds = perf_counter() - began
        print(f"{name:26} {case.name:44} {verdict:26} {seconds:6.1f} s  {note}", flush=True)
    bad = failed > 0 or different > max(MAX_SHARE * runs, 1)
    counts = f"{different:,} of {runs:,} runs differ" if runs else ""
    print(f"= {name:32} {'FAILED' if bad else 'passed':8} {counts} {f'{failed} failed' if failed else ''}")
    return int(bad)


def play_all(names: list[str], options: argparse.Namespace) -> int:
    """Play groups in processes of their own, several at a time, and print a table of how they ended."""
    end = monotonic() + 60.0 * options.minutes
    rest = [f"--runs={options.runs}", f"--steps={options.steps}", f"--plain={options.plain}"]
    rest.append(f"--threads={max((os.cpu_count() or 1) // options.processes, 1)}")

    def play(name: str) -> str:
        seconds = end - monotonic()
        if seconds <= 0.0:
            return f"= {name:32} no time  was left"
        command = [sys.executable, __file__, *rest, "--play", name]
        quiet = {**os.environ, "LOWREGRET_PROGRESS": "0", "PYTHONWARNINGS": "ignore"}
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=quiet
        )
        timer = Timer(seconds, child.kill)
        timer.start()
        last = ""
        for line in child.stdout or ():
            last = line.rstrip()
            print(last, flush=True)
        timer.cancel()
        code = child.wait()
        if last.startswith("= "):
            return last
        return f"= {name:32} FAILED   ended with {code}{', as time was up' if monotonic() >= end else ''}"

    with ThreadPoolExecutor(options.processes) as pool:
        results = list(pool.map(play, names))
    passed = sum(" passed" in line for line in results)
    print("\n" + "\n".join(results))
    print(f"\n{passed} of {len(names)} groups passed", flush=True)
    return int(passed < len(names))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", help="some of the groups")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--steps", type=int, default=100_000, help="the most steps of a run")
    parser.add_argument("--plain", default="compiled", help="the engine to compare with")
    parser.add_argument("--minutes", type=float, default=8.0, help="when to stop what is not finished")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--threads", type=int, default=1, help="of the processor, for each process")
    parser.add_argument("--list", action="store_true", help="print the groups and stop")
    parser.add_argument("--play", help="play one group in this process")
    options = parser.parse_args()
    if options.list:
        print("\n".join(groups(options)))
        return 0
    if options.play:
        return play_group(options.play, options)
    return play_all(options.groups or list(groups(options)), options)


if __name__ == "__main__":
    sys.exit(main())
