"""Draw the figures in docs/images of scripts and code blocks: ``python tools/figures.py [NAME ...]``."""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SCRIPTS = {
    "successor": ("successor.py", "40"),
    "tails": ("tails.py",),
    "eucbv-rounds": ("eucbv_rounds.py",),
    "drift": ("drift.py", "100"),
    "changing-arms": ("changing_arms.py", "100"),
}
"""The scripts in examples/ with their further arguments."""
BLOCKS = {
    "against-gap": ("how-to/analysis.md", "against_gap"),
    "closeness": ("how-to/experiments.md", "closeness"),
    "column": ("how-to/figures.md", "figure"),
}
"""The pages whose code block makes a chart, and its variable."""
OF_A_PAPER = ("column",)
"""Figures in the size of a paper, which have no form for narrow windows."""


def draw(name: str, folder: Path) -> None:
    """Draw one figure."""
    script, figure = folder / f"{name}.py", IMAGES / f"{name}.svg"
    if name in SCRIPTS:
        file, *more = SCRIPTS[name]
        script = ROOT / "examples" / file
    else:
        page, chart = BLOCKS[name]
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        block = next(block for block in blocks if re.search(rf"^{chart} = ", block, re.MULTILINE))
        block = re.sub(r"^.*\.save\(.*\n", "", block, flags=re.MULTILINE)
        script.write_text(f"import sys\nimport lowregret as lr\n{block}\n{chart}.save(sys.argv[1])\n")
        more = []
    runner = () if name in OF_A_PAPER else (str(ROOT / "tools" / "draw.py"),)
    subprocess.run([sys.executable, *runner, str(script), str(figure), *more], check=True, cwd=folder)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        for name in sys.argv[1:] or (*SCRIPTS, *BLOCKS):
            draw(name, Path(folder))
