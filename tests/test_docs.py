"""Every example in README.md and docs runs as written, and prints what is shown under it.

The blocks of a page run in order, in one namespace and one folder. A ``text`` block shows what the block
before it prints. A ``toml`` block that begins with the name of a file is written to it. An ``sh`` block holds
one command a line: those of ``lowregret`` run, the others must exist. A comment ``<!-- not run: reason -->``
on the line before a block leaves it out; its commands must still exist.
"""

import io
import re
import shlex
import shutil
import sys
import tomllib
from contextlib import chdir, redirect_stdout, suppress
from itertools import pairwise, takewhile
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import polars as pl
import pytest
from typer import BadParameter
from typer.main import get_command
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.planning.plan import FOR_RATES
from lowregret.policies import POLICIES
from lowregret.policies.recommended import RECOMMENDED

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(<!-- not run: [^\n]+ -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(lowregret [a-z][^`]*)`")
TOML_FILE = re.compile(r"# ([\w.-]+\.toml)\b")
TIMES = (
    (re.compile(r"^(about .*|less than a second) on \d+ workers"), "about ... on ... workers"),
    (re.compile(r"[0-9a-f]{8}-\d+"), "ID"),
)
"""What differs from one machine or one call to the next."""


class Block(NamedTuple):
    """A fenced block of a page."""

    line: int
    language: str
    text: str
    skipped: bool


def blocks(page):
    """Return the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(text.count("\n", 0, found.start(3)) + 1, found[2], found[3], bool(found[1]))
        for found in BLOCK.finditer(text)
    ]


def commands(text):
    """Return the commands of a block as lists of words."""
    return [words for line in text.splitlines() if (words := shlex.split(line, comments=True))]


def check_command(words):
    """Check that a command, its options and the files it names exist."""
    if words[0] == "lowregret":
        name, *arguments = takewhile(lambda word: word != ">", words[1:])
        get_command(app).commands[name].make_context(name, arguments)
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), words
    elif words[0].endswith("python"):
        assert words[1] in ("-c", "-m") or (ROOT / words[1]).is_file(), words
    else:
        assert words[0] in ("pip", "git", "pytest"), words


def run_commands(text):
    """Run the commands of ``lowregret`` in a block, and return what they print."""
    printed = ""
    for words in commands(text):
        check_command(words)
        if words[0] == "lowregret":
            done = CliRunner().invoke(app, words[1:], prog_name="lowregret")
            assert done.exit_code == 0, f"{shlex.join(words)}: {done.output}"
            printed += done.stdout
    return printed


def run_python(block, page, names):
    """Execute a block, and return what it prints."""
    source = "\n" * (block.line - 1) + block.text
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(source, str(page), "exec", dont_inherit=True), names)
    return printed.getvalue()


def outputs(page, folder):
    """Run a page in a folder; yield each block with a text under it, the text, and what the block prints."""
    module = ModuleType(f"docs_{page.stem}")
    sys.modules[module.__name__] = module  # dataclasses look their module up there
    shutil.copytree(ROOT / "examples", folder / "examples")
    found = blocks(page)
    with chdir(folder), pl.Config(tbl_width_chars=130):
        for block, following in pairwise([*found, None]):
            printed = None
            if block.language == "sh" and block.skipped:
                for words in commands(block.text):
                    check_command(words)
            elif block.language == "sh":
                printed = run_commands(block.text)
            elif block.language == "python" and not block.skipped:
                printed = run_python(block, page, vars(module))
            elif block.language == "toml":
                tomllib.loads(block.text)
                if name := TOML_FILE.match(block.text):
                    Path(name[1]).write_text(block.text, encoding="utf-8")
            if printed is not None and following and following.language == "text":
                yield block, following.text, printed


def normalised(text):
    """Return the lines of an output without times, margins and trailing space."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for pattern, replacement in TIMES:
        lines = [pattern.sub(replacement, line) for line in lines]
    if "ns/step" in text:  # the last column
        lines = [" ".join(line.split()[:-1]) for line in lines]
    return [re.sub(r"─+", "─", line) for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, tmp_path):
    for block, shown, printed in outputs(page, tmp_path):
        assert normalised(printed) == normalised(shown), f"{page.name}, line {block.line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_in_the_text(page):
    for command in INLINE.findall(page.read_text(encoding="utf-8")):
        with suppress(BadParameter):  # the text may leave out an argument
            check_command(shlex.split(command, comments=True))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_which_policy_is_one_advice():
    """The page has the table of the package, every policy with what it needs, and the year of its source."""
    page = (ROOT / "docs" / "reference" / "which-policy.md").read_text(encoding="utf-8")
    table = page.partition("| begin with | for |\n|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == [f"| `{name}` | {problems} |" for name, problems in RECOMMENDED.items()]
    rows = {row[0]: row[1] for row in re.findall(r"^\| \[`(\w+)`\]\(.*?\.py\) \|(.*)\|$", page, re.MULTILINE)}
    assert set(rows) == set(POLICIES)
    short = {"rewards in [0, 1]": "[0, 1]", "bounded rewards": "bounded", "horizon": "$T$"}
    for name, row in rows.items():
        cells = [cell.strip() for cell in row.split(" | ")]
        needs = ", ".join(short.get(need, "$\\sigma^2$") for need in POLICIES[name].needs) or "-"
        assert cells[2] == needs, name
        year = re.search(r"\b(19|20)\d\d\b", POLICIES[name].source)
        assert year is None or cells[-1] == year[0], name


def test_everything_else_agrees_with_the_advice():
    """README begins with the first policy, plans compare it, and other pages link instead of advising."""
    first = next(iter(RECOMMENDED))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"begin with `{first}`" in readme and "docs/reference/which-policy.md" in readme
    assert first in FOR_RATES
    for name in ("evidence/league.md", "live/planning.md", "how-to/policies.md", "start/tutorial.md"):
        page = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert "which-policy.md" in page, name
        assert "| begin with |" not in page, name


def test_names_in_the_text():
    """Every ``lr.name`` of a page is public."""
    for page in PAGES:
        for name in re.findall(r"\blr\.([A-Za-z_]\w*)", page.read_text(encoding="utf-8")):
            assert hasattr(lr, name), f"{page.name}: lr.{name}"
