"""Compare the policies with those of other packages, in an environment of its own.

Installs this package and the others, by name and version, into ``.venv-peers``, and runs
``tools/peers/compare.py`` there. The outcome is on the page ``docs/evidence/peers.md``.

    python tools/verify_peers.py          # fails if the outcome is not as recorded
    python tools/verify_peers.py --write  # records it
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".venv-peers"
PEERS = ("SMPyBandits==0.9.7", "mabwiser==2.7.4", "river==0.26.1", "pymab==2.0.1")


def run(*command: str) -> None:
    """Run a command in the root of the repository; end if it fails."""
    print("+", *command, flush=True)
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


def main() -> None:
    """Set up the environment and compare."""
    python = str(FOLDER / ("Scripts" if os.name == "nt" else "bin") / "python")
    if not FOLDER.exists():
        run(sys.executable, "-m", "venv", str(FOLDER))
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--constraint", "constraints.txt", "--editable", ".", *PEERS)
    run(python, "tools/peers/compare.py", *sys.argv[1:])


if __name__ == "__main__":
    main()
