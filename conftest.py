"""What the examples in docstrings, which pytest runs as doctests, take for granted."""

import pytest

import lowregret


@pytest.fixture(scope="session", autouse=True)
def _names_of_examples(doctest_namespace: dict[str, object]) -> None:
    """Begin every example with ``import lowregret as lr``, as those of NumPy begin with its import."""
    doctest_namespace["lr"] = lowregret
