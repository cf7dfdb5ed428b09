"""Every example runs.

Scripts run in this process, as ``__main__``: to start Python and load machine code anew takes longer than
most of them. The one that starts processes itself runs as a user would run it.
"""

import ast
import json
import runpy
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from typer.testing import CliRunner

from lowregret.cli import app

FOLDER = Path(__file__).parents[1] / "examples"
DOWNLOADS = FOLDER / "open_bandit.py"
"""What needs the network; tests/offline/test_open_bandit.py looks at its parts."""
SERVICE = FOLDER / "web_handler.py"
CLUSTER = FOLDER / "cluster.py"
SCRIPTS = sorted(set(FOLDER.glob("*.py")) - {DOWNLOADS, SERVICE, CLUSTER})
LONG = {"changing_arms", "delayed_rewards", "drift", "eucbv_rounds", "worst_case"}
"""What takes long; the script that starts a cluster does too."""
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
EXPERIMENTS = sorted(FOLDER.glob("*.toml"))


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.heavy] * (path.stem in LONG)) for path in SCRIPTS],
    ids=lambda path: path.stem,
)
def test_script(path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_parts_of_long_scripts():
    """They import what exists, and the one that computes something of its own does."""
    paths = [CLUSTER, *(path for path in SCRIPTS if path.stem in LONG)]
    parts = {path.stem: runpy.run_path(str(path), run_name="parts") for path in paths}
    rounds = parts["eucbv_rounds"]
    assert all(map(len, rounds["intervals_and_rounds"](*rounds["simulate"](rounds["SEED"]))))


@pytest.mark.heavy
def test_script_that_starts_processes():
    done = subprocess.run([sys.executable, str(CLUSTER)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path):
    """Run the cells in order and show the last expression of each, as a notebook does."""
    namespace = {"__name__": "__main__"}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(path), "exec"), namespace)
        if last is not None:
            shown = eval(compile(ast.Expression(last.value), str(path), "eval"), namespace)
            show = getattr(shown, "_repr_html_", None) or getattr(shown, "_repr_mimebundle_", shown.__repr__)
            assert show() or shown is None
            assert cell["outputs"] or path.stem != "tour"  # a forge shows what is stored


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_experiment(path, tmp_path):
    done = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "out")], prog_name="lowregret")
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith(f"results in {tmp_path / 'out'}\n")
    assert (tmp_path / "out" / "finals.parquet").is_file()


def test_there_are_examples():
    assert SCRIPTS
    assert NOTEBOOKS
    assert EXPERIMENTS


@contextmanager
def served(path):
    """Run the web service; give its address; kill it."""
    call = [sys.executable, str(SERVICE), str(path), "0"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def got(address, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(address, data), timeout=180) as answer:
        return json.load(answer)


def test_web_service(tmp_path):
    """It chooses, learns, answers the same to the same visit, and goes on after it was killed."""
    with served(tmp_path / "choices.db") as address:
        first = got(f"{address}?visit=1")
        assert got(f"{address}?visit=1") == first
        assert got(f"{address}?visit=2")["arm"] != first["arm"]
        assert got(address, {"id": first["id"], "reward": 1}) == {"new": True}
        with pytest.raises(HTTPError) as caught:
            got(address, {"id": first["id"], "reward": 0})
        assert "is rejected" in json.load(caught.value)["error"]
        caught.value.close()
    with served(tmp_path / "choices.db") as address:
        assert got(f"{address}?visit=1") == first
        assert got(address, {"id": first["id"], "reward": 1}) == {"new": False}
