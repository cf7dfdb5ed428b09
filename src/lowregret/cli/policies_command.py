"""``lowregret policies``."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret._common.text import unknown
from lowregret.cli.printing import print_text
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.policies import Policy

RECOMMENDED = {
    "MOSSV": "rewards in [0, 1]; MOSSVAnytime if no horizon is known",
    "ThompsonBeta": "decisions that must be random; KLMS for exact propensities",
    "ThompsonNormal": "rewards of unknown scale; MOSSV if they are about 1",
    "KLUCB": "very long horizons: asymptotically optimal for Bernoulli rewards",
    "EUCBV": "arms must be dropped for good, in rounds",
    "GLRKLUCB": "means that change abruptly; DiscountedThompson if slowly",
}

FAMILIES = {
    "Upper confidence bounds": "ucb moss mossv ocucb adaucb eucbv",
    "From divergences": "klucb divergence empirical",
    "Bayesian": "thompson bayesucb",
    "Randomised": "maillard mots expts perturbed_history npts",
    "Duels of subsamples": "subsampling",
    "Changing or adversarial rewards": "discounted sliding_window change_detection tsallis",
    "Rounds and baselines": "rounds baselines",
}


def policies(
    name: Annotated[str | None, typer.Argument(help="The policy to describe.", show_default=False)] = None,
) -> None:
    """List the policies, or describe one."""
    from inspect import getdoc

    from lowregret.policies import POLICIES

    if name is None:
        _print_all(POLICIES)
    elif name in POLICIES:
        kind = POLICIES[name]
        needs = ", ".join(kind.needs) or "nothing"
        _print_doc(f"{_signature(kind)}\n\n{getdoc(kind)}")
        print(f"\nNeeds: {needs}\nSource: {kind.source}")
    else:
        raise InputError(unknown("policy", name, POLICIES))


def _print_all(policies: dict[str, type[Policy]]) -> None:
    """Print the recommended policies, then the others by family."""
    from lowregret.cli.terminal_tables import text_table

    rows = [{"recommended": name, "when": when} for name, when in RECOMMENDED.items()]
    print(text_table(rows, wrap=["when"]))
    rows = []
    for family, modules in FAMILIES.items():
        rows.append({"others": family, "needs": "", "source": ""})
        rows += [
            {"others": f"  {name}", "needs": ", ".join(kind.needs) or "-", "source": kind.source}
            for name, kind in policies.items()
            if kind.__module__.rpartition(".")[2] in modules.split() and name not in RECOMMENDED
        ]
    print(text_table(rows, drop=["needs"]))
    print_text("`lowregret policies MOSS` shows one, with its formula and parameters.")


def _print_doc(text: str) -> None:
    """Print a docstring without its examples; lines of the same indent are wrapped together."""
    text = text.partition("\n\nExamples\n")[0].replace("\n- ", "\n\n- ")
    text = re.sub(r"\n(\w+)\n-+\n", r"\n\1:\n\n", text)
    for key, lines in groupby(text.splitlines(), lambda line: (bool(line), len(line) - len(line.lstrip()))):
        indent = " " * key[1]
        print_text(indent + " ".join(map(str.strip, lines)), indent=indent)


def _signature(kind: type[Policy]) -> str:
    """Return the name of a policy with its parameters and their defaults."""
    from dataclasses import MISSING

    from lowregret.policies.base import fields_of

    parameters = [
        field.name if field.default is MISSING else f"{field.name}={_plain(field.default)}"
        for field in fields_of(kind)
    ]
    return kind.__name__ + (f"({', '.join(parameters)})" if parameters else "")


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
