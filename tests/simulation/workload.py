"""What the processes of a simulation do: settings, operations and faults, all drawn from a seed."""

import os
import pickle
import shutil
import sqlite3
import tempfile
import warnings
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import lowregret as lr
from lowregret.online import calls
from lowregret.online.agent_settings import valid_observation
from lowregret.online.backup import backup, restore
from lowregret.online.copying import copy_agent
from lowregret.online.decisions import FALLBACK, Decision, Request
from lowregret.online.snapshot import write

from .world import CONSTANTS, FAULTS, MAX_SKEW, KilledError, Lock, Process, SimulatedStore, ViolationError

from .world import Worker, World, installed  # isort: skip

ARMS = ["red", "green", "blue", "ä", "Red"]
POLICIES = [
    lr.UCB1(), lr.EUCBV(rho=0.02), lr.ThompsonBeta(), lr.EpsilonGreedy(0.3), lr.DMED(), lr.MOSS(), lr.KLUCB(),
    lr.MedianElimination(0.9, 0.9), lr.BESA(), lr.SlidingWindowUCB(), lr.RoundRobin(),
]  # fmt: skip
REQUESTS = ["r1", "R1", "r2", "r2 ", "é", "e\u0301", "visit 3", "visit 4", "visit 5", "a'b\"%s?", "x" * 250]
KINDS = {
    "ask": 12, "tell": 12, "tell_many": 4, "forget": 2, "observe": 2, "import_rows": 1.5,
    "add": 1, "retire": 1, "pause": 1, "resume": 1, "end": 0.1, "expire": 2, "withdraw": 1, "compact": 1,
    "erase": 1, "read": 3, "verify": 1, "preview": 1, "export": 0.7, "group": 5, "copy": 0.7, "reopen": 1,
    "wait": 2, "skew": 0.5, "leap": 0.5, "back_up": 0.7, "restore": 0.3, "fail_over": 0.4, "rot": 0.3,
    "upgrade": 0.3, "fork": 0.2,
}  # fmt: skip
"""The operations by their weights; most histories have half of them."""
CALM = "try again", "may have been stored", "is closed"
"""What errors of a store say after which nothing has to be repaired."""
ONE_CALL = {
    "add": lambda agent, random: agent.add_arm(random.choice(ARMS), random.choice([None, True, "v"])),
    "retire": lambda agent, random: agent.retire_arm(random.choice(ARMS)),
    "pause": lambda agent, random: agent.pause(random.choice([None, *ARMS[:2]])),
    "resume": lambda agent, random: agent.resume(),
    "end": lambda agent, random: agent.retire(),
    "expire": lambda agent, random: agent.forget_expired(),
    "compact": lambda agent, random: agent.compact(timedelta(seconds=random.choice([0.0, 0.05, 0.5, 5.0]))),
    "erase": lambda agent, random: agent.erase_request(random.choice(REQUESTS)),
    "verify": lambda agent, random: agent.verify(),
}
"""The operations that are one call; the others are methods of ``Simulation``."""


class Operation(NamedTuple):
    """What a worker does; its arguments are drawn from ``number``, and ``fault`` strikes meanwhile."""

    worker: int
    kind: str
    number: int
    fault: tuple[str, int, float] | None = None


@dataclass
class Plan:
    """All that a seed determines; ``schedule`` is the seed of the world."""

    seed: int
    schedule: int
    settings: dict[str, Any]
    processes: int
    threads: int
    timeout: float
    stickiness: float
    constants: dict[str, int]
    operations: list[Operation]


def plan_of(seed):
    random = Random(seed)
    processes, threads = random.choice([1, 2, 2, 3]), random.choice([1, 1, 1, 2])
    constants = {name: random.choice(values) for name, (_, values) in CONSTANTS.items()}
    if constants["MAX_REMEMBERED"] < 1_000:
        constants["MAX_GROUP_EVENTS"] = 4  # what a group has done is remembered
    kinds = [kind for kind in KINDS if kind == "ask" or random.random() < (0.9 if kind == "tell" else 0.5)]
    faults = [kind for kind in FAULTS if random.random() < 0.5]
    rate = random.choice([0.0, 0.05, 0.25]) if faults else 0.0
    size = random.choice([8, 20, 40, 40, 80, 80]) if random.random() < 0.98 else 500
    operations = []
    for _ in range(size):
        fault = None
        if random.random() < rate:
            fault = random.choice(faults), 1 + int(random.expovariate(0.35)), random.random()
        (kind,) = random.choices(kinds, [KINDS[kind] for kind in kinds])
        worker, number = random.randrange(processes * threads), random.randrange(10**6)
        operations.append(Operation(worker, kind, number, fault))
    timeout, stickiness = random.choice([60.0, 60.0, 1.0]), random.choice([0.0, 0.3, 0.7])
    settings = settings_of(random)
    return Plan(seed, seed, settings, processes, threads, timeout, stickiness, constants, operations)


