"""Build the wheel, install it alone into a clean environment for each Python, and use it as a user would.

python tools/verify_wheel.py [PYTHON ...]     by default this Python and the newest that is found
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]

USE = """
import lowregret as lr
result = lr.simulate([lr.EUCBV(), lr.MOSSV()], lr.bernoulli([0.2, 0.8]), horizon=500, runs=4, seed=1)
assert result.summary().height == 2
with lr.open_agent("choices.db", lr.EUCBV(), ["red", "green"], horizon=100, seed=1) as agent:
    agent.tell(agent.ask(), 1)
with lr.open_agent("choices.db") as agent:
    assert agent.summary()["pulls"].sum() == 1
try:
    result.plot()
except lr.InputError as error:
    assert 'pip install "lowregret[plots]"' in str(error)
else:
    raise AssertionError("a chart without the extra")
print(lr.__file__)
"""
DRAW = """
import lowregret as lr
result = lr.simulate(["MOSS", "UCB1"], "bernoulli:0.2,0.8", horizon=50, runs=2, engine="reference")
assert result.plot().to_dict() and len(result.report("report")) > 1
"""
COMMANDS = (
    ["--version"],
    ["simulate", "--environment", "bernoulli:0.2,0.8", "--policy", "UCB1", "--horizon", "300", "--runs", "3"],
    ["agent", "list", "choices.db"],
    ["reproduce", "--list"],
)
REPRODUCE = ["reproduce", "audibert2009", "--runs", "2", "--figures", "none"]


def newest() -> str | None:
    """Return the newest Python on this machine, None if there is none besides this one."""
    installed = Path.home() / ".pyenv/versions"
    for minor in range(20, sys.version_info.minor, -1):
        found = [shutil.which(f"python3.{minor}"), *map(str, installed.glob(f"3.{minor}.*/bin/python"))]
        for python in filter(None, found):
            if subprocess.run([python, "--version"], capture_output=True).returncode == 0:
                return python
    return None


def build(folder: Path) -> Path:
    """Build sdist and wheel into a folder; return the wheel, which is made from the sdist."""
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def verify(wheel: Path, python: str, folder: Path) -> None:
    """Install a wheel into a new environment, import it, simulate, decide, run commands, and draw."""
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    tools = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    install = [tools / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pins = ["--constraint", ROOT / "constraints.txt"]
    subprocess.run([*install, *pins, wheel], check=True, capture_output=True)
    used = subprocess.run(
        [tools / "python", "-c", USE], check=True, cwd=folder, capture_output=True, text=True
    )
    if folder.resolve() not in Path(used.stdout.strip()).resolve().parents:
        raise RuntimeError(f"imported {used.stdout.strip()}, not the wheel")
    for arguments in COMMANDS:
        subprocess.run([tools / "lowregret", *arguments], check=True, cwd=folder, capture_output=True)
    subprocess.run([*install, *pins, f"{wheel}[plots]"], check=True, capture_output=True)
    subprocess.run([tools / "python", "-c", DRAW], check=True, cwd=folder, capture_output=True)
    subprocess.run([tools / "lowregret", *REPRODUCE], check=True, cwd=folder, capture_output=True)


def main() -> None:
    """Verify the wheel with every Python given."""
    pythons = sys.argv[1:] or [sys.executable, *filter(None, [newest()])]
    with TemporaryDirectory() as folder:
        wheel = build(Path(folder))
        for number, python in enumerate(pythons):
            (Path(folder) / str(number)).mkdir()
            verify(wheel, python, Path(folder) / str(number))
            print(f"{wheel.name} works with {python}")


if __name__ == "__main__":
    main()
