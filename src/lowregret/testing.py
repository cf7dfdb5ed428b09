"""Tests that any policy, and any store of a live agent, should pass: ours do, and so can yours.

>>> lr.testing.check_policy(lr.UCB1())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np

from lowregret._common.arrays import Integers
from lowregret.engine.backends import run
from lowregret.engine.kernels.lazy.leaves import MIN_BERNOULLI_ARMS
from lowregret.engine.kernels.lazy.separable_index import MAX_SMALL_ARMS
from lowregret.engine.kernels.posteriors import MIN_BETA_ARMS, MIN_NORMAL_ARMS
from lowregret.engine.problem import PATH, Problem
from lowregret.engine.trace import arms_of_renumbered, trace
from lowregret.environments import Bandit, bernoulli, beta, environment, gaussian
from lowregret.environments.families import Bernoulli
from lowregret.errors import InputError
from lowregret.online.agent import Agent
from lowregret.online.decisions import Event
from lowregret.online.open_agent import open_agent
from lowregret.online.stores import CompactedError, Store
from lowregret.policies import UCB1, Policy
from lowregret.policies.annotations import parameters_of
from lowregret.policies.base import fields_of
from lowregret.policies.index_claims import (
    constant_index_ignores_time,
    index_depends_on_what_it_says,
    index_moves_as_it_says,
    width_is_separable,
)
from lowregret.policies.inputs import policy_of
from lowregret.simulation import simulate


class PolicyTests:
    """The conformance suite of policies as tests with names, which pytest finds in a class derived from this.

    Attributes
    ----------
    policy : Policy or str
        The policy, with the parameters to test, or its name.
    bandit : Bandit or str, optional
        What it plays on, for a policy that is made for other rewards than those in [0, 1]; by default small
        bandits of ours. The tests on one arm and on scaled rewards then pass unseen.

    Examples
    --------
    >>> class TestMine(lr.testing.PolicyTests):
    ...     policy = lr.UCB1(alpha=1)
    >>> TestMine().test_one_arm_is_enough()
    """

    policy: Policy | str
    bandit: Bandit | str | None = None

    @property
    def _bandit(self) -> Bandit | None:
        return None if self.bandit is None else environment(self.bandit)

    def test_parameters_are_checked(self) -> None:
        """Parameters are immutable and validated."""
        policy = policy_of(self.policy)
        for field in fields_of(policy):
            with suppress(FrozenInstanceError):
                setattr(policy, field.name, getattr(policy, field.name))
                raise AssertionError(f"{field.name} can be changed")
            types = parameters_of(type(policy))[field.name].types
            if float in types or int in types:
                for bad in (float("nan"), "text", None)[: 2 if None in types else 3]:
                    with suppress(InputError):
                        replace(policy, **{field.name: bad})  # type: ignore[type-var]
                        raise AssertionError(f"{field.name}={bad!r} is accepted")

    def test_constant_index_ignores_time(self) -> None:
        """Scores and lower bounds do not depend on time, as index_trend = "constant" says."""
        constant_index_ignores_time(policy_of(self.policy))

    def test_index_moves_as_it_says(self) -> None:
        """Scores of arms that are not pulled increase or decrease with time, as index_trend says."""
        index_moves_as_it_says(policy_of(self.policy))

    def test_index_depends_on_what_it_says(self) -> None:
        """Scores depend on what index_depends_on says, and do not decrease with it."""
        index_depends_on_what_it_says(policy_of(self.policy))

    def test_width_is_separable(self) -> None:
        """Widths are a function of the pulls times one of time, as separable_width says."""
        width_is_separable(policy_of(self.policy))

    def test_rounds_keep_all_arms(self) -> None:
        """No round eliminates an arm, as rounds_eliminate = False says."""
        policy = policy_of(self.policy)
        if policy.rounds_eliminate or not policy.overrides("next_round"):
            return
        for bandit, horizon, seed in _problems(self._bandit):
            problem = Problem(policy, bandit, horizon, seed, record=frozenset({PATH}))
            active = run(problem, "reference").records[PATH][0, :, 2]
            gone = np.flatnonzero(active < len(bandit))
            assert not len(gone), f"an arm is eliminated at step {gone[0] + 1} on {bandit}, seed {seed}"

    def test_compiled_equals_plain(self) -> None:
        """Compiled, it pulls the same arms as plain."""
        policy = policy_of(self.policy)
        large = [] if self.bandit else _large_problems(policy)
        for bandit, horizon, seed in [*_problems(self._bandit), *large]:
            problem = Problem(policy, bandit, horizon, seed)
            plain, fast = (trace(problem, engine).arm for engine in ("reference", "compiled"))
            differ = np.flatnonzero(plain != fast)
            if len(differ):
                place = f"step {differ[0] + 1} of {horizon} on {bandit}, seed {seed}"
                raise AssertionError(f"they differ at {place}{_false_claim(problem, plain)}")

    def test_a_seed_fixes_a_run(self) -> None:
        """Given the same seed, it does the same."""
        policy = policy_of(self.policy)
        bandit = self._bandit or bernoulli([0.2, 0.5, 0.6])
        one, other = (simulate(policy, bandit, 400, runs=8, seed=3)[policy].pulls for _ in range(2))
        assert np.array_equal(one, other), "two simulations with one seed differ"

    def test_numbers_do_not_matter(self) -> None:
        """Permuting the arms permutes the pulls."""
        policy = policy_of(self.policy)
        if not policy.learns:
            return
        for bandit, horizon, seed in _problems(self._bandit)[::2]:
            numbers = np.random.default_rng(seed).permutation(len(bandit))
            plain, renamed = arms_of_renumbered(Problem(policy, bandit, horizon, seed), numbers)
            assert np.array_equal(numbers[plain], renamed), f"it looks at arm.number on {bandit}"

    def test_one_arm_is_enough(self) -> None:
        """One arm is enough."""
        policy = policy_of(self.policy)
        if self.bandit:
            return
        for horizon in (1, 2, 50):
            pulls = simulate(policy, bernoulli([0.5]), horizon, runs=2)[policy].pulls
            assert pulls.tolist() == [[horizon]] * 2, f"it made {pulls.tolist()} pulls of {horizon}"

    def test_scaling_works(self) -> None:
        """Rewards scaled to [0, 1] are as good as rewards that lie there."""
        policy = policy_of(self.policy)
        if self.bandit:
            return
        means = [0.1, 0.5, 0.8]
        far = Bandit(tuple(Bernoulli(p, failure=-2.0, success=6.0) for p in means), "far")
        here = simulate(policy, bernoulli(means), 300, runs=5, seed=2)[policy].pulls
        there = simulate(policy, far.scaled(-2.0, 6.0), 300, runs=5, seed=2)[policy].pulls
        assert np.array_equal(here, there), "pulls differ after scaling"
        if "rewards in [0, 1]" in policy.needs:
            with suppress(InputError):
                simulate(policy, far, 10, runs=1)
                raise AssertionError("rewards outside [0, 1] are accepted unasked")
            simulate(policy, gaussian(means, 1.0), 100, runs=1, clip=True)

    def test_survives_a_snapshot(self) -> None:
        """Restored from a snapshot, an agent chooses the same arms."""
        policy = policy_of(self.policy)
        for bandit, horizon, seed in _problems(self._bandit)[1::2]:
            names, (low, high) = [str(number) for number in range(len(bandit))], bandit.support
            within = (low, high) if -np.inf < low < high < np.inf else None
            agent = Agent(policy, names, horizon, seed=seed, reward_range=within)
            expected = trace(Problem(policy, bandit, horizon, seed), "reference")
            for step, (arm, reward) in enumerate(zip(expected.arm, expected.reward, strict=True), 1):
                choice = agent.ask()
                assert int(choice.arm) == arm, f"they differ at step {step} of {horizon} on {bandit}"
                agent.tell(choice, reward)
                if step == 1 + seed * 7 % horizon:
                    agent = Agent.from_json(agent.to_json(), policy)

    def test_beats_uniform(self) -> None:
        """Its regret is below that of uniform play on an easy bandit."""
        policy = policy_of(self.policy)
        if not policy.learns or policy.identifies:
            return
        bandit = self._bandit or bernoulli([0.1, 0.1, 0.1, 0.1, 0.9])
        horizon = 5_000 if policy.uses_rewards else 300_000
        if self.bandit:
            horizon = min(bandit.horizon or 5_000, horizon)
        regret = simulate(policy, bandit, horizon, runs=3, seed=1, grid=1).regret(policy).mean()
        uniform = horizon * bandit.gaps.mean()
        assert regret < 0.95 * uniform, f"{regret:.0f}, and uniform play has {uniform:.0f}"


def check_policy(policy: Policy | str, bandit: Bandit | str | None = None) -> None:
    """Run the conformance suite on a policy; an ``AssertionError`` names the check that fails.

    It checks that parameters are immutable and validated, that the score depends on what ``index_trend``,
    ``index_depends_on`` and ``separable_width`` say, that rounds eliminate no arm if ``rounds_eliminate`` is
    False, that the compiled policy pulls the same arms as the
    plain one, that the seed determines a run, that the numbers of the arms do not matter, that one arm
    and scaled rewards are handled, that an agent continues exactly from a snapshot, and that the regret
    is below that of uniform play where that is easy. The last check and the one on numbers are left out
    for a policy with ``learns = False``, the last for one with ``identifies = True``. `PolicyTests` has the
    same as tests with names.

    Parameters
    ----------
    policy : Policy or str
        The policy, with the parameters to test, or its name.
    bandit : Bandit or str, optional
        What it plays on, as for `PolicyTests`.

    Examples
    --------
    >>> lr.testing.check_policy(lr.MOSS())
    """
    tests = PolicyTests()
    tests.policy, tests.bandit = policy_of(policy), bandit
    checks = [getattr(tests, name) for name in vars(PolicyTests) if name.startswith("test_")]
    _run(checks, prefix=f"{tests.policy}: ")


def _run(checks: Iterable[Callable[[], None]], prefix: str = "") -> None:
    """Run checks; a failure begins with the docstring of the check."""
    for check in checks:
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"{prefix}{(check.__doc__ or '').rstrip('.')}: {error}") from None
        except (ArithmeticError, LookupError, TypeError, AttributeError) as error:  # in the user's methods
            reason = f"{type(error).__name__}: {error}"
            raise AssertionError(f"{prefix}{(check.__doc__ or '').rstrip('.')}: {reason}") from error


def _problems(bandit: Bandit | None = None) -> list[tuple[Bandit, int, int]]:
    """Return small problems, Bernoulli and beta arms in turns: bandit, horizon and seed."""
    if bandit is not None:
        return [(bandit, horizon, seed) for seed, horizon in enumerate((120, 7, 90, 200))]
    draws = np.random.default_rng(8)
    problems = []
    for size, horizon in ((1, 20), (2, 120), (3, 7), (5, 120), (9, 90), (16, 10), (12, 120)):
        means = draws.random(size).round(2)
        problems.append((bernoulli(means), horizon, size))
        problems.append((beta(1.0 + 3.0 * means, 4.0 - 3.0 * means), horizon, size + 1))
    return problems


def _large_problems(policy: Policy) -> list[tuple[Bandit, int, int]]:
    """Return problems with as many arms as the shortcuts need that the claims of a class select."""
    sizes = {
        MIN_BERNOULLI_ARMS: bool(policy.index_depends_on),
        MAX_SMALL_ARMS + 1: policy.separable_width,
        MIN_NORMAL_ARMS: policy.overrides("normal_posterior"),
        MIN_BETA_ARMS: policy.overrides("beta_posterior"),
    }
    return [
        (bernoulli(np.tile([0.2, 0.5], size)[:size]), size + 40, size)
        for size, needed in sizes.items()
        if needed
    ]


def _false_claim(problem: Problem, plain: Integers) -> str:
    """Return which claim of the class makes the compiled policy differ, "" if none does.

    Claims are withdrawn one after the other until the compiled policy pulls the arms of the plain one.
    """
    policy, kept = problem.policy, dict[str, Any]()
    for claim, nothing in NO_CLAIMS.items():
        claimed = getattr(policy, claim)
        if claimed == nothing:
            continue
        kept[claim] = nothing
        humble = type(type(policy).__name__, (type(policy),), dict(kept))
        same = humble(**{field.name: getattr(policy, field.name) for field in fields_of(policy)})
        if np.array_equal(trace(replace(problem, policy=same), "compiled").arm, plain):
            return f", since {claim} = {claimed!r} is false: without this claim they agree"
    return ""


NO_CLAIMS: dict[str, Any] = {
    "separable_width": False,
    "index_depends_on": (),
    "index_trend": "arbitrary",
    "rounds_eliminate": True,
}
"""What a class claims that the simulator relies on, and the value that claims nothing."""


_SNOW = "\u2603"
_EVENTS = [
    Event("asked", 1, f"red {_SNOW}", None, 1, 1.0, 0, "visit", "5f", 1.7e9),
    Event("told", 1, None, 0.1 + 0.2, timestamp=1.7e9 + 0.1),
    Event("asked", 2, "", None, 2, None, 2**40, "visit", "c0", 1.7e9),
    Event("asked", 3, "", None, 3, 0.5, 2**40, None, "ff"),
    Event("conflict", 1, None, 1.0),
    Event("added", None, "blue"),
    Event("retired", None, "blue"),
    Event("forgot", 2),
    Event("matured", 3, None, 0.0),
]


class StoreTests:
    """Tests of a store of live agents: derive a class from it, and pytest runs each test by its name.

    They say what an agent relies on in one process. That a store is durable, and excludes other processes,
    needs tests that kill some.

    Examples
    --------
    >>> from lowregret.online.stores.in_memory import MemoryStore
    >>> class TestMine(lr.testing.StoreTests):
    ...     def setup_method(self):
    ...         self.stores = {}
    ...     def make_store(self, name):
    ...         return self.stores.setdefault(name, MemoryStore())
    >>> mine = TestMine()
    >>> mine.setup_method()
    >>> mine.test_a_new_store_is_empty()
    """

    def make_store(self, name: str) -> Store:
        """Open the store of a name: a new one the first time, and the same one whenever it was closed."""
        raise NotImplementedError

    def test_a_new_store_is_empty(self) -> None:
        """A new store is empty."""
        with closing(self.make_store("new")) as store:
            assert store.header() is None, f"it begins with {store.header()!r}"
            assert store.latest_snapshot() is None, f"it has the snapshot {store.latest_snapshot()}"
            assert store.events(0) == [], f"it has {store.events(0)}"

    def test_what_was_appended_is_returned(self) -> None:
        """Events and the header come back as they were, in order."""
        with closing(self.make_store("events")) as store:
            with store.session(1.0):
                store.create(f"header {_SNOW}")
            for start in (0, 3):
                with store.session(1.0):
                    store.append(_EVENTS[start : start + 3])
        store = self.make_store("events")
        with store.session(1.0):
            store.append(_EVENTS[6:7])
            store.append(_EVENTS[7:])
        for opened in _and_reopened(store, self, "events"):
            assert opened.header() == f"header {_SNOW}", f"it begins with {opened.header()!r}"
            for after in range(len(_EVENTS) + 1):
                assert opened.events(after) == _EVENTS[after:], f"after {after} it has {opened.events(after)}"
                some = opened.events(after, 2)
                assert some == _EVENTS[after : after + 2], f"the two after {after} are {some}"

    def test_a_session_that_raises_leaves_nothing(self) -> None:
        """Sessions that raise leave nothing behind."""
        for known in ([], _EVENTS[:2]):
            store = _new(self, "raising", known) if known else self.make_store("raising")
            with suppress(KeyError), store.session(1.0):
                store.append(_EVENTS[2:])
                store.save_snapshot(9, "snapshot")
                raise KeyError
            for opened in _and_reopened(store, self, "raising"):
                assert opened.events(0) == known, f"it has {opened.events(0)} after {known}"
                assert opened.latest_snapshot() is None, f"it has the snapshot {opened.latest_snapshot()}"

    def test_a_snapshot_replaces_the_one_before(self) -> None:
        """A snapshot replaces the one before."""
        store = _new(self, "snapshots", [])
        for position, text in ((0, "first"), (2, f'{{"second": "{_SNOW}"}}')):
            with store.session(1.0):
                store.save_snapshot(position, text)
                store.append(_EVENTS[position : position + 2])
            for opened in _and_reopened(store, self, "snapshots"):
                assert opened.latest_snapshot() == (position, text), (
                    f"the latest is {opened.latest_snapshot()}"
                )
            store = self.make_store("snapshots")
        assert store.events(0) == _EVENTS[:4], f"it has {store.events(0)}"
        store.close()

    def test_answers_and_requests_are_found(self) -> None:
        """Answers and requests are found."""
        for store in _and_reopened(_new(self, "finding", _EVENTS), self, "finding"):
            for decision, places in ((1, [0, 1]), (2, [2, 7]), (3, [3]), (4, [])):
                answers = store.events_of_decision(decision)
                assert answers == [_EVENTS[place] for place in places], f"decision {decision} has {answers}"
            for request, events in (("visit", [_EVENTS[0], _EVENTS[2]]), ("other", [])):
                asked = store.events_of_request(request)
                assert asked == events, f"{request!r} gives {asked}"
            several = store.events_of_requests(["other", "visit"])
            assert several == [_EVENTS[0], _EVENTS[2]], f"two requests have {several}"

    def test_compacted_events_and_erased_names_are_gone(self) -> None:
        """Compacted events are replaced by a snapshot, and erased requests have no name."""
        store = _new(self, "compacting", _EVENTS)
        with store.session(1.0):
            store.save_snapshot(len(_EVENTS), "latest")
        with store.session(1.0):
            store.compact(2, "first")
        for opened in _and_reopened(store, self, "compacting"):
            kept = opened.header(), opened.first_snapshot(), opened.latest_snapshot()
            assert kept == ("header", (2, "first"), (len(_EVENTS), "latest")), f"it has {kept}"
            assert opened.events(2) == _EVENTS[2:], f"after 2 it has {opened.events(2)}"
            with suppress(CompactedError):
                raise AssertionError(f"after 1 it has {opened.events(1)}")
            assert opened.events_of_decision(1) == [], f"decision 1 has {opened.events_of_decision(1)}"
        store = self.make_store("compacting")
        with store.session(1.0):
            store.erase("visit")
        with store.session(1.0):
            store.append(_EVENTS[:1])
        for opened in _and_reopened(store, self, "compacting"):
            asked = opened.events_of_request("visit")
            assert asked == _EVENTS[:1], f"the request has {asked}"
            expected = [_EVENTS[2]._replace(request=None), *_EVENTS[3:], _EVENTS[0]]
            assert opened.events(2) == expected, f"after 2 it has {opened.events(2)}"

    def test_an_agent_continues_where_it_was(self) -> None:
        """Agents continue where they were."""
        plain = open_agent(self.make_store("whole"), UCB1(), ["red", "green"], seed=4)
        stopped = open_agent(self.make_store("stopped"), UCB1(), ["red", "green"], seed=4)
        for turn in range(1, 131):  # enough for a snapshot
            one, other = plain.ask(10), stopped.ask(10)
            here, there = ([choice.arm for choice in choices] for choices in (one, other))
            assert here == there, f"they choose {there}, not {here}, after {10 * turn - 10} pulls"
            for agent, choices in ((plain, one), (stopped, other)):
                agent.tell_many((choice, place % 3 / 2) for place, choice in enumerate(choices, turn))
            if turn % 13 == 0:
                stopped.close()
                stopped = open_agent(self.make_store("stopped"), UCB1(), ["red", "green"], seed=4)
        plain.close()
        stopped.close()


def _new(tests: StoreTests, name: str, events: list[Event]) -> Store:
    """Make a store with a header and some events."""
    store = tests.make_store(name)
    with store.session(1.0):
        store.create("header")
        store.append(events)
    return store


def _and_reopened(store: Store, tests: StoreTests, name: str) -> Iterator[Store]:
    """Yield a store, and then the same one after it was closed and opened again; close it at the end."""
    yield store
    store.close()
    with closing(tests.make_store(name)) as again:
        yield again


def check_store(make_store: Callable[[str], Store]) -> None:
    """Run all of ``StoreTests`` on a store; an ``AssertionError`` names the first test that fails.

    Parameters
    ----------
    make_store : callable
        Opens the store of a name: a new one the first time, and the same one whenever it was closed.

    Examples
    --------
    >>> from lowregret.online.stores.in_memory import MemoryStore
    >>> stores = {}
    >>> lr.testing.check_store(lambda name: stores.setdefault(name, MemoryStore()))
    """

    class Tests(StoreTests):
        def make_store(self, name: str) -> Store:
            return make_store(name)

    tests = Tests()
    _run(getattr(tests, name) for name in vars(StoreTests) if name.startswith("test_"))
