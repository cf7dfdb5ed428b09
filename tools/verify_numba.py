"""Test the oldest supported Numba in an environment of its own.

Installs this package with the oldest Numba that ``pyproject.toml`` allows and a NumPy of its time into
``.venv-oldest``, and runs the tests of compilation and the recorded outcomes of five policies there; the
latter also with references to arrays counted, as a Numba without that option would.

    python tools/verify_numba.py
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".venv-oldest"
POLICIES = "EUCBV or UCB1 or DMED or ThompsonBeta or (KLUCB and not Plus and not Gauss)"
OUTCOMES = ["tests/engine/test_recorded_outcomes.py", "-k", POLICIES]


def oldest(package: str) -> str:
    """Return the oldest version of a package that ``pyproject.toml`` allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for requirement in project["project"]["dependencies"]:
        if found := re.fullmatch(rf"{package}>=([0-9.]+).*", requirement):
            return found[1]
    raise SystemExit(f"pyproject.toml has no oldest {package}")


def run(*command: str, **variables: str) -> None:
    """Run a command in the root of the repository; end if it fails."""
    print("+", *command, flush=True)
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


def main() -> None:
    """Set up the environment and run the tests."""
    python = str(FOLDER / ("Scripts" if os.name == "nt" else "bin") / "python")
    if not FOLDER.exists():
        run(sys.executable, "-m", "venv", str(FOLDER))
    pins = [f"{package}=={oldest(package)}.*" for package in ("numba", "numpy")]
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--editable", ".", "pytest", "hypothesis", *pins)
    run(python, "-m", "pytest", "--quiet", "tests/engine/test_compile.py", "tests/engine/test_identity.py")
    run(python, "-m", "pytest", "--quiet", *OUTCOMES)
    run(python, "-m", "pytest", "--quiet", *OUTCOMES, LOWREGRET_COUNT_REFERENCES="1")


if __name__ == "__main__":
    main()
