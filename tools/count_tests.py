"""Count what the tests compare, and write the counts into ``docs/evidence/testing.md``.

python tools/count_tests.py          # prints them
python tools/count_tests.py --write  # writes them into the page
"""

import ast
import importlib
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "evidence" / "testing.md"
BEGIN, END = "<!-- counts: written by tools/count_tests.py --write -->", "<!-- end of counts -->"
BROWSER = "tests/reporting/test_browser.py", "tests/service/test_dashboard.py"
"""The tests that open pages in a browser."""


def module(name: str) -> Any:
    """Return a module of the tests."""
    if str(ROOT / "tests") not in sys.path:
        sys.path.insert(0, str(ROOT / "tests"))
    return importlib.import_module(name)


def test_functions(paths: list[Path]) -> int:
    """Return how many test functions some files have."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return sum(function.name.startswith("test_") for function in functions)


def recorded() -> dict[str, Any]:
    """Return the recorded outcomes of each policy."""
    outcomes: dict[str, Any] = json.loads((ROOT / "tests/data/recorded_outcomes.json").read_text("utf-8"))
    return outcomes


def peers() -> tuple[int, int, int]:
    """Return the number of comparisons with other packages, of those that agree, and of these packages."""
    data = json.loads((ROOT / "tests/data/peers.json").read_text("utf-8"))
    records = data["steps"] + data["shares"]
    return len(records), sum(not record["why"] for record in records), len(data["versions"])


def kills() -> tuple[int, int]:
    """Return how many processes ``make test`` and ``make verify`` kill, on all stores together."""
    agents, experiments = module("crash.test_agents"), module("crash.test_crash")
    usual = [case for case in agents.CASES if isinstance(case, tuple) and not hasattr(case, "marks")]
    heavy = [case.values for case in agents.CASES if hasattr(case, "marks")]
    stores = 2  # SQLite and PostgreSQL
    return stores * sum(case[0] for case in usual), stores * sum(
        case[0] for case in heavy
    ) + experiments.KILLS


def code_blocks() -> int:
    """Return how many blocks of the pages run."""
    docs = module("test_docs")
    blocks = [block for page in docs.PAGES for block in docs.blocks(page) if not block.skipped]
    return sum(block.language in ("python", "sh") for block in blocks)


def generated_calls() -> int:
    """Return how many generated calls each route of the service gets, at most."""
    schema = module("service.test_schema")
    return int(schema.COUNT) * len(schema.GenerationMode)


def counts() -> list[tuple[str, str, str]]:
    """Return what is counted, how often in ``make test``, and how often in ``make verify``."""
    seeds, world = module("simulation.test_seeds"), module("simulation.world")
    comparisons, agreeing, packages = peers()
    outcomes, (killed, killed_in_verify) = recorded(), kills()
    values = json.dumps(outcomes).count('": "')
    attacks, both = module("service.test_attacks"), "the same"
    files = [*(ROOT / "tests").rglob("test_*.py")]
    return [
        ("test functions, of which many run on dozens of cases", over(test_functions(files), 500), both),
        ("policies whose outcomes are recorded, bit for bit", f"{len(outcomes)}", both),
        ("recorded outcomes of these policies", f"{values:,}", both),
        (f"comparisons with policies of {packages} other packages", "", f"{comparisons}"),
        ("of these, comparisons in which both choose the same as they are", "", f"{agreeing}"),
        ("simulated histories of live agents", f"{seeds.SEEDS:,}", f"{seeds.ALL_SEEDS:,}"),
        ("kinds of faults in them", f"{len(world.FAULTS)}", both),
        ("mistakes put into the package, which they must notice", f"{len(seeds.MUTATIONS)}", both),
        ("processes that are killed", f"{killed:,}", f"{killed_in_verify:,}"),
        ("ends of a PostgreSQL server under load", "", f"{module('crash.test_agents').RESTARTS}"),
        ("attacks on the service, written by hand", f"{len(attacks.BODIES) + len(attacks.PATHS)}", both),
        (
            "calls generated for each route of the service, valid and invalid",
            f"up to {generated_calls()}",
            both,
        ),
        ("tests in a browser", over(test_functions([ROOT / path for path in BROWSER]), 20), both),
        ("code blocks of these pages that run", over(code_blocks(), 50), both),
    ]


def over(number: int, step: int) -> str:
    """Return a number that changes with every test, rounded down."""
    return f"over {(number - 1) // step * step:,}"


def table() -> str:
    """Return the counts as a table."""
    rows = [("what", "`make test`", "`make verify`"), ("---", "---:", "---:"), *counts()]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def with_table(page: str) -> str:
    """Return a page with its table written anew."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Print the counts, or write them."""
    if "--write" in sys.argv:
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(table())


if __name__ == "__main__":
    main()
