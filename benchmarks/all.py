"""All benchmarks in order: tables on the terminal; numbers, tables and figures in benchmarks/results.

It takes twenty minutes and more, or some minutes with ``--quick``.

    python benchmarks/all.py [--quick]
"""

import anytime
import delayed_rewards
import delayed_steps
import floor
import growth
import live
import peers
import service
import stores
import thompson
import whole
from charts import floor_chart, growth_chart, peers_chart
from common import RESULTS, arguments, claim_sheet, machine, markdown, say, show, write

BENCHMARKS = {
    "floor": floor,
    "peers": peers,
    "growth": growth,
    "thompson": thompson,
    "whole": whole,
    "live": live,
    "stores": stores,
    "service": service,
    "delayed rewards": delayed_rewards,
    "delayed steps": delayed_steps,
    "anytime": anytime,
}
CHARTS = {"floor": floor_chart, "peers": peers_chart, "growth": growth_chart}


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    facts = machine()
    head = "; ".join(f"{name} {fact}" for name, fact in facts.items())
    say(head)
    numbers, sheets, claims = {"machine": facts, "quick": options.quick}, [], []
    for name, part in BENCHMARKS.items():
        report = part.benchmark(options.quick)
        show(report.sheets)
        sheets += report.sheets
        claims += report.claims
        numbers[name] = report.numbers
        if name in CHARTS and any(row for sheet in report.sheets for row in sheet.rows if row[0] != "-"):
            RESULTS.mkdir(exist_ok=True)
            for suffix in ("svg", "png"):
                CHARTS[name](report.numbers).save(RESULTS / f"{name}.{suffix}")
    sheets.append(claim_sheet(claims))
    show(sheets[-1:])
    numbers["claims"] = [{**claim._asdict(), "holds": claim.holds} for claim in claims]
    write("results", numbers)
    (RESULTS / "tables.md").write_text("\n".join([head, "", *map(markdown, sheets)]), encoding="utf-8")
    say(f"numbers, tables (tables.md) and figures are in {RESULTS}")


if __name__ == "__main__":
    main()
