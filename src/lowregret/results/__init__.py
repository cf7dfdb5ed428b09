"""Results: the tables of a simulation, of an experiment or of a reproduction, and their analysis."""

from lowregret.results.derived import join
from lowregret.results.results import Results

__all__ = ["Results", "join"]
