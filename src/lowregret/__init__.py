"""Multi-armed bandits: compare policies by simulation, and choose between options live.

Where to start:

- to compare policies on a problem: `simulate`; its result prints a table, and has ``plot`` and ``compare``
- to run many comparisons and keep them: `Experiment`, `open_results`
- to choose between options for real visitors: `plan` before, then `open_agent`, or `Agent` in memory
- to evaluate a policy on a log: `replay`
- to see what there is: ``dir(lr.policies)``, ``dir(lr.environments)``; ``help(lr.UCB1)`` is about one policy

>>> import lowregret as lr
>>> bandit = lr.bernoulli([0.04, 0.05, 0.07])
>>> result = lr.simulate([lr.UCB1(), lr.ThompsonBeta()], bandit, horizon=1_000, runs=10, seed=1)
>>> list(result)  # print(result) shows a table
['UCB1', 'ThompsonBeta']
"""

# ``__init__.pyi`` declares the public names, for type checkers and for this module alike. A name is loaded
# when it is first used, so that ``import lowregret`` costs nothing.

from functools import cache
from importlib import import_module

__version__ = "0.1.0"


@cache
def _modules() -> dict[str, str]:
    """Return the module of every name that the stub declares, the policies aside."""
    import re
    from pkgutil import get_data

    stub = (get_data("lowregret", "__init__.pyi") or b"").decode()
    return {name: module for module, name in re.findall(r"^from (\S+) import (\w+) as", stub, re.MULTILINE)}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    if name in ("environments", "policies", "testing"):
        return import_module(f"lowregret.{name}")
    if name in _modules():
        return getattr(import_module(_modules()[name]), name)
    if name in {*__dir__(), "POLICIES", "clock_at"}:
        return getattr(import_module("lowregret.policies"), name)
    if name.startswith("_"):
        raise AttributeError(f"module 'lowregret' has no attribute {name!r}")
    raise import_module("lowregret._common.other_names").missing_from_module("lowregret", name, __dir__())


def __dir__() -> list[str]:
    policies = import_module("lowregret.policies")
    return sorted({*_modules(), "NEVER", "Arm", "Arms", "Clock", "Policy", "Random", *policies.POLICIES})
