"""All that knows numba-cuda: plain functions as device functions, policies as arguments, kernels.

A kernel is a copy of ``play.kernel``. Every plain function that it reaches is copied as a device function, in
which the numbers and functions that depend on the problem (see ``constants``) are those of one problem.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from importlib import import_module
from inspect import getattr_static
from math import ceil, floor
from types import FunctionType
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from numba import config, float64, from_dtype, types

from lowregret.engine.bridge.compile import compiled_forms
from lowregret.engine.bridge.function_copies import copy_function
from lowregret.engine.bridge.own_sampler import call_sampler
from lowregret.engine.kernels.rng import EDGES, RATIOS, STATE, edge, ratio
from lowregret.errors import InputError
from lowregret.policies.base import Policy, numeric_fields

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks it up, and NumPy 2.5 has removed it
    vars(np)["row_stack"] = np.vstack
try:
    cuda: Any = import_module("numba.cuda")
    overload: Any = import_module("numba.cuda.extending").overload
    templates: Any = import_module("numba.cuda.typing.templates")
    libdevice: Any = getattr(cuda, "libdevice", None)  # which the simulator lacks
except (AttributeError, ImportError):  # Numba alone has an older numba.cuda
    raise InputError(
        'engine="cuda" needs numba-cuda: run pip install "lowregret[cuda]", or use engine="compiled"'
    ) from None

SIMULATED = bool(vars(config)["ENABLE_CUDASIM"])
"""Whether kernels run in Python, as Numba's simulator of a GPU has it."""
STATE_TYPE = STATE if SIMULATED else from_dtype(STATE)
INLINED = {} if SIMULATED else {"forceinline": True}

OPTIONS: dict[str, Any] = {} if SIMULATED else {"max_registers": 80}
"""How kernels are compiled: such that 12 blocks of 64 threads share the registers of a multiprocessor."""
_declared: set[str] = set()
_methods: dict[tuple[type, str], Any] = {}


class Functions:
    """Device functions of one kernel: copies of plain ones, with its constants."""

    def __init__(self, constants: Mapping[Any, Any]) -> None:
        self.constants = constants
        self.made: dict[FunctionType, Any] = {}

    def device(self, function: Any) -> Any:
        if function not in self.made:
            copy = self.copy(compiled_forms.get(function, function) if not SIMULATED else function)
            if not SIMULATED or "cuda" in function.__code__.co_names:
                copy = cuda.jit(device=True, **INLINED)(copy)
            self.made[function] = copy
        return self.made[function]

    def copy(self, function: FunctionType) -> FunctionType:
        """Copy a function such that it calls device functions."""
        constants = self.constants if (function.__module__ or "").startswith(__package__) else {}
        return copy_function(function, lambda name, value: self._replacement(constants.get(name, value)))

    def _replacement(self, value: Any) -> Any:
        """Return what a copied function uses instead of a value."""
        value = getattr(value, "py_func", value)
        if isinstance(value, FunctionType):
            value = self.constants.get(value, value)
        for original, other in REPLACED:
            if value is original and not SIMULATED:
                return self.device(other)
        foreign = "numba", "numpy", "builtins"
        if isinstance(value, FunctionType) and (value.__module__ or "").partition(".")[0] not in foreign:
            return self.device(value)
        return value


def product(a: float, b: float) -> float:
    """Return a product that is rounded before anything is added to it."""
    return a * b if SIMULATED else libdevice.dmul_rn(a, b)


def integer_ceil(x: float) -> int:
    """Return the smallest integer above a number; ``math.ceil`` of a GPU returns a float."""
    return int(libdevice.ceil(x))


def integer_floor(x: float) -> int:
    """Return the largest integer below a number; ``math.floor`` of a GPU returns a float."""
    return int(libdevice.floor(x))


def no_sampler(address: int, key: Any, n: int) -> float:
    """Stand for the call of a sampler, which a GPU cannot make."""
    return 0.0


def shared_edge(layer: int) -> float:
    """Return an edge of the ziggurat, which ``load_ziggurat`` has put where dynamic shared memory begins."""
    return cuda.shared.array(0, float64)[layer]


