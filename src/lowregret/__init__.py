"""lowregret: stochastic multi-armed bandits, with EUCBV at the centre.

>>> import lowregret as lr
>>> bandit = lr.bernoulli([0.07] * 19 + [0.10])
>>> result = lr.simulate([lr.EUCBV(), lr.MOSS()], bandit, horizon=1_000, runs=10, seed=1)
>>> result.summary().get_column("policy").to_list()
['EUCBV', 'MOSS']

``__init__.pyi`` declares the public names, for type checkers and for this module alike. A name is loaded
when it is first used, so that ``import lowregret`` costs nothing.
"""

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
    if name == "testing":
        return import_module("lowregret.testing")
    if name in _modules():
        return getattr(import_module(_modules()[name]), name)
    if name in {*__dir__(), "POLICIES", "clock_at"}:
        return getattr(import_module("lowregret.policies"), name)
    raise AttributeError(f"module 'lowregret' has no attribute {name!r}")


def __dir__() -> list[str]:
    policies = import_module("lowregret.policies")
    return sorted({*_modules(), "NEVER", "Arm", "Arms", "Clock", "Policy", "Random", *policies.POLICIES})
