"""Functions of numbers that compiled code calls by a symbol: they are compiled once, not into every caller.

Numba links all that a function calls into its machine code, and optimises it again. The draws of rare
families of rewards would be a third of the code of a class of policies.
"""

from __future__ import annotations

from inspect import signature
from types import FunctionType
from typing import Any, cast

from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba import cfunc, config, types
from numba.extending import intrinsic, overload

from lowregret.engine.bridge import code_cache
from lowregret.engine.bridge.compile import jittable_functions
from lowregret.engine.bridge.numba_options import INLINED, accepted, lock, overload_options

_OPTIONS: Any = {"error_model": "numpy", "forceinline": True, **accepted("_nrt", False)}
_NUMBERS = {"float": types.float64, "int": types.int64, "Any": types.uint64}
"""The numbers that annotations stand for: ``Any`` is a key or other random bits."""
_BITS = {types.float64: ir.DoubleType(), types.int64: ir.IntType(64), types.uint64: ir.IntType(64)}

undefined: dict[str, tuple[FunctionType, Any]] = {}
"""By symbol the functions that this process has yet to compile or load; each calls earlier ones only."""
_compiled: list[Any] = []
"""The others: their machine code lives as long as these."""
_defining = False


def implement_external(function: FunctionType) -> None:
    """Let compiled code call a function of numbers by a symbol."""
    symbol, names = f"lowregret_{function.__name__}", ", ".join(signature(function).parameters)
    notes = [str(getattr(note, "__name__", note)) for note in function.__annotations__.values()]
    *numbers, returned = [_NUMBERS[note] for note in notes]
    kind = returned(*numbers)
    undefined[symbol] = function, kind
    jittable_functions.add(function)

    def call(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        function_type = ir.FunctionType(_BITS[kind.return_type], [_BITS[number] for number in kind.args])
        known = builder.module.globals.get(symbol)
        return builder.call(known or ir.Function(builder.module, function_type, symbol), arguments)

    typed: Any = intrinsic(eval(f"lambda context_, {names}: answer_", {"answer_": (kind, call)}))
    body = eval(f"lambda {names}: typed_({names})", {"typed_": typed})

    def build(*arguments: Any) -> Any:
        define_symbols()
        assert symbol not in undefined, f"{symbol} is called by what was declared before it"
        return body

    cast(Any, build).__signature__ = signature(function)
    overload(function, **overload_options(INLINED))(build)


def define_symbols() -> None:
    """Compile or load what the symbols stand for, before machine code that refers to them is linked."""
    global _defining
    if not undefined or cast(Any, config).DISABLE_JIT:  # whoever holds a lock of Numba must not wait for ours
        return
    with lock:
        if _defining:  # while one is compiled that calls earlier ones
            return
        _defining = True
        try:
            while undefined:
                symbol, (function, kind) = next(iter(undefined.items()))
                _compiled.append(compile_external(function, kind))
                binding.add_symbol(symbol, _compiled[-1].address)
                del undefined[symbol]
        finally:
            _defining = False


def compile_external(function: FunctionType, kind: Any) -> Any:
    path = code_cache.file_for("engine", function.__name__, function.__module__, "external", kind)
    return code_cache.compile_or_load(
        function, path, lambda body, cache: cfunc(kind, cache=cache, **_OPTIONS)(body)
    )
