"""Tests that any policy, and any store of a live agent, should pass: ours do, and so can yours.

>>> lr.testing.check_policy(lr.UCB1())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import FrozenInstanceError, replace
from typing import Any, TypeAlias

import numpy as np

from lowregret.engine.kernels.lazy.leaves import MIN_BERNOULLI_ARMS
from lowregret.engine.kernels.lazy.separable_index import MAX_ARMS
from lowregret.engine.kernels.posteriors import MIN_BETA_ARMS, MIN_NORMAL_ARMS
from lowregret.engine.problem import Problem
from lowregret.engine.trace import arms_of_renumbered, trace
from lowregret.environments import Bandit, bernoulli, beta, gaussian
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
    width_is_separable,
)
from lowregret.policies.inputs import policy_of
from lowregret.simulation import simulate

MakeStore: TypeAlias = Callable[[str], Store]


def check_policy(policy: Policy | str) -> None:
    """Run the conformance suite on a policy; an ``AssertionError`` names the check that fails.

    It checks that parameters are immutable and validated, that the score depends on what ``index_trend``,
    ``index_depends_on`` and ``separable_width`` say, that the compiled policy pulls the same arms as the
    plain one, that the seed determines a run, that the numbers of the arms do not matter, that one arm
    and scaled rewards are handled, that an agent continues exactly from a snapshot, and that the regret
    is below that of uniform play where that is easy. The last check and the one on numbers are left out
    for a policy with ``learns = False``.

    Parameters
    ----------
    policy : Policy or str
        The policy, with the parameters to test, or its name.

    Examples
    --------
    >>> lr.testing.check_policy(lr.MOSS())
    """
    policy = policy_of(policy)
    skipped = () if policy.learns else (_numbers_do_not_matter, _beats_uniform)
    _run([check for check in CHECKS if check not in skipped], policy, f"{policy}: ")


def _run(checks: Iterable[Callable[[Any], None]], subject: Any, prefix: str = "") -> None:
    """Run checks; a failure begins with the docstring of the check."""
    for check in checks:
        try:
            check(subject)
        except AssertionError as error:
            raise AssertionError(f"{prefix}{(check.__doc__ or '').rstrip('.')}: {error}") from None
        except (ArithmeticError, LookupError, TypeError, AttributeError) as error:  # in the user's methods
            reason = f"{type(error).__name__}: {error}"
            raise AssertionError(f"{prefix}{(check.__doc__ or '').rstrip('.')}: {reason}") from error


def _problems() -> list[tuple[Bandit, int, int]]:
    """Return small problems, Bernoulli and beta arms in turns: bandit, horizon and seed."""
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
        MAX_ARMS + 1: policy.separable_width,
        MIN_NORMAL_ARMS: policy.overrides("normal_posterior"),
        MIN_BETA_ARMS: policy.overrides("beta_posterior"),
    }
    return [
        (bernoulli(np.tile([0.2, 0.5], size)[:size]), size + 40, size)
        for size, needed in sizes.items()
        if needed
    ]


def _parameters_are_checked(policy: Policy) -> None:
    """Parameters are immutable and validated."""
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


def _compiled_equals_plain(policy: Policy) -> None:
    """Compiled, it pulls the same arms as plain."""
    for bandit, horizon, seed in [*_problems(), *_large_problems(policy)]:
        problem = Problem(policy, bandit, horizon, seed)
        plain, fast = (trace(problem, engine).arm for engine in ("reference", "compiled"))
        differ = np.flatnonzero(plain != fast)
        place = f"step {differ[0] + 1}" if len(differ) else ""
        assert not len(differ), f"they differ at {place} of {horizon} on {bandit}, seed {seed}"


def _a_seed_fixes_a_run(policy: Policy) -> None:
    """Given the same seed, it does the same."""
    bandit = bernoulli([0.2, 0.5, 0.6])
    one, other = (simulate(policy, bandit, 400, runs=8, seed=3)[policy].pulls for _ in range(2))
    assert np.array_equal(one, other), "two simulations with one seed differ"


def _numbers_do_not_matter(policy: Policy) -> None:
    """Permuting the arms permutes the pulls."""
    for bandit, horizon, seed in _problems()[::2]:
        numbers = np.random.default_rng(seed).permutation(len(bandit))
        plain, renamed = arms_of_renumbered(Problem(policy, bandit, horizon, seed), numbers)
        assert np.array_equal(numbers[plain], renamed), f"it looks at arm.number on {bandit}"


def _one_arm_is_enough(policy: Policy) -> None:
    """One arm is enough."""
    for horizon in (1, 2, 50):
        pulls = simulate(policy, bernoulli([0.5]), horizon, runs=2)[policy].pulls
        assert pulls.tolist() == [[horizon]] * 2, f"it made {pulls.tolist()} pulls of {horizon}"


def _scaling_works(policy: Policy) -> None:
    """Rewards scaled to [0, 1] are as good as rewards that lie there."""
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


def _survives_a_snapshot(policy: Policy) -> None:
    """Restored from a snapshot, an agent chooses the same arms."""
    for bandit, horizon, seed in _problems()[1::2]:
        names = [str(number) for number in range(len(bandit))]
        agent = Agent(policy, names, horizon, seed=seed)
        expected = trace(Problem(policy, bandit, horizon, seed), "reference")
        for step, (arm, reward) in enumerate(zip(expected.arm, expected.reward, strict=True), 1):
            choice = agent.ask()
            assert int(choice.arm) == arm, f"they differ at step {step} of {horizon} on {bandit}"
            agent.tell(choice, reward)
            if step == 1 + seed * 7 % horizon:
                agent = Agent.from_json(agent.to_json(), policy)


def _beats_uniform(policy: Policy) -> None:
    """Its regret is below that of uniform play on an easy bandit."""
    bandit = bernoulli([0.1, 0.1, 0.1, 0.1, 0.9])
    horizon = 5_000 if policy.uses_rewards else 300_000
    regret = simulate(policy, bandit, horizon, runs=3, seed=1, grid=1).regret(policy).mean()
    uniform = horizon * bandit.gaps.mean()
    assert regret < 0.95 * uniform, f"{regret:.0f}, and uniform play has {uniform:.0f}"


CHECKS: tuple[Callable[[Policy], None], ...] = (
    _parameters_are_checked,
    constant_index_ignores_time,
    index_depends_on_what_it_says,
    width_is_separable,
    _compiled_equals_plain,
    _a_seed_fixes_a_run,
    _numbers_do_not_matter,
    _one_arm_is_enough,
    _scaling_works,
    _survives_a_snapshot,
    _beats_uniform,
)


def check_store(make_store: MakeStore) -> None:
    """Run the conformance suite on a store of live agents; an ``AssertionError`` names the check that fails.

    It checks that a store returns what was appended, exactly and in order, also after it was closed and
    opened again; that a session that raises leaves nothing behind; that a snapshot replaces the one before;
    that answers and requests are found; and that an agent continues where it was.

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
    _run(STORE_CHECKS, make_store)


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


