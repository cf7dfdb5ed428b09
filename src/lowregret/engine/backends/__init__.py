"""The engines behind one call: ``run(problem, backend, control)``.

A backend is a module with ``run(problem, control)``. It is imported when it is first used.
"""

from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Literal, NamedTuple, get_args

import numpy as np

from lowregret.engine.problem import PATH, RECORDS, Control, Outcome, Problem
from lowregret.errors import InputError

Engine = Literal["compiled", "reference", "cuda"]
"""The names of the backends, as users write them."""
DEFAULT: Engine = "compiled"


class Backend(NamedTuple):
    """A module, what it does otherwise than others, and how large the shards of its experiments are."""

    module: str
    precompiles: bool = False  # other processes can compile for it what is played later
    on_gpu: bool = False  # it plays fewer problems; its results may differ by rounding, and bear its name
    shard_factor: int = 1  # how many times as many steps a shard has

    def load(self) -> ModuleType:
        return import_module(self.module)


BACKENDS: dict[Engine, Backend] = {
    "compiled": Backend("lowregret.engine.backends.cpu", precompiles=True),
    "reference": Backend("lowregret.engine.backends.reference"),
    "cuda": Backend("lowregret.engine.backends.cuda", on_gpu=True, shard_factor=1_000),
}
assert tuple(BACKENDS) == get_args(Engine)


def validate_backend(owner: str, name: str) -> Engine:
    """Return the name of a backend, once it is known to be one."""
    for known in BACKENDS:
        if name == known:
            return known
    *first, last = map(repr, BACKENDS)
    raise InputError(f"{owner}: engine must be {', '.join(first)} or {last}, got {name!r}")


def unsupported_reason(problem: Problem, backend: Engine) -> str:
    """Return why an engine cannot play a problem, or an empty string; it does not look for a GPU."""
    if not BACKENDS[backend].on_gpu:
        return ""
    from lowregret.engine.kernels.modes import unsupported_on_gpu  # which loads Numba

    return unsupported_on_gpu(problem)


def validate_problem(problem: Problem, backend: Engine) -> None:
    """Raise ``InputError`` if an engine cannot play a problem, or not on this machine."""
    if reason := unsupported_reason(problem, backend):
        raise InputError(
            f'{problem.policy}: engine="{backend}" cannot play it, since {reason}: use engine="{DEFAULT}"'
        )
    if BACKENDS[backend].on_gpu:
        BACKENDS[backend].load().require_device()


def run(problem: Problem, backend: Engine = DEFAULT, control: Control | None = None) -> Outcome:
    validate_problem(problem, backend)
    computed = {name for name in problem.record if RECORDS[name].of_path}
    played = replace(problem, record=(problem.record - computed) | {PATH}) if computed else problem
    outcome: Outcome = BACKENDS[backend].load().run(played, control or Control())
    return with_computed(problem, outcome) if computed else outcome


def with_computed(problem: Problem, outcome: Outcome) -> Outcome:
    """Return an outcome with the records that follow from the path of each run."""
    records = {}
    for name in problem.record:
        compute, dtype = RECORDS[name].of_path, RECORDS[name].dtype
        records[name] = (
            outcome.records[name]
            if compute is None
            else np.array([compute(problem, path) for path in outcome.records[PATH]], dtype)
        )
    return replace(outcome, records=records)
