"""Run a notebook and store its outputs in it, so that a forge shows them.

    python tools/run_notebook.py examples/tour.ipynb

The last expression of a cell is shown as HTML or SVG, as Jupyter shows it, or as text.
"""

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any


def lines(text: str) -> list[str]:
    """Split a text as notebooks store it."""
    return text.splitlines(keepends=True)


def data_of(value: Any) -> dict[str, list[str]]:
    """Return what a notebook shows of a value, by media type."""
    data = {"text/plain": lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = lines(value._repr_html_())
    elif hasattr(value, "_repr_mimebundle_"):
        data = {kind: lines(text) for kind, text in value._repr_mimebundle_().items()}
    return data


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Execute a cell, and return its outputs."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None:
        shown = {
            "output_type": "execute_result",
            "execution_count": None,
            "metadata": {},
            "data": data_of(value),
        }
        outputs.append(shown)
    return outputs


def run(path: Path) -> None:
    """Run the cells of a notebook in order, and store their outputs."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = run_cell("".join(cell["source"]), names)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    run(Path(sys.argv[1]))
