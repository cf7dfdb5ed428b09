"""What the documentation site is made of besides docs/: the reference, the gallery, contributing, changelog.

MkDocs calls ``on_files`` once a build. Each page is written anew from its source: the reference from the
public names of the package and from the commands, the gallery from the scripts in examples/, which are run.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import posixpath
import re
import subprocess
import sys
from collections.abc import Container
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from html import unescape
from importlib.metadata import distribution
from importlib.metadata import files as distribution_files
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from docs_terms import linked
from fontTools.ttLib import TTFont
from latex2mathml.converter import convert
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache" / "gallery"

REFERENCE = {
    "simulation": ("Simulation", ("simulate", "trace", "engine.trace.Trace", "bounds", "sample_complexity")),
    "environments": ("Environments", ("Bandit", "DriftingBandit", "RandomBandit", "Sampled", "Delay")),
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
        (
            "LowRegretError",
            "InputError",
            "StoreError",
            "ConflictError",
            "PausedError",
            "UnknownDecisionError",
        ),
    ),
}
"""Pages of the reference: title and names, those with a dot of what public functions take or return.

``reference_pages`` adds policies, environments and testing.
"""

WITH_INHERITED = ("AsyncAgent", "service.client.RemoteAgent", "Results", "Policy", "Sampled")
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
    "changing_arms",
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


DRAW = ROOT / "tools" / "draw.py"
"""Runs a script and draws its figure twice, for wide and for narrow windows."""


def on_config(config: Any) -> Any:
    """Add the examples to the navigation."""
    if config.extra["run_examples"]:
        (guides,) = (entry["How-to"] for entry in config.nav if "How-to" in entry)
        (examples,) = (entry for entry in guides if "Examples" in entry)
        examples["Examples"] = ["gallery/index.md", *(f"gallery/{name}.md" for name in GALLERY)]
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
    """Point links out of docs/ to the copies in the site, and link terms."""
    markdown = re.sub(r"\]\(\.\./((?:\.\./)*(?:examples|src)/)", r"](\1", markdown)
    markdown = re.sub(r"\[([^\]]+)\]\((?:\.\./)+(reproductions/[^)]+)\)", r"\1 (`\2`)", markdown)
    path = page.file.src_uri
    if path == "changelog.md" or (page.file.generated_by and path.startswith("reference/")):
        return markdown
    if path == "reference/which-policy.md":  # in the site, a policy links to its reference
        markdown = re.sub(
            r"\[`(\w+)`\]\([./]*src/[\w/]+\.py\)", r"[`\1`](policies.md#lowregret.\1)", markdown
        )
    if path != CONCEPTS:
        return linked(markdown, "../" * path.count("/") + CONCEPTS, path)
    return markdown


FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
_NAME = "<m[io]>(?:log|exp)</m[io]>"
FUNCTION = re.compile(rf"<(msub|msup|msubsup)>{_NAME}.*?</\1>|{_NAME}")


def on_page_content(html: str, page: Any, files: Any, **_: Any) -> str:
    """Typeset the formulas of a page and of the docstrings in it, and add the narrow forms of its figures."""
    html = with_narrow_forms(html, page.file.dest_uri, {file.dest_uri for file in files})
    return FORMULA.sub(lambda formula: typeset(formula[2], block=formula[1] == "div"), html)


def typeset(formula: str, block: bool = False) -> str:
    """Return a formula in LaTeX as MathML, which browsers draw without a script or a network."""
    mathml = convert(unescape(formula).strip(), display="block" if block else "inline")
    mathml = FUNCTION.sub(r'\g<0><mspace width="0.17em" />', mathml)
    return f'<div class="formula">{mathml}</div>' if block else mathml


def math_font(characters: set[str]) -> bytes:
    """Return STIX Two Math with these characters: without such a font, roots and brackets do not grow."""
    from fontTools import subset

    files = [
        str(path) for path in distribution_files("ziamath") or () if path.name == "STIXTwoMath-Regular.ttf"
    ]
    font = TTFont(distribution("ziamath").locate_file(files[0]))
    drawn = {*range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C), 0x210E, 0x221A}  # <mi>x</mi>, and <msqrt>
    options = subset.Options(flavor="woff2", layout_features=["*"], name_IDs=["*"])
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes={*map(ord, characters), *range(0x20, 0x7F), *drawn})
    subsetter.subset(font)
    font.flavor = "woff2"
    font.save(stream := BytesIO())
    return stream.getvalue()


CONCEPTS = "reference/concepts.md"

EXAMPLES = "The examples begin with `import lowregret as lr`.\n\n"


def reference_pages() -> dict[str, str]:
    """Return the pages of the reference, in which every public name is documented."""
    import lowregret as lr
    from lowregret import environments, policies

    pages = {}
    for page, (title, names) in REFERENCE.items():
        pages[f"reference/{page}.md"] = _reference(title, names)
    constructors = [name for name in dir(lr) if name[0].islower() and name in vars(environments)]
    pages["reference/environments.md"] += _entries(["environments"], members=False) + _entries(constructors)
    protocol = ("Policy", "Arm", "Arms", "Clock", "Random", "NEVER")
    pages["reference/protocol.md"] = _reference("Your own policy", protocol)
    pages["reference/policies.md"] = (
        f"# Policies\n\n{EXAMPLES}{_entries(['policies'], members=False)}"
        + _entries(policies.POLICIES, members=False)
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
        head = "---\nsearch: {exclude: true}\n---\n\n"  # who searches wants a page
        pages[f"{name.lower()}.md"] = head + re.sub(r"\]\(docs/", "](", text)
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
        call = [sys.executable, str(DRAW), str(path), str(figure)]
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
    return hashlib.sha256((code + DRAW.read_text() + _package()).encode()).hexdigest()[:16]


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
            # Its code and output would make the index too large that every page loads.
            "---\nsearch: {exclude: true}\n---\n\n"
            f"# {each.title}\n\n{each.text}\n\n{figure}```python\n{each.code}\n```\n\n"
            f"```text\n{each.printed.rstrip()}\n```\n\nScript: `examples/{each.name}.py`\n"
        )
        if each.figure is not None:
            for path in (each.figure, each.figure.with_name(f"{each.figure.stem}{NARROW}")):
                end = NARROW if path != each.figure else ".svg"
                pages[f"gallery/{each.name}{end}"] = path.read_text(encoding="utf-8")
        image = (
            ""
            if each.figure is None
            else f"[![{each.title}]({each.name}{NARROW}){{ loading=lazy }}]({each.name}.md)\n\n"
        )
        teaser = re.split(r"(?<=[.?]) ", " ".join(each.text.split("\n\n")[0].split()))[0]
        cards.append(
            f'<div class="card" markdown>\n\n**[{each.title}]({each.name}.md)**\n\n{teaser}\n\n'
            f"{image}</div>\n"
        )
    heading = "---\nhide: [toc]\n---\n\n# Gallery\n\nShort scripts, each run when this site was built.\n\n"
    pages["gallery/index.md"] = f'{heading}<div class="gallery" markdown>\n\n{"".join(cards)}\n</div>\n'
    return pages


NARROW = "-narrow.svg"
"""What the name of the narrow form of a figure ends with."""
IMAGE = re.compile(r'<img [^>]*?src="([^":]+)\.svg"[^>]*>')


def with_narrow_forms(html: str, page: str, files: Container[str]) -> str:
    """Show the narrow form of a figure, where there is one, in windows below 500 pixels."""

    def picture(image: re.Match[str]) -> str:
        if posixpath.normpath(posixpath.join(posixpath.dirname(page), f"{image[1]}{NARROW}")) not in files:
            return image[0]
        source = f'<source media="(max-width: 499px)" srcset="{image[1]}{NARROW}">'
        return f"<picture>{source}{image[0]}</picture>"

    return IMAGE.sub(picture, html)


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
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    formulas = "".join(
        formula for page in pages.values() for formula in re.findall(r"<math.*?</math>", page, re.DOTALL)
    )
    (site / "assets/math.woff2").write_bytes(math_font(set(unescape(formulas))))
    for page in pages:
        if page.name != "404.html" and (size := weight(page, site)) > LARGEST:  # whose addresses are absolute
            raise RuntimeError(f"{page.relative_to(site)} loads {size:,} bytes, and {LARGEST:,} are allowed")


LARGEST = 1_600_000
"""Bytes of a page with all it loads; more than half are the search index, which grows with the docs."""
LOADED = re.compile(
    r'<(?:img(?![^>]*loading="lazy")|script)[^>]+src="([^"#]+)"|<link rel="stylesheet" href="([^"]+)"'
)


def weight(page: Path, site: Path) -> int:
    """Return the bytes of a page with all that it loads at once, the search index included."""
    names = LOADED.findall(page.read_text(encoding="utf-8"))
    loaded = {(page.parent / (name or style)).resolve() for name, style in names}
    return sum(path.stat().st_size for path in {page, site / "search/search_index.js", *loaded})
