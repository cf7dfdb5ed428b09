"""Helpers for tests of agents, and the processes that some of them start and kill, which import this file."""

import gc
import json
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from time import monotonic, sleep
from traceback import print_exc

from forked import LIMIT_SECONDS

import lowregret as lr
from lowregret.online import transactions
from lowregret.online.agent_state import AgentState
from lowregret.online.event_replay import replay
from lowregret.online.snapshot import write
from lowregret.online.transactions import Transactions

ARMS = ["red", "green", "blue"]
WORK = 10_000
"""How many bytes of diaries the workers write at most before one of them dies, some 60 calls."""


def opened(path, name="default"):
    return lr.open_agent(path, lr.UCB1(), ARMS, seed=3, name=name)


def agent_of(seed, names):
    """Return the name of the agent that a worker uses."""
    return names[seed * 7 % 3 % len(names)]


def check_replay(agent, counts_days=True):
    """Check that the state of an agent is the replay of its log."""
    state = agent.transactions.state
    replayed = AgentState(state.settings, state.token)
    replay(replayed, agent.transactions.store.events(0))
    if not counts_days:
        replayed.by_period = state.by_period
    assert write(replayed, for_store=True) == write(state, for_store=True)


def contents(agent):
    """Return an agent as JSON, without what differs between two that do the same: keys and timestamps."""
    text = re.sub(r'[0-9a-f]{32}-(?=[0-9]+")', "", agent.to_json())
    parts = {**json.loads(text), "agent": None}
    for decisions in (parts["pending"], *parts["requests"].values()):
        del decisions["timestamp"]
    return parts


LOCKING = {
    Transactions._run_exclusively.__code__,
    Transactions._exclusive.__wrapped__.__code__,
    Transactions.reading.__wrapped__.__code__,
}
"""Here an interrupt of ours could come between a lock and its release, where Python lets none in."""


def interrupted(call, after, *modules):
    """Call a function and interrupt it after so many bytecodes of some modules."""
    files, seen = {module.__file__ for module in modules}, 0

    def trace(frame, event, _):
        nonlocal seen
        if frame.f_code.co_filename not in files or frame.f_code in LOCKING:
            return None
        frame.f_trace_opcodes = True
        seen += event == "opcode"
        if seen > after:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    gc.disable()  # which would run the code of stores that other tests have left, within the call
    sys.settrace(trace)
    try:
        return call()
    finally:
        sys.settrace(None)
        gc.enable()


def number(key):
    return int(key.rpartition("-")[2])


def reward(key):
    """Return the reward of a decision, a multiple of 1/4, so that sums are exact."""
    return number(key) * 3 % 5 / 4


def is_lost(key):
    """Return whether the reward of a decision is never reported."""
    return number(key) % 7 == 0


CALLS = {
    "ask": lambda agent, count, request: agent.ask(count, request=request),
    "tell": lambda agent, keys: agent.tell_many((key, reward(key)) for key in keys),
    "name": lambda agent, request, key: agent.tell(request=request, reward=reward(key)),
    "observe": lambda agent, arm, reward, request: agent.observe(arm, reward, 0.5, request),
    "contradict": lambda agent, key: agent.tell(key, 1.0 - reward(key) / 2.0),
    "forget": lambda agent, key: agent.forget(key),
    "add": lambda agent, arm: agent.add_arm(arm),
    "retire": lambda agent, arm: agent.retire_arm(arm),
}


def attempt(agent, diary, call, *what):
    """Write down what is tried, try it, and write down what the agent has acknowledged.

    What finds no store is tried again.
    """
    lost = True
    while lost:
        os.write(diary, json.dumps([call, *what]).encode() + b"\n")
        try:
            done, lost = CALLS[call](agent, *what), False
        except lr.LowRegretError as error:
            done, lost = str(error), isinstance(error, lr.StoreError)
        os.write(diary, json.dumps(["done", done]).encode() + b"\n")
    return done


def live(path: str, diary: int, seed: int, again: list[list], names: list[str]) -> None:
    """Make again calls that were made before, and then do all that can be done to an agent, until killed."""
    random, agent, parent = Random(seed), opened(path, agent_of(seed, names)), os.getppid()
    for call in again:
        attempt(agent, diary, *call)
    for turn in range(10**9):
        assert os.getppid() == parent, "nobody is left to kill this worker"
        waiting = [choice.id for choice in agent.pending]
        if len(waiting) < 6 or random.random() < 0.4:
            request = f"{seed}, {turn}" if random.random() < 0.5 else None
            choices = attempt(agent, diary, "ask", random.choice([1, 1, 1, 2, 9]), request)
            if request and len(choices) == 1 and random.random() < 0.5 and not is_lost(choices[0][0]):
                attempt(agent, diary, "name", request, choices[0][0])
        else:
            some = random.sample(waiting, random.choice([1, 1, 2, 6]))
            for key in filter(is_lost, some):
                attempt(agent, diary, "forget", key)
            attempt(agent, diary, "tell", [key for key in some if not is_lost(key)])
            if random.random() < 0.1:  # both ways of being answered
                attempt(agent, diary, "contradict", some[0])
        if random.random() < 0.2:
            what = random.choice(ARMS), random.randrange(5) / 4, f"observed {seed}, {turn}"
            for _ in range(random.choice([1, 2])):  # the second time it is known
                attempt(agent, diary, "observe", *what)
        if random.random() < 0.1:
            guests = sorted(set(agent.arms) - set(ARMS))
            if len(guests) > 1:
                attempt(agent, diary, "retire", random.choice(guests))
            else:
                attempt(agent, diary, "add", f"guest {seed}, {turn}")


