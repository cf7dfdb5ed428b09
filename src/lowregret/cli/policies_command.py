"""``lowregret policies``: list the policies, or describe one."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from lowregret._common.text import unknown_name_message
from lowregret.cli.printing import print_text
from lowregret.errors import InputError
from lowregret.policies.recommended import RECOMMENDED

if TYPE_CHECKING:
    from lowregret.policies import Policy

POLICY_FAMILIES = {
    "Upper confidence bounds": "ucb moss mossv ocucb adaucb eucbv",
    "From divergences": "klucb divergence empirical",
    "Bayesian": "thompson bayesucb",
    "Randomised": "maillard mots expts perturbed_history npts",
    "Duels of subsamples": "subsampling",
    "Changing or adversarial rewards": "discounted sliding_window change_detection tsallis",
    "Best arms and thresholds": "fixed_budget fixed_confidence thresholding",
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
        raise InputError(unknown_name_message("policy", name, POLICIES))


def _print_all(policies: dict[str, type[Policy]]) -> None:
    """Print the recommended policies, then the others by family."""
    from lowregret.reporting.text_tables import text_table

    rows = [{"begin with": name, "for": problems} for name, problems in RECOMMENDED.items()]
    print(text_table(rows, wrap=["for"]))
    recommended = {name.partition("(")[0] for name in RECOMMENDED}
    rows = []
    for family, modules in POLICY_FAMILIES.items():
        rows.append({"others": family, "needs": "", "source": ""})
        rows += [
            {"others": f"  {name}", "needs": ", ".join(kind.needs) or "-", "source": kind.source}
            for name, kind in policies.items()
            if kind.__module__.rpartition(".")[2] in modules.split() and name not in recommended
        ]
    print(text_table(rows, drop=["needs"]))
    print_text("`lowregret policies MOSS` shows one, with its formula and parameters.")


def _print_doc(text: str) -> None:
    """Print a docstring without its examples; lines of the same indent are wrapped together."""
    text = text.partition("\n\nExamples\n")[0].replace("\n- ", "\n\n- ")
    text = re.sub(r"\n([A-Z][\w ]+)\n-+\n", r"\n\1:\n\n", text)
    text = re.sub(r"\n(\w+ : [A-Z])", r"\n\n\1", text)  # entries of See Also
    for key, lines in groupby(text.splitlines(), lambda line: (bool(line), len(line) - len(line.lstrip()))):
        indent = " " * key[1]
        print_text(indent + " ".join(map(str.strip, lines)), indent=indent)


def _signature(kind: type[Policy]) -> str:
    """Return the name of a policy with its parameters and their defaults."""
    from dataclasses import MISSING

    from lowregret.policies.base import fields_of

    parameters = [
        field.name if field.default is MISSING else f"{field.name}={_default_text(field.default)}"
        for field in fields_of(kind)
    ]
    return kind.__name__ + (f"({', '.join(parameters)})" if parameters else "")


def _default_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)
