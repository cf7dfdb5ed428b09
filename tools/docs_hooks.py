"""What the documentation site is made of besides docs/: the reference, the gallery, contributing, changelog.

MkDocs calls ``on_files`` once a build. Each page is written anew from its source: the reference from the
public names of the package and from the commands, the gallery from the scripts in examples/, which are run.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from docs_math import typeset
from docs_terms import linked
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache" / "gallery"

REFERENCE = {
    "simulation": ("Simulation", ("simulate", "trace", "engine.trace.Trace", "bounds")),
    "environments": ("Environments", ("Bandit", "DriftingBandit", "Sampled", "Delay")),
    "results": (
        "Results",
        ("Results", "analysis.runs.Runs", "Metric", "open_results"),
    ),
    "experiments": (
        "Experiments",
        ("Experiment", "experiments.spec.EnvironmentEntry", "experiments.spec.PolicyEntry"),
    ),
    "live": ("Live agents", ("open_agent", "Agent", "AsyncAgent", "Decision", "Request", "replay", "Replay")),
    "planning": ("Planning and service", ("plan", "Plan", "connect", "service.client.RemoteAgent")),
    "suite": ("League and worst case", ("league", "League", "worst_case", "WorstCase")),
    "errors": (
        "Errors and testing",
        ("LowRegretError", "InputError", "StoreError", "ConflictError", "UnknownDecisionError"),
    ),
}
"""Pages of the reference: title and names, those with a dot of what public functions take or return.

``reference_pages`` adds policies, environments and testing.
"""

WITH_INHERITED = ("AsyncAgent", "Results", "Policy")
"""Classes whose bases are not public, so that their pages have the methods of these too."""

GALLERY = (
    "own_policy",
    "sweep",
    "tails",
    "paired_comparison",
    "eucbv_rounds",
    "successor",
    "worst_case",
    "league_entry",
    "many_arms",
    "delayed_rewards",
    "drift",
    "planning",
    "replay_log",
    "live_agent",
    "cluster",
)
"""Scripts of examples/ that the gallery shows, in its order."""


class Example(NamedTuple):
    """A script, what it printed and the figure it drew, if it draws one."""

    name: str
    title: str
    text: str
    code: str
    printed: str
    figure: Path | None


STYLE = """
import runpy, sys
import altair as alt
from lowregret.reporting.chart_style import CONFIG
from lowregret.reporting.policy_styles import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, VIOLET