def _new(make_store: MakeStore, name: str, events: list[Event]) -> Store:
    """Make a store with a header and some events."""
    store = make_store(name)
    with store.session(1.0):
        store.create("header")
        store.append(events)
    return store


def _and_reopened(store: Store, make_store: MakeStore, name: str) -> Iterator[Store]:
    """Yield a store, and then the same one after it was closed and opened again; close it at the end."""
    yield store
    store.close()
    with closing(make_store(name)) as again:
        yield again


def _new_is_empty(make_store: MakeStore) -> None:
    """Hold nothing when new."""
    with closing(make_store("new")) as store:
        assert store.header() is None, f"it begins with {store.header()!r}"
        assert store.latest_snapshot() is None, f"it has the snapshot {store.latest_snapshot()}"
        assert store.events(0) == [], f"it has {store.events(0)}"


def _gives_back(make_store: MakeStore) -> None:
    """Events and the header come back as they were, in order."""
    with closing(make_store("events")) as store:
        with store.session(1.0):
            store.create(f"header {_SNOW}")
        for start in (0, 3):
            with store.session(1.0):
                store.append(_EVENTS[start : start + 3])
    store = make_store("events")
    with store.session(1.0):
        store.append(_EVENTS[6:7])
        store.append(_EVENTS[7:])
    for opened in _and_reopened(store, make_store, "events"):
        assert opened.header() == f"header {_SNOW}", f"it begins with {opened.header()!r}"
        for after in range(len(_EVENTS) + 1):
            assert opened.events(after) == _EVENTS[after:], f"after {after} it has {opened.events(after)}"
            some = opened.events(after, 2)
            assert some == _EVENTS[after : after + 2], f"the two after {after} are {some}"


