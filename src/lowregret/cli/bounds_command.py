"""``lowregret bounds``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lowregret.cli.printing import console

FACTS = {
    "best_mean": "best mean",
    "smallest_gap": "smallest gap, D",
    "largest_gap": "largest gap",
    "largest_variance": "largest variance, S",
    "H_1": "H_1",
    "lai_robbins": "constant of Lai and Robbins",
    "uniform_regret": "regret of uniform play",
    "worst_regret": "T x largest gap",
    "least_horizon": "K^2.4, the least T for Theorem 1",
    "last_round": "M, the last round of the lemmas",
}
"""The facts of an environment that are printed, and what stands beside them."""


def bounds(
    environment: Annotated[
        str,
        typer.Option(
            "--environment",
            "-e",
            help="paper-1 to paper-4, a family such as bernoulli:0.1,0.2*3, or a TOML file.",
        ),
    ],
    horizon: Annotated[
        int | None, typer.Option(help="How many pulls a run has.", show_default="the environment's own")
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            help="Estimate also, over so many runs, how often EUCBV eliminates the optimal arm, and Lemma 3.",
            show_default="no estimates",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="What the estimates are drawn from.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print what theory says of an environment: the paper's bounds, hardness, the lower bound."""
    from lowregret.theory.guarantees import bounds as bounded
    from lowregret.theory.guarantees import facts

    known, lines = facts(environment, horizon), bounded(environment, horizon).to_dicts()
    seen = None
    if runs is not None:
        from lowregret.reproduction.proof_estimates import estimates

        seen = estimates(environment, horizon, runs, seed).to_dicts()
    if json:
        from json import dumps

        estimated = {} if seen is None else {"estimates": seen}
        print(dumps({**known, "bounds": lines, **estimated}, allow_nan=False))
    else:
        _print(known, lines, seen)


def _print(known: dict[str, Any], lines: list[dict[str, Any]], seen: list[dict[str, Any]] | None) -> None:
    from lowregret.report.terminal_tables import shown, text_table

    out = console()
    size = f"horizon T = {known['horizon']:,}, K = {known['arms']:,} arms"
    out.print(f"{known['environment']}, {size}\n", soft_wrap=True)
    out.print(text_table([{"fact": words, "value": shown(known[key])} for key, words in FACTS.items()]))
    groups = [
        {"gap": shown(g["gap"]), "arms": shown(g["arms"]), "H_i": shown(g["H_i"]), "m_i": shown(g["round"])}
        for g in known["groups"]
    ]
    out.print(text_table(groups[:10]))
    if len(groups) > 10:
        out.print(f"and {len(groups) - 10:,} more gaps: --json prints them all\n")
    rows = [
        {
            "statement": line["name"],
            "value": f"{shown(line['value'])} {line['rest']}".strip(),
            "kind": line["kind"],
            "note": line["note"],
        }
        for line in lines
    ]
    out.print(text_table(rows))
    if seen is not None:
        out.print(text_table([_estimate(row) for row in seen]))


def _estimate(row: dict[str, Any]) -> dict[str, str]:
    from lowregret.report.terminal_tables import shown

    interval = "-" if row["low"] is None else f"{_chance(row['low'])} to {_chance(row['high'])}"
    return {
        "event": row["event"],
        "gap": shown(row["gap"]),
        "variance": shown(row["variance"]),
        "pulls": shown(row["pulls"]),
        "seen": "-" if row["runs"] is None else f"{row['seen']:,} of {row['runs']:,}",
        "95% interval": interval,
        "exact": _chance(row["exact"]),
        "bound": _chance(row["bound"]),
        "note": row["note"],
    }


def _chance(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
