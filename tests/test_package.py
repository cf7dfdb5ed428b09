"""The package as a whole: every public name is there, and importing it is light."""

import re
import subprocess
import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from inspect import getdoc, signature
from pathlib import Path
from pydoc import plaintext, render_doc

import lowregret as lr
import lowregret.policies
from lowregret.policies import POLICIES


def test_every_public_name_can_be_had():
    for name in dir(lr):
        assert getattr(lr, name) is not None
    assert set(POLICIES) <= set(dir(lr))


def test_type_checkers_see_the_same_names():
    text = Path(lr.__file__).with_name("__init__.pyi").read_text()
    assert "from lowregret.policies import *\n" in text
    seen = set(re.findall(r"^from lowregret\S* import \w+ as (\w+)$", text, re.MULTILINE))
    assert seen | {"NEVER", "Arm", "Arms", "Clock", "Policy", "Random", *POLICIES} == set(dir(lr))
    source = Path(lowregret.policies.__file__).read_text()
    exported = re.findall(r" import (\w+) as \1$", source, re.MULTILINE)
    assert {"NEVER", "Arm", "Arms", "Clock", "Policy", "Random", *POLICIES} <= set(exported)


def test_a_star_import_gives_the_public_names():
    names = {}
    exec("from lowregret import *", names)
    assert set(dir(lr)) <= set(names)


def test_a_wrong_name_is_an_attribute_error():
    assert not hasattr(lr, "nothing")


def test_the_help_of_a_policy_is_about_this_policy():
    """What all policies share is explained once, by ``help(lr.Policy)``."""
    for name, kind in POLICIES.items():
        text = render_doc(kind, renderer=plaintext)
        assert "inherited from Policy" not in text and "__" not in text and "'Positive'" not in text, name
        own = len(getdoc(kind).splitlines())
        assert len(text.splitlines()) < own + 40, name
    assert len(render_doc(lr.UCB1).splitlines()) < 60
    assert "UCB1(alpha=2.0)\n" in render_doc(lr.UCB1, renderer=plaintext)
    assert {"transform_reward", "warmup"} <= {*dir(lr.Policy), *dir(lr.UCB1())}


def test_a_policy_may_have_an_abstract_base():
    class Base(ABC):
        @abstractmethod
        def bonus(self, arm): ...

    class Mine(lr.Policy, Base):
        def bonus(self, arm):
            return 1 / arm.pulls

        def score(self, arm, clock):
            return arm.mean + self.bonus(arm)

    run = lr.trace(Mine(), [[1] * 9, [0] * 9], horizon=5, engine="reference")
    assert run.arm.tolist() == [0, 1, 0, 0, 0]


def test_importing_policies_loads_nothing_heavy():
    program = "import sys, lowregret; lowregret.EUCBV(); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    for heavy in ("numba", "polars", "altair", "scipy", "numpy"):
        assert f"'{heavy}'" not in done.stdout


def test_the_default_seed_is_0_everywhere():
    """Of the public functions and classes, and of every command."""
    from typer.main import get_command

    from lowregret.cli import app

    defaults = {}
    for name in dir(lr):
        with suppress(TypeError, ValueError):  # what is not called
            seed = signature(getattr(lr, name)).parameters.get("seed")
            if seed is not None and seed.default is not seed.empty:
                defaults[name] = seed.default
    for name, command in get_command(app).commands.items():
        defaults |= {
            f"lowregret {name}": option.default for option in command.params if option.name == "seed"
        }
    assert {"simulate", "league", "plan", "Agent", "lowregret reproduce"} <= set(defaults)
    assert defaults.pop("lowregret reproduce") is None  # that of the experiment files
    assert defaults.pop("open_agent") is None  # 0 for a new agent, the stored one of an agent that exists
    assert set(defaults.values()) == {0}, defaults
