"""Samplers of the user's own distributions: compiled functions that the engine calls by their address.

So machine code of the engine and of policies does not depend on the samplers, and stays on disk as it is.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numba import cfunc, njit, types
from numba.extending import intrinsic

from lowregret.engine.bridge.compile import use_numba
from lowregret.engine.bridge.compile_errors import TRACEBACK, message_lines
from lowregret.engine.bridge.external import call_at
from lowregret.engine.bridge.identity import unseeded
from lowregret.engine.kernels.rng import STATE, Rng, bits
from lowregret.environments import Sampled
from lowregret.errors import InputError

SAMPLER = types.float64(types.uint64, types.int64)
"""The signature of a sampler: it returns the n-th reward of a stream from its key and n."""
use_numba()
_samplers: dict[Any, Any] = {}
"""The compiled functions by the functions they were made of; machine code lives as long as these."""


def _call_sampler(context: Any, address: Any, key: Any, n: Any) -> Any:
    """Call the sampler at an address for the n-th reward of a stream."""

    def build(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return call_at(context, builder, arguments[0], SAMPLER, arguments[1:])

    return types.float64(types.int64, *SAMPLER.args), build


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
            _samplers[arm.sample] = cfunc(SAMPLER, error_model="numpy")(draw)
        except Exception as error:  # of Numba's many kinds, some are not its own
            name = getattr(arm.sample, "__name__", arm.sample)
            lines = message_lines(error)
            reasons = [line for line in lines if not line.startswith(("Failed", "During", "File"))]
            reason = re.sub(r"( of type \w+)\(.*", r"\1", (reasons or lines)[0])
            refusal = InputError(f"sampled: Numba cannot compile {name}: {reason}")
            raise refusal from (error if TRACEBACK else None)
    return int(_samplers[arm.sample].address)