colours = [BLUE, VERMILION, GREEN, VIOLET, ORANGE, SKY, PURPLE, BLACK]
size = {"continuousWidth": 480, "continuousHeight": 260, "discreteHeight": {"step": 32}}
style = {**CONFIG, "range": {"category": colours}, "mark": {"color": BLUE}, "view": {"stroke": None, **size}}
style["legend"] = {key: value for key, value in CONFIG["legend"].items() if not key.startswith("symbol")}
alt.theme.register("site", enable=True)(lambda: {"config": style})
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a script whose charts have the fonts and colours of the package, unless it sets others."""


def on_config(config: Any) -> Any:
    """Add the examples to the navigation."""
    if config.extra["run_examples"]:
        for entry in config.nav:
            if "Gallery" in entry:
                entry["Gallery"] = ["gallery/index.md", *(f"gallery/{name}.md" for name in GALLERY)]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages."""
    for path, text in {**reference_pages(), **copied_pages()}.items():
        files.append(File.generated(config, path, content=text))
    examples = run_gallery(GALLERY if config.extra["run_examples"] else ())
    for path, content in gallery_pages(examples).items():
        files.append(File.generated(config, path, content=content))
    for path in sorted([*(ROOT / "examples").glob("*.*"), *(ROOT / "src").rglob("*.py")]):
        place = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links out of docs/ to the copies in the site, link terms, and typeset formulas."""
    markdown = re.sub(r"\]\(\.\./(examples|src)/", r"](\1/", markdown)
    path = page.file.src_uri
    if path == "changelog.md" or path.startswith("reference/"):
        return markdown
    if path != "concepts.md":
        markdown = linked(markdown, "../" * path.count("/") + "concepts.md", path)
    return typeset(markdown)


EXAMPLES = "The examples begin with `import lowregret as lr`.\n\n"


def reference_pages() -> dict[str, str]:
    """Return the pages of the reference, in which every public name is documented."""
    import lowregret as lr
    from lowregret import environments, policies

    pages = {}
    for page, (title, names) in REFERENCE.items():
        pages[f"reference/{page}.md"] = _reference(title, names)
    constructors = [name for name in dir(lr) if name[0].islower() and name in vars(environments)]
    pages["reference/environments.md"] += _entries(constructors)
    protocol = ("Policy", "Arm", "Arms", "Clock", "Random", "NEVER")
    pages["reference/policies.md"] = (
        f"# Policies\n\n{EXAMPLES}## Protocol\n\n"
        + _entries(protocol, 3)
        + "## Policies of the package\n\n"
        + _entries(policies.POLICIES, 3, members=False)
    )
    pages["reference/errors.md"] += "\n\n::: lowregret.testing\n    options: {members_order: alphabetical}\n"
    pages["reference/commands.md"] = commands_page()
    return pages


def _reference(title: str, names: Any) -> str:
    return f"# {title}\n\n{EXAMPLES}{_entries(names)}"


def _entries(names: Any, level: int = 2, **options: bool) -> str:
    text = ""
    for name in names:
        chosen = {"heading_level": level, "inherited_members": name in WITH_INHERITED, **options}
        text += f"::: lowregret.{name}\n    options: {json.dumps(chosen)}\n\n"
    return text


def commands_page() -> str:
    """Return the page of all commands, from their own help."""
    import click
    from typer.main import get_command

    from lowregret.cli import app

    def sections(command: click.Command, context: click.Context, level: int) -> str:
        found = f"{'#' * level} `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n\n"
        for name, inner in getattr(command, "commands", {}).items():
            found += sections(inner, click.Context(inner, info_name=name, parent=context), level + 1)
        return found

    command = get_command(app)
    context = click.Context(command, info_name="lowregret", terminal_width=100, max_content_width=100)
    return "# Command line\n\n" + sections(command, context, 2)


def copied_pages() -> dict[str, str]:
    """Return the pages whose source is at the root of the repository, with their links moved."""
    pages = {}
    for name in ("CONTRIBUTING", "CHANGELOG"):
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        pages[f"{name.lower()}.md"] = re.sub(r"\]\(docs/", "](", text)
    return pages


def run_gallery(names: Any) -> list[Example]:
    """Run the scripts, two at a time; one that ran before with the same code is not run again."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(run_example, names))


def run_example(name: str) -> Example:
    """Run a script with the name of a figure to draw."""
    path = ROOT / "examples" / f"{name}.py"
    code = path.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(code)) or ""
    title, _, text = docstring.partition("\n")
    stem = CACHE / f"{name}-{_digest(code)}"
    output, figure = stem.with_suffix(".txt"), stem.with_suffix(".svg")
    if not output.exists():
        for old in CACHE.glob(f"{name}-*"):
            old.unlink()
        call = [sys.executable, "-c", STYLE, str(path), str(figure)]
        env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(call, capture_output=True, text=True, cwd=CACHE, env=env)
        if done.returncode != 0:
            raise RuntimeError(f"examples/{name}.py failed:\n{done.stderr}")
        output.write_text(done.stdout, encoding="utf-8")
    printed = output.read_text(encoding="utf-8")
    code = code.split('"""', 2)[2].strip()
    return Example(name, title.rstrip("."), text.strip(), code, printed, figure if figure.exists() else None)


def _digest(code: str) -> str:
    """Hash a script together with the package, so that a change of either runs it again."""
    return hashlib.sha256((code + STYLE + _package()).encode()).hexdigest()[:16]


@cache
def _package() -> str:
    """Return the code of the package without comments and docstrings."""
    dumped = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(getattr(node, "body", None), list):
                node.body = [each for each in node.body if not _is_text(each)]  # type: ignore[attr-defined]
        dumped.append(ast.dump(tree))
    return hashlib.sha256("".join(dumped).encode()).hexdigest()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def gallery_pages(examples: list[Example]) -> dict[str, str]:
    """Return a page for each example, and one with all figures."""
    cards, pages = [], {}
    for each in examples:
        figure = "" if each.figure is None else f"![{each.title}]({each.name}.svg)\n\n"
        pages[f"gallery/{each.name}.md"] = (
            f"# {each.title}\n\n{each.text}\n\n{figure}```python\n{each.code}\n```\n\n"
            f"```text\n{each.printed.rstrip()}\n```\n\nScript: `examples/{each.name}.py`\n"
        )
        if each.figure is not None:
            svg = each.figure.read_text(encoding="utf-8")
            pages[f"gallery/{each.name}.svg"] = smaller(svg)
            pages[f"gallery/{each.name}-plot.svg"] = thumbnail(smaller(svg))
        image = "" if each.figure is None else f"[![]({each.name}-plot.svg)]({each.name}.md)\n\n"
        cards.append(f'<div class="card" markdown>\n\n**[{each.title}]({each.name}.md)**\n\n{image}</div>\n')
    heading = "---\nhide: [toc]\n---\n\n# Gallery\n\nShort scripts, each run when this site was built.\n\n"
    pages["gallery/index.md"] = f'{heading}<div class="gallery" markdown>\n\n{"".join(cards)}\n</div>\n'
    return pages


