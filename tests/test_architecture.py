"""The table of docs/explanation/architecture.md names files that there are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
OUTSIDE = ("tests/", "docs/", "tools/", "README.md", "pyproject.toml", "reproductions/NAME/")


def named_files() -> list[str]:
    """Return the paths in the pictures and in the table; a name alone is in the folder of the one before."""
    paths = re.findall(r"(?m)^\W*[^`\n]*? {2,}((?:[a-z_]+/)+[a-z_]+\.py)", PAGE)
    table = PAGE.partition("| to add")[2].partition("Some rows need")[0]
    folder = ""
    for path in re.findall(r"`((?:[\w.]+/)*(?:[\w.]+\.(?:pyi?|md|js|toml)|(?<=/)))`", table):
        if (
            "/" not in path
            and not (ROOT / "src/lowregret" / path).exists()
            and not path.endswith((".md", ".toml"))
        ):
            path = folder + path
        folder = path.rpartition("/")[0] + "/"
        paths.append(path)
    return list(dict.fromkeys(paths))


@pytest.mark.parametrize("path", named_files())
def test_a_named_file_exists(path: str) -> None:
    folder = ROOT if path.startswith(OUTSIDE) else ROOT / "src" / "lowregret"
    assert path == "reproductions/NAME/" or (folder / path).exists()


def test_the_table_names_many_files() -> None:
    assert len(named_files()) > 80