def _takes_back(make_store: MakeStore) -> None:
    """Sessions that raise leave nothing behind."""
    for known in ([], _EVENTS[:2]):
        store = _new(make_store, "raising", known) if known else make_store("raising")
        with suppress(KeyError), store.session(1.0):
            store.append(_EVENTS[2:])
            store.save_snapshot(9, "snapshot")
            raise KeyError
        for opened in _and_reopened(store, make_store, "raising"):
            assert opened.events(0) == known, f"it has {opened.events(0)} after {known}"
            assert opened.latest_snapshot() is None, f"it has the snapshot {opened.latest_snapshot()}"


def _keeps_the_latest(make_store: MakeStore) -> None:
    """Snapshots replace the one before."""
    store = _new(make_store, "snapshots", [])
    for position, text in ((0, "first"), (2, f'{{"second": "{_SNOW}"}}')):
        with store.session(1.0):
            store.save_snapshot(position, text)
            store.append(_EVENTS[position : position + 2])
        for opened in _and_reopened(store, make_store, "snapshots"):
            assert opened.latest_snapshot() == (position, text), f"the latest is {opened.latest_snapshot()}"
        store = make_store("snapshots")
    assert store.events(0) == _EVENTS[:4], f"it has {store.events(0)}"
    store.close()


def _finds(make_store: MakeStore) -> None:
    """Answers and requests are found."""
    for store in _and_reopened(_new(make_store, "finding", _EVENTS), make_store, "finding"):
        for decision, places in ((1, [0, 1]), (2, [2, 7]), (3, [3]), (4, [])):
            answers = store.events_of_decision(decision)
            assert answers == [_EVENTS[place] for place in places], f"decision {decision} has {answers}"
        for request, events in (("visit", [_EVENTS[0], _EVENTS[2]]), ("other", [])):
            asked = store.events_of_request(request)
            assert asked == events, f"{request!r} gives {asked}"
        several = store.events_of_requests(["other", "visit"])
        assert several == [_EVENTS[0], _EVENTS[2]], f"two requests have {several}"


def _drops(make_store: MakeStore) -> None:
    """Compacted events are replaced by a snapshot, and erased requests have no name."""
    store = _new(make_store, "compacting", _EVENTS)
    with store.session(1.0):
        store.save_snapshot(len(_EVENTS), "latest")
    with store.session(1.0):
        store.compact(2, "first")
    for opened in _and_reopened(store, make_store, "compacting"):
        kept = opened.header(), opened.first_snapshot(), opened.latest_snapshot()
        assert kept == ("header", (2, "first"), (len(_EVENTS), "latest")), f"it has {kept}"
        assert opened.events(2) == _EVENTS[2:], f"after 2 it has {opened.events(2)}"
        with suppress(CompactedError):
            raise AssertionError(f"after 1 it has {opened.events(1)}")
        assert opened.events_of_decision(1) == [], f"decision 1 has {opened.events_of_decision(1)}"
    store = make_store("compacting")
    with store.session(1.0):
        store.erase("visit")
    with store.session(1.0):
        store.append(_EVENTS[:1])
    for opened in _and_reopened(store, make_store, "compacting"):
        asked = opened.events_of_request("visit")
        assert asked == _EVENTS[:1], f"the request has {asked}"
        expected = [_EVENTS[2]._replace(request=None), *_EVENTS[3:], _EVENTS[0]]
        assert opened.events(2) == expected, f"after 2 it has {opened.events(2)}"


def _goes_on(make_store: MakeStore) -> None:
    """Agents continue where they were."""
    plain = open_agent(make_store("whole"), UCB1(), ["red", "green"], seed=4)
    stopped = open_agent(make_store("stopped"), UCB1(), ["red", "green"], seed=4)
    for turn in range(1, 131):  # enough for a snapshot
        one, other = plain.ask(10), stopped.ask(10)
        here, there = ([choice.arm for choice in choices] for choices in (one, other))
        assert here == there, f"they choose {there}, not {here}, after {10 * turn - 10} pulls"
        for agent, choices in ((plain, one), (stopped, other)):
            agent.tell_many((choice, place % 3 / 2) for place, choice in enumerate(choices, turn))
        if turn % 13 == 0:
            stopped.close()
            stopped = open_agent(make_store("stopped"), UCB1(), ["red", "green"], seed=4)
    plain.close()
    stopped.close()


STORE_CHECKS: tuple[Callable[[MakeStore], None], ...] = (
    _new_is_empty,
    _gives_back,
    _takes_back,
    _keeps_the_latest,
    _finds,
    _drops,
    _goes_on,
)
