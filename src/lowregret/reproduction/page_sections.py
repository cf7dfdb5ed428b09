"""The page on the EUCBV paper: its figures, its experiments as printed, and the account of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import polars as pl

from lowregret.reproduction.curve_matches import side_by_side
from lowregret.analysis.summary import summarise, summarise_curves
from lowregret.results.tables import Tables
from lowregret.reproduction.claims import GAUSSIAN_NAMES
from lowregret.reproduction.paper_experiments import (
    AS_PLOTTED,
    AS_PRINTED,
    PAPER,
    RELEASED_WIDTH,
    PaperExperiment,
    configurations,
)
from lowregret.reproduction.plotted_curves import RELEASED
from lowregret.reproduction.plotted_testbeds import paper_testbed
from lowregret.report.policy_styles import Style, styles
from lowregret.report.experiment_report import (
    Scene,
    arms_left_picture,
    pulls_picture,
    regret_picture,
    runs_picture,
)
from lowregret.report.curve_charts import regret_chart
from lowregret.reproduction.page_tables import (
    claims_part,
    curves_part,
    eliminations,
    headline,
    lemmas_part,
    points_part,
    readings_part,
    theory_part,
)
from lowregret.reproduction.page_text import FIGURES, NOTES, READINGS, THEORY
from lowregret.report.page_parts import Beside, Fold, Part, Picture, Section, Text

UNIFORM = "uniform play"
RELEASED_LABEL = "EUCBV, released width"


@dataclass(frozen=True)
class Account:
    """What the runs say of the paper, as tables.

    Attributes
    ----------
    tables : Tables
        The runs.
    readings : polars.DataFrame
        The final regrets as printed, with the released width and as plotted, beside the published ones.
    matches : polars.DataFrame
        Whether each published curve is accounted for.
    points : polars.DataFrame
        The same curves at the published times.
    claims : polars.DataFrame
        What becomes of the paper's claims.
    comparisons : polars.DataFrame
        The paired comparisons that the claims rest on.
    bounds : polars.DataFrame
        What theory says, as ``lr.bounds`` gives it, with a column ``experiment``.
    chances : polars.DataFrame
        Probabilities seen beside their bounds, as ``estimates`` gives them, with a column ``experiment``.
    """

    tables: Tables
    readings: pl.DataFrame
    matches: pl.DataFrame
    points: pl.DataFrame
    claims: pl.DataFrame
    comparisons: pl.DataFrame
    bounds: pl.DataFrame
    chances: pl.DataFrame

    def numbers(self) -> dict[str, pl.DataFrame]:
        """Give all tables but those of the runs, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "tables"}


def paper_sections(account: Account) -> list[Section]:
    """Make the sections: in short, the figures, the experiments one by one, the curves, claims, theory."""
    printed = account.readings.filter(reading=AS_PRINTED)["experiment"].to_list()
    played = [each for each in PAPER if each.number in printed]
    palette = paper_palette()
    wide = side_by_side(account.readings)
    sections = [
        Section("In short", headline(account.readings, account.matches, account.claims)),
        Section("The paper's figures, and ours", figures(account, played, palette)),
    ]
    for experiment in played:
        parts = experiment_parts(account, experiment, palette, wide.filter(experiment=experiment.number))
        sections.append(Section(f"Experiment {experiment.number}: {experiment.title}", parts))
    sections += [
        Section("Every published curve", [*curves_part(account.matches), points_part(account.points)]),
        Section("Every claim", claims_part(account.claims, account.comparisons)),
        Section(
            "What the theory says",
            [*map(Text, THEORY), theory_part(account.bounds), lemmas_part(account.chances)],
        ),
    ]
    return sections


def paper_palette() -> dict[str, Style]:
    """Give each policy of the paper one look; the Gaussian form of a policy has that of the policy.

    Examples
    --------
    >>> from lowregret.reproduction.page_sections import paper_palette
    >>> looks = paper_palette()
    >>> looks["TS"] == looks["TS-G"], looks["EUCBV"].colour == looks["EUCBV, released width"].colour
    (True, True)
    """
    names = {name: plays for experiment in PAPER for name, plays in experiment.printed.items()}
    plain = {name: plays for name, plays in names.items() if name not in GAUSSIAN_NAMES.values()}
    plain[RELEASED_LABEL] = RELEASED
    found = styles(plain.values())
    palette = {name: found[plays] for name, plays in plain.items()}
    return palette | {gaussian: palette[name] for name, gaussian in GAUSSIAN_NAMES.items()}


