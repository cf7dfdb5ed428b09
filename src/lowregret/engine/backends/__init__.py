"""The engines behind one call: ``run(problem, backend, control)``.

A backend is a module with ``run(problem, control)``. It is imported when it is first used.
"""

from importlib import import_module

from lowregret.engine.problem import Control, Outcome, Problem
from lowregret.errors import InputError

BACKENDS = {
    "compiled": "lowregret.engine.backends.cpu",
    "reference": "lowregret.engine.backends.reference",
    "cuda": "lowregret.engine.backends.cuda",
}


def validate_backend(owner: str, backend: str) -> None:
    if backend not in BACKENDS:
        *first, last = map(repr, BACKENDS)
        raise InputError(f"{owner}: engine must be {', '.join(first)} or {last}, got {backend!r}")


def validate_problem(problem: Problem, backend: str) -> None:
    """Raise ``InputError`` if an engine cannot play a problem; only a GPU cannot play all."""
    if backend == "cuda":
        import_module(BACKENDS[backend]).validate(problem)


def refusal(problem: Problem, backend: str) -> str:
    """Return why an engine cannot play a problem; nothing where it can, be there a GPU or not."""
    reason: str = import_module(BACKENDS[backend]).refusal(problem) if backend == "cuda" else ""
    return reason


def run(problem: Problem, backend: str = "compiled", control: Control | None = None) -> Outcome:
    outcome: Outcome = import_module(BACKENDS[backend]).run(problem, control or Control())
    return outcome
