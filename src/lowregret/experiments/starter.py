"""The file that ``lowregret new`` writes: ``starter.toml``, with its own name put in."""

from importlib.resources import files
from pathlib import Path

from lowregret.errors import InputError


def write_starter(path: Path) -> None:
    """Write a commented experiment to start from; an existing file is never overwritten."""
    text = files("lowregret.experiments").joinpath("starter.toml").read_text(encoding="utf-8")
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text.replace("{name}", str(path)))
    except FileExistsError:
        raise InputError(f"{str(path)!r} exists already: use another name") from None
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