def shared_ratio(layer: int) -> float:
    """Return a ratio of two of these edges."""
    return cuda.shared.array(0, float64)[EDGES_COUNT + layer]


def load_ziggurat(ziggurat: Any, lane: int, lanes: int) -> None:
    """Copy the edges and their ratios into shared memory: threads read different ones at a time."""
    room = cuda.shared.array(0, float64)
    for k in range(lane, len(ziggurat), lanes):
        room[k] = ziggurat[k]
    cuda.syncthreads()


ZIGGURAT, EDGES_COUNT = np.concatenate([EDGES, RATIOS]), len(EDGES)
REPLACED = (
    (call_sampler, no_sampler),
    (ceil, integer_ceil),
    (floor, integer_floor),
    (edge, shared_edge),
    (ratio, shared_ratio),
)
"""What kernels call in place of some functions."""


def make_kernel(function: Any, constants: dict[Any, Any], own: type, *others: type) -> Any:
    """Return a kernel of a problem with these constants; it may call the methods of these named tuples."""
    functions = Functions(constants)
    kind = constants[own.__name__] = type(own.__name__, (own,), {})
    for name, method in _methods_of(own).items():
        setattr(kind, name, functions.copy(method))
    for owner in () if SIMULATED else (kind, *others):
        for name, method in _methods_of(own if owner is kind else owner).items():
            _methods[owner, name] = functions.device(method)
            _declare(name)
    return cuda.jit(**OPTIONS)(functions.copy(function))


def configured(kernel: Any, *launch: Any) -> Any:
    """Return a kernel with the blocks and threads of a launch, without Numba's warning of a small one."""
    with catch_warnings():
        simplefilter("ignore")  # numba-cuda has a class of warnings of its own
        return kernel[launch]


def _methods_of(kind: type) -> dict[str, FunctionType]:
    members = {name: getattr_static(kind, name) for name in type.__dir__(kind) if not name.startswith("_")}
    return {name: member for name, member in members.items() if isinstance(member, FunctionType)}


def _declare(name: str) -> None:
    """Let kernels call a method of named tuples, whichever the class and its parameters."""
    if name in _declared:
        return
    _declared.add(name)

    def choose(self: Any, *_: Any) -> Any:
        method = _methods.get((getattr(self, "instance_class", None), name))  # type: ignore[arg-type]
        return None if method is None else lambda self, *arguments: method(self, *arguments)

    options: dict[str, Any] = {"strict": False, "jit_options": INLINED, "target": "cuda"}
    template = templates.make_overload_method_template(types.BaseNamedTuple, name, choose, "never", **options)
    templates.infer_getattr(fields_first(template))
    overload(choose, **options)(choose)


def fields_first(template: Any) -> Any:
    """Return a template of a method such that a tuple with a field of its name has the field.

    Numba's ``overload_method`` would hide it: a policy may have a parameter ``reset``, as arms have a method.
    """

    class Method(template):  # type: ignore[misc]
        def _resolve(self, tuple_type: Any, attribute: str) -> Any:
            return None if attribute in tuple_type.fields else super()._resolve(tuple_type, attribute)

    return Method


def policy_tuple(policy: Policy) -> Any:
    """Return the numbers of a policy as a named tuple that has its methods."""
    kind = type(policy)
    names = numeric_fields(kind)
    others = {name: getattr_static(kind, name) for name in type.__dir__(kind) if not name.startswith("_")}
    numbers = {name: getattr(policy, name) for name in names}
    numbers |= {
        name: value
        for name, value in others.items()
        if name not in names and isinstance(value, bool | int | float)
    }
    base: Any = namedtuple(kind.__name__, numbers or ["unused"])  # type: ignore[misc]
    return type(kind.__name__, (base,), _methods_of(kind))(*(numbers.values() or [0]))


def require_device() -> None:
    if not cuda.is_available():
        raise InputError(
            'engine="cuda" needs an NVIDIA GPU and its driver, and none was found: use engine="compiled"'
        )
