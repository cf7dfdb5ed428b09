"""What the processes do that tests of agents start and kill; here, since they must be able to import it."""

import os
import signal
import struct
from collections import Counter
from pathlib import Path
from random import Random
from time import sleep

import lowregret as lr

ARMS = ["red", "green", "blue"]
ACK = struct.Struct("<cqd")  # what was done (ask, tell or batch), to which decision, with which reward


def opened(path):
    return lr.open_agent(path, lr.UCB1(), ARMS, seed=3)


def number(choice):
    return int(choice.id.rpartition("-")[2])


def worked(path: Path, pipe: int, seed: int) -> None:
    """Ask and tell until killed; acknowledge on the pipe what the agent has acknowledged."""
    random = Random(seed)
    agent = opened(path)
    waiting = list(agent.pending)
    while True:
        if len(waiting) > 8 or (waiting and random.random() < 0.5):
            choice = waiting.pop(random.randrange(len(waiting)))
            reward = random.randrange(5) / 4
            agent.tell(choice, reward)
            os.write(pipe, ACK.pack(b"t", number(choice), reward))
        else:
            for choice in agent.ask(random.randrange(1, 3)):
                waiting.append(choice)
                os.write(pipe, ACK.pack(b"a", number(choice), 0.0))


def forked(path: Path, seed: int) -> tuple[int, int]:
    """Start a worker; give its process and the end of its pipe to read from."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(reader)
            worked(path, writer, seed)
        finally:
            os._exit(1)
    os.close(writer)
    return process, reader


def slaughter(path: str, kills: int, seed: int) -> tuple[list[bytes], int]:
    """Start and kill workers; give what each acknowledged, and how many died by our hand.

    Each may acknowledge some acts first, however slow the machine, and dies a random moment later.
    """
    random, said, killed = Random(seed), [], 0
    opened(path).close()
    for turn in range(kills):
        process, reader = forked(Path(path), turn)
        acts = random.randrange(20)
        with open(reader, "rb") as pipe:
            words = pipe.read(acts * ACK.size)
            sleep(random.uniform(0.0, 0.02))
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
            killed += os.WIFSIGNALED(status)
            said.append(words + pipe.read())
    return said, killed


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
