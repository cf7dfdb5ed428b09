"""The counts in docs/evidence/testing.md are those that the script prints."""

from count_tests import PAGE, with_table


def test_the_page_has_the_counts():
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page) == page, "run: .venv/bin/python tools/count_tests.py --write"