def settings_of(random):
    """Draw settings of an agent, until they can be combined."""
    arms = ARMS[: random.choice([1, 2, 2, 3, 3])]
    windows = 1, 2, 5, *(timedelta(seconds=seconds) for seconds in (0.3, 3, 30, 3_600, 3_600))
    options = {
        "horizon": (0.3, 30),
        random.choice(["matures_after", "expires_after"]): (0.5, random.choice(windows)),
        "default_reward": (0.4, random.choice([0.0, 0.25, 1.0])),
        "reward_range": (0.25, random.choice([(-1, 3), (0, 2), None])),
        "outside": (0.15, "clip"),
        "minimum_share": (0.15, 0.1),
        "control": (0.15, (random.choice(arms), 0.25)),
        "prior": (0.15, {random.choice(arms): (0.5, 2)}),
        "period": (0.15, random.choice([2, 4, timedelta(seconds=1), timedelta(seconds=20)])),
        "values": (0.1, {arms[0]: {"color": 1}}),
    }
    settings = {name: value for name, (chance, value) in options.items() if random.random() < chance}
    settings |= {"policy": random.choice(POLICIES), "arms": arms, "seed": random.randrange(5)}
    try:
        lr.Agent(**settings)
    except lr.InputError:
        return settings_of(random)
    return settings


def read(state, store, now, name):
    """Return what an agent shows; like the functions of ``calls``, but it changes nothing."""
    if name == "all":
        return write(state, for_store=True), []
    value = state.unreported() if name == "pending" else getattr(state, name)
    return (tuple(value) if name in ("pending", "arms") else value), []


