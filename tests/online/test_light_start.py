"""A live agent starts with NumPy alone, and what is heavier is imported where it is used."""

import json
import os
import subprocess
import sys

import pytest

import lowregret as lr

HEAVY = (
    *("numba", "llvmlite", "polars", "scipy", "pydantic", "altair", "vl_convert", "typer", "rich"),
    *("platformdirs", "httpx", "uvicorn", "psycopg", "pandas", "pyarrow"),
)
PROGRAM = """
import json, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {heavy!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuse())
import lowregret as lr
from lowregret.online import transactions
from lowregret.special import argmax_probabilities
transactions.SNAPSHOT_EVERY = transactions.MIN_UPDATES_TO_LOAD = argmax_probabilities.ARMS_WITHOUT_SCIPY = 20
arms = []
for _ in range(2):  # the second opens what the first has stored: a snapshot, and events after it
    with lr.open_agent({path!r}, lr.{policy}, ["a", "b", "c"], horizon=1_000, seed=1) as agent:
        for step in range(26):
            choice = agent.ask(request=f"visit {{agent.time}}")
            agent.tell(choice, step % 2)
            arms.append(choice.arm)
        agent.forget(agent.ask())
        agent.tell_many((choice, 1) for choice in agent.ask(12))
        agent.add_arm(f"d{{agent.time}}")
        text = agent.to_json()
        assert agent.verify() > 60 and agent.transactions.store.latest_snapshot()


memory = lr.Agent.from_json(text)
arms += [choice.arm for choice in memory.ask(3)]
print(json.dumps([arms, sorted(sys.modules)]))
try:
    memory.summary()
except ModuleNotFoundError as error:
    assert error.name == "polars"  # a table
"""


@pytest.mark.parametrize("policy", ["EUCBV()", "ThompsonBeta()"])
def test_it_decides_stores_and_opens_again_with_numpy_alone(policy, tmp_path):
    program = PROGRAM.format(heavy=HEAVY, path=str(tmp_path / "a.db"), policy=policy)
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ, capture_output=True, text=True, check=True
    )
    arms, modules = json.loads(done.stdout)
    assert not {name.partition(".")[0] for name in modules} & set(HEAVY)
    assert len(arms) == 55

    with lr.open_agent(tmp_path / "b.db", policy, ["a", "b", "c"], horizon=1_000, seed=1) as agent:
        agent.compile()
        for step, arm in enumerate(arms[:26]):
            choice = agent.ask()
            assert choice.arm == arm
            agent.tell(choice, step % 2)
