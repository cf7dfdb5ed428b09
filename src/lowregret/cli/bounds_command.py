"""``lowregret bounds``: upper and lower bounds on the regret in a problem."""

from typing import Annotated, Any

import typer

from lowregret.cli.options import Environment, Horizon, Json, integer_option
from lowregret.cli.printing import print_json, print_notes, print_text

CONSTANTS = {
    "best_mean": "best mean",
    "smallest_gap": "smallest gap, D",
    "largest_gap": "largest gap",
    "largest_variance": "largest variance, S",
    "H_1": "H_1",
    "lai_robbins": "constant of Lai and Robbins",
    "uniform_regret": "regret of uniform play",
    "worst_regret": "T x largest gap",
    "least_horizon": "K^2.4, the smallest T for Theorem 1",
    "last_round": "M, the last round covered by the lemmas",
}


def bounds(
    environment: Environment,
    horizon: Horizon = None,
    runs: Annotated[
        int | None,
        integer_option(
            "Estimate four probabilities in the proof of Theorem 1 from this many runs of EUCBV.",
            show_default="no estimates",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the estimates.")] = 0,
    json: Json = False,
) -> None:
    """Print upper and lower bounds on the regret, EUCBV's among them."""
    from lowregret.theory import regret_bounds

    if runs is not None:
        from lowregret._common.validation import integer

        integer("bounds", "runs", runs)
    constants = regret_bounds.problem_constants(environment, horizon)
    statements = regret_bounds.bounds(environment, horizon).to_dicts()
    estimates = None
    if runs is not None:
        from lowregret.reproductions.sheet import paper_function

        estimate_probabilities = paper_function("eucbv", "lemmas:estimate_probabilities")
        estimates = estimate_probabilities(environment, horizon, runs, seed).to_dicts()
    if json:
        more = {} if estimates is None else {"estimates": estimates}
        print_json({**constants, "bounds": statements, **more})
    else:
        _print(constants, statements, estimates)


def _print(
    constants: dict[str, Any], statements: list[dict[str, Any]], estimates: list[dict[str, Any]] | None
) -> None:
    from lowregret.reporting.number_format import format_number
    from lowregret.reporting.text_tables import text_table

    size = f"horizon T = {constants['horizon']:,}, K = {constants['arms']:,} arms"
    print_text(f"{constants['environment']}, {size}")
    rows = [{"constant": words, "value": format_number(constants[key])} for key, words in CONSTANTS.items()]
    print("\n" + text_table(rows, right=["value"]))
    groups = [
        {
            "gap": format_number(g["gap"]),
            "arms": format_number(g["arms"]),
            "H_i": format_number(g["H_i"]),
            "m_i": format_number(g["round"]),
        }
        for g in constants["groups"]
    ]
    print(text_table(groups[:10], right=list(groups[0])))
    if len(groups) > 10:
        print(f"and {len(groups) - 10:,} more gaps: --json prints them all\n")
    rows = [
        {
            "statement": s["name"],
            "value": f"{format_number(s['value'])} {s['rest']}".strip(),
            "kind": s["kind"],
        }
        for s in statements
    ]
    print(text_table(rows))
    print_notes({line["name"]: line["note"] for line in statements})
    if estimates is not None:
        rows = [_estimate_cells(row) for row in estimates]
        print("\n" + text_table(rows, right=list(rows[0])[1:], drop=["pulls", "variance", "exact", "gap"]))
        print_notes({row["event"]: row["note"] for row in estimates})
    print("\ndocs/explanation/theory.md explains the constants and the statements.")


def _estimate_cells(row: dict[str, Any]) -> dict[str, str]:
    from lowregret.reporting.number_format import format_number

    interval = "-" if row["low"] is None else f"{_probability(row['low'])} to {_probability(row['high'])}"
    return {
        "event": row["event"],
        "gap": format_number(row["gap"]),
        "variance": format_number(row["variance"]),
        "pulls": format_number(row["pulls"]),
        "runs with event": "-" if row["runs"] is None else f"{row['occurrences']:,} of {row['runs']:,}",
        "95% interval": interval,
        "exact": _probability(row["exact"]),
        "bound": _probability(row["bound"]),
    }


def _probability(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
