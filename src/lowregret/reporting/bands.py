"""What lies around a line of regret: an interval of the mean, the spread of the runs, or nothing."""

import polars as pl

from lowregret.errors import InputError

BANDS = {
    "interval": ("student_low", "student_high", "with Student's 95% interval, from these runs alone"),
    "spread": ("p05", "p95", "with a band from the 5% to the 95% quantile of the runs"),
    "none": ("mean", "mean", "over the runs"),
}
"""What the band of a line is: the columns of its ends, and the words after "mean regret"."""


def band_ends(band: str) -> dict[str, pl.Expr]:
    """Return the ends of a band; where there is no interval they are at the mean, and none is below 0."""
    if band not in BANDS:
        raise InputError(f"plot: band must be interval, spread or none, got {band!r}")
    low, high = (pl.col(name).fill_null(pl.col("mean")) for name in BANDS[band][:2])
    return {"low": low.clip(lower_bound=0.0), "high": high}