def forked(path: str, diary: Path, seed: int, again: list[list], names: list[str]) -> int:
    """Start a worker; a kill takes nothing from a file that it wrote to."""
    process = os.fork()
    if process == 0:
        signal.alarm(LIMIT_SECONDS)
        try:
            live(path, os.open(diary, os.O_WRONLY | os.O_CREAT), seed, again, names)
        except BaseException:
            print_exc()
        finally:
            os._exit(1)
    return process


class Child:
    """A fork that runs a function, which may wait for its parent and let its parent wait."""

    def __init__(self, function):
        (self._read, write), (read, self._write) = os.pipe(), os.pipe()
        self.process = os.fork()
        if self.process == 0:
            signal.alarm(LIMIT_SECONDS)
            code = 1
            try:
                self._read, self._write = read, write
                code = function(self) or 0
            except BaseException:
                print_exc()
            finally:
                os._exit(code)
        os.close(read)
        os.close(write)  # so that its end is noticed

    def signal(self):
        os.write(self._write, b".")

    def wait(self):
        assert os.read(self._read, 1) == b"."

    def end(self):
        os.close(self._read)
        os.close(self._write)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def entries(diary: Path) -> list[tuple[list, object]]:
    """Give what a worker tried and what it was answered: None for what it was doing when it died."""
    lines = diary.read_bytes().split(b"\n")[:-1] if diary.exists() else []
    words = [json.loads(line) for line in lines]
    tried = [word for word in words if word[0] != "done"]
    done = [word for word in words if word[0] == "done"]
    return list(zip(tried, done + [None] * (len(tried) - len(done)), strict=True))


def asked_for(diary: Path, random: Random) -> list[list]:
    """Give the last request of a worker, which may have been cut off, and one from before."""
    calls = []
    for kind in ("ask", "observe"):
        requests = [tried for tried, _ in entries(diary) if tried[0] == kind and tried[-1]]
        calls += [*requests[-1:], random.choice(requests)] if requests else []
    return calls


def let_work(alive: dict[int, Path], size: int) -> None:
    """Wait until the workers have written so many bytes more, however long that takes them."""

    def written() -> int:
        return sum(diary.stat().st_size for diary in alive.values() if diary.exists())

    wanted, end = written() + size, monotonic() + 120
    while written() < wanted:
        assert monotonic() < end, "the workers do nothing"
        sleep(0.001)


def slaughter(
    path: str, kills: int, at_once: int, seed: int, names: list[str], folder: Path | None = None
) -> int:
    """Keep some workers alive and kill them, one or all at a time; give how many died by our hand."""
    folder = Path(path).parent if folder is None else folder
    random, born, killed = Random(seed), 0, 0
    transactions.SNAPSHOT_EVERY = 50  # so that kills meet many of them
    for name in names:
        opened(path, name).close()
    alive: dict[int, Path] = {}
    again: list[list] = []
    try:
        while alive or born < kills:
            while len(alive) < at_once and born < kills:
                diary = folder / f"{born}.diary"
                alive[forked(path, diary, born, again, names)] = diary
                born += 1
            if random.random() < 0.8:  # else some die while they open the store
                let_work(alive, random.randrange(1, WORK))
            sleep(random.uniform(0.0, 0.02))
            dying = list(alive) if random.random() < 0.3 else [random.choice(list(alive))]
            diaries = [alive.pop(process) for process in dying]
            killed += ended(dying).count(signal.SIGKILL)
            again = [request for diary in diaries for request in asked_for(diary, random)]
    finally:
        ended(alive)
    return killed


def ended(processes: Iterable[int]) -> list[int]:
    """Kill workers; give the signals that they ended by."""
    processes = list(processes)
    for process in processes:
        os.kill(process, signal.SIGKILL)
    return [os.WTERMSIG(os.waitpid(process, 0)[1]) for process in processes]


def crowd(path: str, folder: Path, end: Path, workers: int, names: list[str]) -> list[int]:
    """Let workers live until a file exists, and kill them then; give how they ended."""
    transactions.SNAPSHOT_EVERY = 50
    for name in names:
        opened(path, name).close()
    alive = [forked(path, folder / f"{seed}.diary", seed, [], names) for seed in range(workers)]
    limit = monotonic() + LIMIT_SECONDS
    try:
        while not end.exists() and monotonic() < limit:
            sleep(0.01)
    finally:
        signals = ended(alive)
    assert end.exists(), "the test that uses the workers has not ended"
    return signals


def worker(path: str, seed: int, singles: int, batches: int) -> tuple[Counter, Counter]:
    """Make decisions and tell their rewards, one by one and in batches; give counts and sums by arm."""
    random, agent = Random(seed), opened(path)
    counts, sums = Counter(), Counter()
    for turn in range(singles + batches):
        choices = agent.ask(1 if turn < singles else 50)
        rewards = [random.randrange(5) / 4 for _ in choices]
        agent.tell_many(zip(choices, rewards, strict=True))
        for choice, reward in zip(choices, rewards, strict=True):
            counts[choice.arm] += 1
            sums[choice.arm] += reward
    agent.close()
    return counts, sums
