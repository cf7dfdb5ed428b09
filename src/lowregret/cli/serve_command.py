"""``lowregret serve`` and ``lowregret token``: agents over HTTP, and who may use them."""

from enum import StrEnum
from typing import Annotated

import typer

token = typer.Typer(no_args_is_help=True, help="Add, list and remove the tokens of a service.")

TokensFile = Annotated[str, typer.Argument(help="The file of tokens, which holds their hashes.")]


class ScopeOption(StrEnum):
    """What a token allows."""

    ask = "ask"
    visitor = "visitor"
    decide = "decide"
    read = "read"
    admin = "admin"


def serve(
    store: Annotated[str, typer.Argument(help="A file, or a URL; created if it does not exist.")],
    host: Annotated[str, typer.Option(help="Where to listen; other hosts need --tokens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 chooses a free one.")] = 8000,
    workers: Annotated[int, typer.Option(help="How many processes answer.")] = 1,
    tokens: Annotated[
        str | None,
        typer.Option(
            help="A file of tokens, as `lowregret token add` writes it.", show_default="none needed"
        ),
    ] = None,
    access_log: Annotated[bool, typer.Option("--access-log", help="Log every call.")] = False,
) -> None:
    """Serve the agents of a store over HTTP, with a dashboard at /."""
    from lowregret.service import Options
    from lowregret.service.serve import serve as run

    options = Options(store, tokens, access_log=access_log)
    run(options, host, port, workers, lambda url: print(f"lowregret serves {url}", flush=True))


@token.command("add")
def add(
    file: TokensFile,
    name: Annotated[str, typer.Argument(help="Whose token it is.")],
    scope: Annotated[list[ScopeOption], typer.Option(help="What it allows; may be repeated.")],
    agent: Annotated[
        list[str] | None, typer.Option(help="An agent that it is for; may be repeated.", show_default="all")
    ] = None,
) -> None:
    """Add a token, and print it. The file holds its hash alone."""
    from lowregret.service.tokens import new_token

    print(new_token(file, name, [option.value for option in scope], agent or None))


@token.command("list")
def list_tokens(file: TokensFile) -> None:
    """List the tokens of a file: names, scopes, agents and dates."""
    from pathlib import Path

    from lowregret.reporting.text_tables import text_table
    from lowregret.service.tokens import read_tokens

    rows = [
        {
            "token": entry.name,
            "scopes": ", ".join(entry.scopes),
            "agents": ", ".join(entry.agents or ["all"]),
            "created": entry.created,
        }
        for entry in read_tokens(Path(file))
    ]
    if rows:
        print(text_table(rows, wrap=["scopes"]))
    else:
        print("no tokens")


@token.command("remove")
def remove(file: TokensFile, name: Annotated[str, typer.Argument(help="Whose token it is.")]) -> None:
    """Remove a token; running services refuse it at once."""
    from lowregret.service.tokens import remove_token

    remove_token(file, name)
    print(f"removed {name}")
