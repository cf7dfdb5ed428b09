"""Functions that compiled code calls by their address, so that they are compiled apart from their callers.

Numba links all that a function calls into its machine code, and optimises it again. The draws of rare
families of rewards would be a third of the code of a class of policies, and most simulations draw from none.

So compiled code reads the address of a function of numbers from a slot, a symbol that the linker knows from
the start. At first it is the address of a Python function, which compiles the function or loads it from the
disk, and writes the address of the machine code into the slot.

Functions of other arguments are compiled for their types by ``compiler.address_of``, and the address is
handed to what calls them.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, addressof, c_double, c_int64, c_uint64, c_void_p, cast
from inspect import signature
from types import FunctionType
from typing import Any

from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba import cfunc, types
from numba.extending import lower_builtin, type_callable

from lowregret.engine.bridge import code_cache
from lowregret.engine.bridge.compile import is_importable, jittable_functions, modules_of
from lowregret.engine.bridge.numba_options import accepted, lock

_OPTIONS: Any = {"error_model": "numpy", "forceinline": True, **accepted("_nrt", False)}
_NUMBERS = {"float": types.float64, "int": types.int64, "Any": types.uint64}
"""The numbers that annotations stand for: ``Any`` is a key or other random bits."""
_C: dict[Any, Any] = {types.float64: c_double, types.int64: c_int64, types.uint64: c_uint64}

_RETURNED = {"None": types.none, "int": types.int64, "tuple[int, int, int]": types.UniTuple(types.int64, 3)}
"""What annotations of functions that are called by an address stand for, where they return it."""

expected: dict[Any, Any] = {}
"""By the functions that are called by an address, the signature for which they are compiled now."""
slots: dict[FunctionType, Slot] = {}
"""The slots of all functions of numbers that compiled code calls by their address."""


def call_at(context: Any, builder: Any, address: Any, kind: Any, arguments: Any) -> Any:
    """Build a call of the function of a signature that lies at an address."""
    returned, *bits = [context.get_value_type(number) for number in (kind.return_type, *kind.args)]
    return builder.call(builder.inttoptr(address, ir.FunctionType(returned, bits).as_pointer()), arguments)


class Slot:
    """Where compiled code finds the address of a function."""

    def __init__(self, function: FunctionType, kind: Any) -> None:
        self.function, self.kind = function, kind
        self.machine_code: Any = None
        self._first_call = CFUNCTYPE(*(_C[number] for number in (kind.return_type, *kind.args)))(self._call)
        self.address = c_void_p(cast(self._first_call, c_void_p).value)

    def compile(self) -> None:
        """Compile or load the function, and let compiled code call it from now on."""
        with lock:
            if self.machine_code is None:
                self.machine_code = machine_code(self.function, self.kind)
                self.address.value = self.machine_code.address

    def _call(self, *numbers: Any) -> Any:
        """Compute the function for compiled code that has found no machine code yet."""
        try:
            self.compile()
        except BaseException:  # an interrupt as well: no exception passes through compiled code
            return self.function(*numbers)
        return self.machine_code.ctypes(*numbers)


def implement_external(function: FunctionType) -> None:
    """Let compiled code call a function of numbers by its address."""
    names, symbol = ", ".join(signature(function).parameters), f"lowregret_{function.__name__}"
    notes = [str(getattr(note, "__name__", note)) for note in function.__annotations__.values()]
    *numbers, returned = [_NUMBERS[note] for note in notes]
    kind = returned(*numbers)
    slots[function] = slot = Slot(function, kind)
    binding.add_symbol(symbol, addressof(slot.address))
    jittable_functions.add(function)
    type_callable(function)(lambda context: eval(f"lambda {names}: signature_", {"signature_": kind}))

    def call(context: Any, builder: Any, kind: Any, arguments: Any) -> Any:
        known = builder.module.globals.get(symbol)
        address = builder.load(known or ir.GlobalVariable(builder.module, ir.IntType(64), symbol))
        return call_at(context, builder, address, kind, arguments)

    lower_builtin(function, *numbers)(call)


def machine_code(function: Any, kind: Any) -> Any:
    """Compile or load a function for the types of a signature; return Numba's object for C functions."""
    return code_cache.compile_or_load(
        function, path_of(function, kind), lambda body, cache: cfunc(kind, cache=cache, **_OPTIONS)(body)
    )


def path_of(function: Any, kind: Any) -> str | None:
    """Return the file beside which the machine code of a function is kept, or None."""
    if not all(map(is_importable, kind.args)):
        return None
    where = function.__module__, "external", kind, modules_of(kind.args)
    return code_cache.file_for("engine", function.__name__, *where)


def signature_for(function: Any, kinds: tuple[Any, ...]) -> Any:
    """Return the signature of a function for arguments of some types."""
    return _RETURNED[function.__annotations__["return"]](*kinds)


def implement_call_by_address(name: Any, function: Any) -> None:
    """Let compiled code that calls ``name`` call a function by the address that is the first argument."""
    returned, names = _RETURNED[function.__annotations__["return"]], list(signature(function).parameters)

    def typed(address: Any, *arguments: Any) -> Any:
        """Return the signature of a call, which must be the one for which the function is compiled."""
        kind = returned(*map(types.unliteral, arguments))
        if kind != expected.get(function):
            raise TypeError(f"{function.__name__} is compiled for {expected.get(function)}, not for {kind}")
        return returned(types.int64, *kind.args)

    def call(context: Any, builder: Any, kind: Any, arguments: Any) -> Any:
        return call_at(context, builder, arguments[0], returned(*kind.args[1:]), arguments[1:])

    listed = ", ".join(["address_", *names])
    type_callable(name)(lambda context: eval(f"lambda {listed}: typed_({listed})", {"typed_": typed}))
    lower_builtin(name, *[types.Any] * (1 + len(names)))(call)


def compile_all() -> None:
    """Compile or load all of these functions, whichever a simulation may call."""
    for slot in slots.values():
        slot.compile()
