"""The engine's random numbers as plain Python, so that the first choice of an agent waits for no compiler.

It is the engine's own source, run on Python integers: each function of ``engine.rng`` is created again
with plain names in place of the compiled ones.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from lowregret.engine import rng as engine

_MASK = 2**64 - 1


def bits(key: Any, n: int) -> int:
    """Return 64 random bits, as ``engine.rng.bits`` does."""
    z = (int(key) + (int(n) & _MASK) * 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def _signed(word: int) -> int:
    return word - 2**64 if word >= 2**63 else word


def _plain_names() -> dict[str, Any]:
    """Return the names of the engine's module with plain functions in place of the compiled ones."""
    words = {"_11": 11, "_27": 27, "_30": 30, "_31": 31, "_LAYER": 255, "int64": _signed, "uint64": int}
    names = {**vars(engine), **words}
    for name, thing in vars(engine).items():
        if hasattr(thing, "py_func"):
            names[name] = FunctionType(thing.py_func.__code__, names, name)
    names["bits"] = bits
    return names


_NAMES = _plain_names()


class PlainRng(engine.Rng):
    """A policy's own stream, without compiled code."""

    __slots__ = ()


for _method in ("uniform", "normal", "beta", "student", "uniform_at"):
    setattr(PlainRng, _method, FunctionType(getattr(engine.Rng, _method).__code__, _NAMES, _method))


def shuffled(seed: int, size: int) -> list[int]:
    """Return the numbers of the arms in the order in which run 0 of the simulator breaks ties."""
    order = [0] * size
    _NAMES["shuffle"](seed, 0, order)
    return order


def policy_key(seed: int) -> int:
    """Return the key of the policy's own stream in run 0 of the simulator."""
    key: int = _NAMES["stream"](seed, 0, engine.POLICY_STREAM)
    return key
