"""Every example runs as a user would run it."""

import ast
import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
DOWNLOADS = FOLDER / "open_bandit.py"
"""What needs the network; tests/offline/test_open_bandit.py looks at its parts."""
SERVICE = FOLDER / "web_handler.py"
SCRIPTS = sorted(set(FOLDER.glob("*.py")) - {DOWNLOADS, SERVICE})
LONG = {"drift", "worst_case"}
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
EXPERIMENTS = sorted(FOLDER.glob("*.toml"))


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.heavy] * (path.stem in LONG)) for path in SCRIPTS],
    ids=lambda path: path.stem,
)
def test_script(path):
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
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


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_experiment(path, tmp_path):
    call = [sys.executable, "-m", "lowregret", "run", str(path), "--out", str(tmp_path / "out")]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
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
    with urlopen(Request(address, data)) as answer:
        return json.load(answer)


@pytest.mark.parametrize("name", ["choices.db", "choices.journal"])
def test_web_service(tmp_path, name):
    """It chooses, learns, answers the same to the same visit, and goes on after it was killed."""
    with served(tmp_path / name) as address:
        first = got(f"{address}?visit=1")
        assert got(f"{address}?visit=1") == first
        assert got(f"{address}?visit=2")["arm"] != first["arm"]
        assert got(address, {"id": first["id"], "reward": 1}) == {"new": True}
        with pytest.raises(HTTPError) as caught:
            got(address, {"id": first["id"], "reward": 0})
        assert "is rejected" in json.load(caught.value)["error"]
        caught.value.close()
    with served(tmp_path / name) as address:
        assert got(f"{address}?visit=1") == first
        assert got(address, {"id": first["id"], "reward": 1}) == {"new": False}
