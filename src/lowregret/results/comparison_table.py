"""The table that ``Results.compare`` returns: a DataFrame that prints as sentences."""

from __future__ import annotations

import polars as pl

from lowregret.analysis.columns import READ_FIRST_OF_COMPARISONS


class Comparison(pl.DataFrame):
    """Paired comparisons as a polars.DataFrame. ``print`` shows a sentence for each, with its verdict.

    Examples
    --------
    >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=500, runs=50)
    >>> print(result.compare("RoundRobin"))
    bernoulli:0.1,0.9
      MOSS has lower regret than RoundRobin: by 195.1, p < 0.0001, 95% interval
        152.7 to 209.7 (50 runs)
    Paired differences of the final regret (5%, Holm).
    """

    _all_columns: pl.DataFrame | None = None  # a table that was made from this one has none

    @classmethod
    def of(cls, table: pl.DataFrame, parameters: list[str], all_columns: bool) -> Comparison:
        """Return the table with all columns, or with those that people read and the parameters of a sweep."""
        read = {*READ_FIRST_OF_COMPARISONS, *parameters}
        if table["low"].null_count() == table.height:  # a metric has no bounds
            read = read - {"low", "high"} | {"student_low", "student_high"}
        chosen = [name for name in table.columns if name in read]
        comparison = cls(table if all_columns else table.select(chosen))
        comparison._all_columns = table
        return comparison

    def __str__(self) -> str:
        if self._all_columns is None:
            return super().__str__()
        from lowregret.reporting.comparison_text import comparison_text

        return comparison_text(self._all_columns)

    def _repr_html_(self, *, _from_series: bool = False) -> str:
        from lowregret.reporting.html_tables import html_table

        return html_table(self)