class Simulation:
    """One run of a plan; afterwards ``world`` has what was committed and what was answered."""

    def __init__(self, plan):
        memory = Path("/dev/shm")
        folder = Path(tempfile.mkdtemp(prefix="lowregret-", dir=memory if memory.is_dir() else None))
        self.plan, self.world = plan, World(Random(plan.schedule), plan.stickiness, folder)
        self.known, self.answered = [], set()  # decisions with their requests, which all clients share; ids
        self.backup, self.rotten = None, {}  # damaged snapshots, and what they were
        self.failed_over = self.upgraded = False

    def run(self):
        plan, world = self.plan, self.world
        processes = [Process() for _ in range(plan.processes)]
        for index in range(plan.processes * plan.threads):
            world.workers.append(Worker(index, processes[index % plan.processes]))
        with installed(world, plan.constants), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            world.run(self.live)

    def close(self):
        for worker in self.world.workers:
            if worker.process.agent is not None:
                worker.process.agent.close()
        shutil.rmtree(self.world.folder)

    def open(self, process):
        store = SimulatedStore(self.world, process)
        return lr.open_agent(store, **self.plan.settings, timeout=self.plan.timeout)

    def live(self, worker):
        """Do all operations of a worker; a process that was killed is started again."""
        for operation in self.plan.operations:
            if operation.worker == worker.index and self.world.failure is None:
                self.perform(worker, operation)

    def perform(self, worker, operation):
        worker.life, worker.calls, era = worker.process.life, [], self.world.era
        worker.fault, worker.struck, worker.newer = operation.fault, False, worker.process.newer
        try:
            agent, random = self.agent(worker), Random(operation.number)
            if operation.kind in ONE_CALL:
                ONE_CALL[operation.kind](agent, random)
            else:
                getattr(self, operation.kind)(agent, worker, random)
        except (KilledError, KeyboardInterrupt):
            pass
        except lr.StoreError as error:
            if era == self.world.era:  # else events were lost meanwhile
                self.check(error, worker, operation)
        except lr.LowRegretError:
            pass  # the audit has it
        except ViolationError:
            raise
        except Exception as error:
            raise ViolationError("no error is unexpected", f"{operation}: {error!r}") from error
        worker.fault, worker.calls, self.world.alone = None, [], False

    def check(self, error, worker, operation):
        """Reject an error of the store that nothing explains, or that gives wrong advice."""
        text, lost = str(error), "lost rows" in str(error) or "lost events" in str(error)
        if lost:
            worker.process.agent = None  # to be opened again
        explained = (
            worker.struck
            or any(words in text for words in CALM)
            or ("damaged" in text and self.rotten)
            or ("newer" in text and self.upgraded and not worker.newer)
            or (lost and self.failed_over)
        )
        if not explained:
            raise ViolationError("errors of a store have a cause", f"{operation}: {error!r}")

    def agent(self, worker):
        """Return the agent of a process, which its threads share; open it if need be."""
        process = worker.process
        process.opening = process.opening or Lock()
        with process.opening:
            if process.agent is None:
                process.agent = self.open(process)
            return process.agent

    # What operations draw.

    def draw_known(self, random, fresh=0.7):
        """Draw a decision that somebody was given, mostly one of the latest that are not answered."""
        known = self.known
        if random.random() < fresh:
            known = [each for each in known[-40:] if each[0].id not in self.answered] or known
        return random.choice(known) if known else (Decision("somebody-1", "red", 1), None)

    def draw_reference(self, random):
        decision, request = self.draw_known(random)
        references = [decision, decision.id] if request is None else [decision, decision.id, Request(request)]
        self.answered.add(decision.id)
        return random.choice(references)

    def draw_reward(self, random):
        if random.random() < 0.02:
            return random.choice([700.0, float("nan")])
        low, high = self.plan.settings.get("reward_range", (0, 1)) or (0, 1)
        return low + random.choice([0.0, 0.25, 0.5, 1.0, 1.0]) * (high - low)

    def draw_request(self, random):
        return random.choice([None, None, random.choice(REQUESTS)])

    def draw_ask(self, random):
        only = random.sample(ARMS, random.choice([1, 2, 3])) if random.random() < 0.2 else None
        return random.choice([1, 1, 1, 2, 3, 9]), only, self.draw_request(random)

    def draw_row(self, random):
        reward = random.choice([0.0, 0.5, 1.0])
        return valid_observation(random.choice(ARMS[:3]), reward, None, self.draw_request(random))

    def learn(self, decisions, request):
        self.known += [(decision, request) for decision in decisions if decision.id != FALLBACK]

    # The operations.

    def ask(self, agent, worker, random):
        count, only, request = self.draw_ask(random)
        self.learn(agent.ask(count, only=only, request=request), request)

    def tell(self, agent, worker, random):
        reference, reward = self.draw_reference(random), self.draw_reward(random)
        for _ in range(1 + (random.random() < 0.1)):
            if isinstance(reference, Request):
                agent.tell(request=reference.name, reward=reward)
            else:
                agent.tell(reference, reward)

    def tell_many(self, agent, worker, random):
        count = random.choice([1, 2, 3, 6])
        agent.tell_many([(self.draw_reference(random), self.draw_reward(random)) for _ in range(count)])

    def forget(self, agent, worker, random):
        agent.forget_many([self.draw_reference(random) for _ in range(random.choice([1, 1, 3]))])

    def observe(self, agent, worker, random):
        agent.transactions.execute(calls.observe, [self.draw_row(random)])

    def import_rows(self, agent, worker, random):
        """Enter many rows in parts, as an import does that may be killed half-way and begun again."""
        name, count, part = random.choice("ab"), random.choice([10, 40]), random.choice([3, 10])
        rows = [valid_observation(ARMS[row % 2], row % 3 / 2, None, f"{name} {row}") for row in range(count)]
        for start in range(0, count, part):
            agent.transactions.execute(calls.observe, rows[start : start + part])

    def withdraw(self, agent, worker, random):
        since, prefix = random.choice([(None, "r"), (None, "visit"), (0.1, None), (5.0, None), (5.0, "a ")])
        since = since and datetime.fromtimestamp(self.world.time - since, UTC)
        arguments = since.timestamp() if since else 0.0, prefix or ""
        with self.world.recorded(("withdraw", arguments)) as (call,):
            call.outcome = "ok", agent.forget_where(since, prefix)

    def read(self, agent, worker, random):
        name = random.choice(["time", "status", "arms", "pending"])
        with self.world.recorded((read, (name,))) as (call,):
            call.outcome = "ok", getattr(agent, name)

    def preview(self, agent, worker, random):
        with self.world.recorded((calls.preview, ())) as (call,):
            call.outcome = "ok", agent.preview()

    def export(self, agent, worker, random):
        with self.world.recorded((read, ("all",))) as (call,):
            text = agent.to_json()
            copy = lr.Agent.from_json(text)
            if copy.to_json() != text:
                raise ViolationError("an agent that was exported and imported is the same", text)
            call.outcome = "ok", write(copy.transactions.state, for_store=True)

    def group(self, agent, worker, random):
        """Make calls that share a transaction, as the service does."""
        draw = {
            "ask": lambda: (calls.ask, self.draw_ask(random)),
            "tell": lambda: (calls.tell, ([(self.draw_reference(random), self.draw_reward(random))],)),
            "forget": lambda: (calls.forget, ([self.draw_reference(random)],)),
            "observe": lambda: (calls.observe, ([self.draw_row(random)],)),
            "arms": lambda: (random.choice([calls.add, calls.retire]), (random.choice(ARMS),)),
            "expire": lambda: (calls.end_windows, ()),
            "status": lambda: (calls.change_status, (random.choice(["paused", "resumed"]), None)),
        }
        kinds = random.choices([*draw, "ask", "tell"], k=random.choice([1, 2, 3, 5]))
        group = [draw[kind]() for kind in kinds]
        while group:
            outcomes = agent.transactions.execute_group(group)
            for (call, arguments), outcome in zip(group, outcomes, strict=False):
                if call is calls.ask and not isinstance(outcome, Exception):
                    self.learn(outcome, arguments[2])
            group = group[len(outcomes) :]

    def copy(self, agent, worker, random):
        """Copy the agent to another store, and read the copy."""
        process, target = Process(), self.world.folder / f"copy {random.random()}.db"
        process.newer = worker.process.newer
        with self.world.recorded((read, ("all",))) as (call,):
            copy_agent(SimulatedStore(self.world, process), target)
            self.world.alone = True  # nobody else has the copy
            with closing(lr.open_agent(SimulatedStore(self.world, process, target))) as copy:
                copy.verify()
                call.outcome = "ok", write(copy.transactions.state, for_store=True)

    def reopen(self, agent, worker, random):
        worker.process.agent = None
        agent.close()

    def wait(self, agent, worker, random):
        self.world.sleep(random.choice([0.01, 0.3, 3.0, 40.0, 2_000.0]))

    def skew(self, agent, worker, random):
        worker.process.skew = random.choice([0.0, -0.5, 0.5]) * MAX_SKEW

    def leap(self, agent, worker, random):
        """Let the next reading of the clock, and no other one, be ahead by more than a day."""
        worker.process.leap = 90_000.0

    def back_up(self, agent, worker, random):
        file = self.world.folder / f"backup {random.random()}.db"
        backup(self.world.path, file)
        self.backup = len(self.world.commits), file

    def restore(self, agent, worker, random):
        """Put a backup in place, while nobody uses the store."""
        if self.backup is not None:
            self.world.kill()
            self.world.files += 1
            restore(self.backup[1], self.world.path)
            self.world.set_back(self.backup[0])
            raise KilledError

    def fail_over(self, agent, worker, random):
        """Let a standby take over that lacks the latest commits, while the processes go on."""
        if self.backup is not None:
            self.failed_over = True
            self.world.files += 1
            shutil.copyfile(self.backup[1], self.world.path)
            self.world.set_back(self.backup[0])

    def rot(self, agent, worker, random):
        """Damage the snapshots: one character, or the end is missing."""
        raw = sqlite3.connect(self.world.path, timeout=0.0)
        with closing(raw), suppress(sqlite3.OperationalError):
            for (text,) in raw.execute("SELECT text FROM snapshots").fetchall():
                place = random.randrange(len(text))
                torn = text[:place] if random.random() < 0.5 else f"{text[:place]}~{text[place + 1 :]}"
                raw.execute("UPDATE snapshots SET text = ? WHERE text = ?", (torn, text))
                self.rotten[torn] = text
            raw.commit()

    def repair(self):
        """Undo the damage, for the audit."""
        with closing(sqlite3.connect(self.world.path)) as raw:
            for torn, text in reversed(self.rotten.items()):
                raw.execute("UPDATE snapshots SET text = ? WHERE text = ?", (text, torn))
            raw.commit()

    def upgrade(self, agent, worker, random):
        """Install a newer version, which writes snapshots with a key that this one does not know."""
        self.upgraded = worker.process.newer = True
        self.reopen(agent, worker, random)

    def fork(self, agent, worker, random):
        """Fork the process; the child uses the agent that it inherits, and ends without closing it."""
        world, start = self.world, (len(self.world.commits), len(self.world.calls))
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            try:
                world.alone, worker.fault, self.known = True, None, []
                with suppress(lr.LowRegretError):
                    for _ in range(3):
                        self.ask(agent, worker, random)
                        self.tell(agent, worker, random)
            finally:
                new = world.commits[start[0] :], world.calls[start[1] :]
                with open(writer, "wb") as file:
                    pickle.dump((*new, self.known, world.keys, world.time), file)
                os._exit(0)
        os.close(writer)
        with open(reader, "rb") as file:
            commits, calls_of_child, known, world.keys, world.time = pickle.load(file)
        os.waitpid(child, 0)
        world.commits += commits
        world.calls += calls_of_child
        self.known += known