def figures(account: Account, played: list[PaperExperiment], palette: Mapping[str, Style]) -> list[Part]:
    """Draw the paper's figures in its layout, two beside each other: ours as lines, published as circles."""
    curves = summarise_curves(account.tables)
    drawn = []
    for experiment in played:
        number = experiment.number
        ours = labelled(curves, number, AS_PLOTTED)
        published = account.points.filter(experiment=number).select("policy", "t", mean="published")
        title = f"Experiment {number}: {experiment.title}"
        chart = regret_chart(ours, title, band="interval", palette=palette, points=published)
        drawn.append(Picture({"": chart}, title, name=f"figure-experiment-{number}"))
    rows = [Beside(drawn[start : start + 2]) for start in range(0, len(drawn), 2)]
    return [*map(Text, FIGURES), *rows, Fold("What plays as plotted", [*map(Text, READINGS)])]


def experiment_parts(
    account: Account, experiment: PaperExperiment, palette: Mapping[str, Style], wide: pl.DataFrame
) -> list[Part]:
    """Show one experiment as printed: regret, its distribution, arms left, pulls, and all readings."""
    scene = printed_scene(account.tables, experiment, palette)
    bandit, runs = paper_testbed(experiment.number), int(scene.summary["runs"].to_numpy().max())
    lines = lines_to_measure_by(account, experiment)
    words = UNIFORM
    if lines["label"].n_unique() > 1:
        words += ", and Lai and Robbins' constant times log t, which bounds from below only in the limit"
    facts = f"{len(bandit)} arms, horizon {bandit.horizon:,}, {runs:,} runs, seed {account.tables.seed}."
    parts: list[Part] = [
        Text(facts, "facts"),
        readings_part(wide),
        Text(NOTES[experiment.number]),
        eliminations(account.readings.filter(experiment=experiment.number)),
        regret_picture(scene, lines, f" Dotted: {words}."),
        runs_picture(scene),
    ]
    more: list[Part] = [pulls_picture(scene)]
    if len(scene.events):
        more.insert(0, arms_left_picture(scene, bandit.horizon or 0))
    return [*parts, Fold("Arms left, and pulls per arm", more)]


def printed_scene(tables: Tables, experiment: PaperExperiment, palette: Mapping[str, Style]) -> Scene:
    """Cut out one experiment as printed, and EUCBV with the released width, under the paper's names."""
    number, name = experiment.number, paper_testbed(experiment.number).name
    readings = (AS_PRINTED, RELEASED_WIDTH)

    def cut(table: pl.DataFrame) -> pl.DataFrame:
        return labelled(table, number, *readings).filter(pl.col("policy") != UNIFORM)

    return Scene(
        environment=f"Experiment {number}, as printed",
        file=f"experiment-{number}",
        palette=palette,
        summary=cut(summarise(tables)),
        curve=cut(summarise_curves(tables)),
        finals=cut(tables.finals),
        pulls=cut(tables.pulls),
        events=cut(tables.events),
        arms=tables.arms.filter(environment=name),
        ranks={},
        comparison=None,
    )


def lines_to_measure_by(account: Account, experiment: PaperExperiment) -> pl.DataFrame:
    """Give uniform play, and the lower bound of Lai and Robbins where it is below uniform play's regret."""
    bandit = paper_testbed(experiment.number)
    horizon, rate = bandit.horizon or 1, float(bandit.gaps.mean())
    times = pl.DataFrame({"t": [horizon * step // 50 for step in range(1, 51)]})
    parts = [times.select(pl.lit(UNIFORM).alias("label"), "t", mean=pl.col("t") * rate)]
    lower = account.bounds.filter(pl.col("kind") == "lower bound", experiment=experiment.number)
    known = lower["value"].to_list()
    if known and known[0] is not None and known[0] < rate * horizon:
        growth = pl.col("t").log() / pl.lit(horizon).log() * known[0]
        parts.append(times.select(pl.lit("Lai and Robbins").alias("label"), "t", mean=growth))
    return pl.concat(parts)


def labelled(table: pl.DataFrame, number: int, *readings: str) -> pl.DataFrame:
    """Cut out one experiment in some readings, and call its policies as the paper does."""
    names = pl.DataFrame(
        [
            (each.environment, each.plays, RELEASED_LABEL if each.reading == RELEASED_WIDTH else each.policy)
            for each in configurations(number)
            if each.reading in readings
        ],
        schema=["environment", "policy", "label"],
        orient="row",
    )
    joined = names.join(table, on=["environment", "policy"], maintain_order="left_right")
    return joined.drop("policy").rename({"label": "policy"})
