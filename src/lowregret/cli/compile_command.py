"""``lowregret compile``: the machine code of policies, before it is needed."""

from __future__ import annotations

from typing import Annotated

import typer

from lowregret._common.text import count
from lowregret.cli.options import policies_option


def compile_policies(
    policy: Annotated[
        list[str] | None,
        typer.Argument(help="Policies, such as UCB1; all of ours by default.", show_default=False),
    ] = None,
) -> None:
    """Compile policies beforehand, in a container or in CI."""
    from lowregret._common.progress import reporting
    from lowregret.cli.progress import progress_bar
    from lowregret.engine.ahead import compile_ahead
    from lowregret.engine.bridge.code_cache import cache_folder
    from lowregret.policies import POLICIES

    names = policy or [name if name != "FixedArm" else "FixedArm(arm=0)" for name in POLICIES]
    policies = policies_option(names)
    with progress_bar() as progress, reporting(progress) as report:
        compiled = compile_ahead(policies, report)
    before = count(len(policies) - compiled, "policy", "policies")
    print(f"{count(compiled, 'policy', 'policies')} compiled, {before} compiled before")
    print(f"kept in {cache_folder() or 'this process alone: no folder for a cache can be written'}")
