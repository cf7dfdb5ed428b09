"""Compare the intervals of single means with those of confseq, in an environment of its own.

Builds confseq, which needs a C++ compiler, in ``.venv-confseq``, and computes its beta-binomial intervals
there for the counts in ``tests/data/confseq.json``. The tests compare ours with the recorded ones. The wheel
cmeel-boost has the headers of Boost. confseq asks for a pybind11 that does not know Python 3.11; the present
one builds it.

    python tools/verify_confseq.py          # fails if confseq gives others than those recorded
    python tools/verify_confseq.py --write  # records them
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER, RECORD = ROOT / ".venv-confseq", ROOT / "tests" / "data" / "confseq.json"
TOOLS = "cmake", "cmeel-boost", "ninja", "numpy", "pybind11", "scikit-build", "setuptools", "wheel"
PROGRAM = """
import json, sys
from confseq.boundaries import bernoulli_confidence_interval
cases = json.load(sys.stdin)
print(json.dumps([bernoulli_confidence_interval(s, n, alpha, t, 0.05) for n, s, alpha, t, *_ in cases]))
"""


def main() -> None:
    """Set up the environment and compare."""
    python = str(FOLDER / ("Scripts" if os.name == "nt" else "bin") / "python")
    if not FOLDER.exists():
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
    install = [python, "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, *TOOLS], check=True)
    headers = next(FOLDER.glob("[Ll]ib/**/cmeel.prefix/include"))
    options = {**os.environ, "SKBUILD_CONFIGURE_OPTIONS": f"-DBoost_INCLUDE_DIR={headers}"}
    if subprocess.run(
        [*install, "--no-build-isolation", "--no-deps", "confseq==0.0.11"], env=options
    ).returncode:
        raise SystemExit("confseq was not built: it needs a C++ compiler")
    cases = json.loads(RECORD.read_text(encoding="utf-8"))
    done = subprocess.run(
        [python, "-c", PROGRAM], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    ends = json.loads(done.stdout)
    if "--write" in sys.argv:
        rows = [[*case[:4], *pair] for case, pair in zip(cases, ends, strict=True)]
        RECORD.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")
        return
    worst = max(
        abs(one - other)
        for case, pair in zip(cases, ends, strict=True)
        for one, other in zip(case[4:], pair, strict=True)
    )
    print(f"{len(cases)} intervals of confseq differ from those recorded by at most {worst:.1e}")
    if worst > 1e-10:
        raise SystemExit("the recorded intervals are not those of confseq: look at both, or use --write")


if __name__ == "__main__":
    main()