def smaller(svg: str) -> str:
    """Round places to hundredths of a pixel, and leave out the labels of marks: an image shows none."""

    def tag(found: re.Match[str]) -> str:
        plain = re.sub(r' (?:aria-label|aria-roledescription|role)="[^"]*"', "", found[0])
        return re.sub(r"(\.\d\d)\d+", r"\1", plain)

    return re.sub(r"<[^>]+>", tag, svg)  # the text between tags stays


def thumbnail(svg: str) -> str:
    """Crop a figure to its first plot, without text, stretched to one size and with lines of one width."""
    x, y, width, height = next(_plots(ElementTree.fromstring(svg), 0.0, 0.0))
    edge = 0.01 * width, 0.02 * height
    box = x - edge[0], y - edge[1], width + 2 * edge[0], height + 2 * edge[1]
    head = (
        f'width="320" height="190" viewBox="{" ".join(map("{:g}".format, box))}" preserveAspectRatio="none">'
        "<style>text { display: none } * { vector-effect: non-scaling-stroke }</style>"
    )
    return re.sub(r'width="[^"]*" height="[^"]*" viewBox="[^"]*">', head, svg, count=1)


def _plots(element: ElementTree.Element, x: float, y: float) -> Iterator[tuple[float, ...]]:
    """Yield the place and the size of every plot in a figure; groups without one are small or empty."""
    moved = re.match(r"translate\(([-\d.]+),([-\d.]+)\)", element.get("transform", ""))
    x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
    if element.get("class") == "background":
        width, height = map(float, re.findall(r"[hv]([\d.]+)", element.get("d", ""))[:2])
        if min(width, height) > 70:
            yield x, y, width, height
    for inner in element:
        yield from _plots(inner, x, y)


SHIM = '<script src="https://unpkg.com/iframe-worker/shim"></script>'
"""What the theme loads from outside, so that search works in a page that was opened as a file."""

WORKER = """if (location.protocol === "file:") {
  const code = URL.createObjectURL(new Blob([%s], {type: "text/javascript"}));
  const Plain = Worker;
  window.Worker = class extends Plain { constructor() { super(code); } };
}
"""
"""A browser refuses a worker from a file; one made of text that the page has loaded is allowed."""


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Load the search worker from the site itself."""
    return output.replace(SHIM, f'<script src="{"../" * page.url.count("/")}search/worker.js"></script>')


def on_post_template(output_content: str, **_: Any) -> str:
    """Do the same in the page for a missing address."""
    return output_content.replace(SHIM, "")


@event_priority(-200)  # after the plugin that writes the search index
def on_post_build(config: Any) -> None:
    """Write the search worker as text, and refuse a page that is too large."""
    site = Path(config.site_dir)
    (worker,) = (site / "assets/javascripts/workers").glob("search.*.min.js")
    text = json.dumps(worker.read_text(encoding="utf-8"))
    (site / "search/worker.js").write_text(WORKER % text, encoding="utf-8")
    for page in site.rglob("*.html"):
        if page.name != "404.html" and (size := weight(page, site)) > LARGEST:  # whose addresses are absolute
            raise RuntimeError(f"{page.relative_to(site)} loads {size:,} bytes, and {LARGEST:,} are allowed")


LARGEST = 1_500_000
LOADED = re.compile(r'<(?:img|script)[^>]+src="([^"#]+)"|<link rel="stylesheet" href="([^"]+)"')


def weight(page: Path, site: Path) -> int:
    """Return the bytes of a page with all that it loads: figures, scripts, styles and the search index."""
    names = LOADED.findall(page.read_text(encoding="utf-8"))
    loaded = {(page.parent / (name or style)).resolve() for name, style in names}
    return sum(path.stat().st_size for path in {page, site / "search/search_index.js", *loaded})
