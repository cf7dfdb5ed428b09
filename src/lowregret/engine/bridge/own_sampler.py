"""Samplers of the user's own distributions: compiled functions that the engine calls by their address.

So machine code of the engine and of policies does not depend on the samplers, and stays on disk as it is.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import cfunc, njit, types
from numba.extending import intrinsic

from lowregret.engine.bridge.compile import use_numba
from lowregret.engine.bridge.compile_errors import TRACEBACK, message_lines
from lowregret.engine.bridge.identity import unseeded
from lowregret.engine.kernels.rng import STATE, Rng, bits
from lowregret.environments import Sampled
from lowregret.errors import InputError

use_numba()
_samplers: dict[Any, Any] = {}
"""The compiled functions by the functions they were made of; machine code lives as long as these."""


def _call_sampler(context: Any, address: Any, key: Any, n: Any) -> Any:
    """Call the sampler at an address for the n-th reward of a stream."""
    signature = types.float64(types.int64, types.uint64, types.int64)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, key, n = arguments
        kind = ir.FunctionType(ir.DoubleType(), [ir.IntType(64), ir.IntType(64)])
        return builder.call(builder.inttoptr(address, kind.as_pointer()), [key, n])

    return signature, build


call_sampler: Any = intrinsic(_call_sampler)


def sampler_address(arm: Sampled) -> int:
    """Compile the sampler of an arm, if it is not compiled yet, and return its address."""
    if mistake := unseeded(arm.sample):
        raise InputError(f"sampled: {mistake}, which the seed does not determine: draw from its argument rng")
    if arm.sample not in _samplers:
        sample: Any = njit(error_model="numpy", nogil=True)(arm.sample)

        def draw(key: Any, n: int) -> float:
            states = np.zeros(1, STATE)
            states[0]["key"] = bits(key, n)
            return float(sample(Rng(states[0])))

        try:
            _samplers[arm.sample] = cfunc("float64(uint64, int64)", error_model="numpy")(draw)
        except Exception as error:  # of Numba's many kinds, some are not its own
            name = getattr(arm.sample, "__name__", arm.sample)
            lines = message_lines(error)
            reasons = [line for line in lines if not line.startswith(("Failed", "During", "File"))]
            reason = re.sub(r"( of type \w+)\(.*", r"\1", (reasons or lines)[0])
            refusal = InputError(f"sampled: Numba cannot compile {name}: {reason}")
            raise refusal from (error if TRACEBACK else None)
    return int(_samplers[arm.sample].address)
