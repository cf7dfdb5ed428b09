"""Results: the tables of a simulation, of an experiment or of a reproduction, and their analysis."""

from lowregret.results.description import Description, note, varied
from lowregret.results.results import Results, arm_table, compare, join, report
from lowregret.results.simulated import simulated_results

__all__ = [
    "Description",
    "Results",
    "arm_table",
    "compare",
    "join",
    "note",
    "report",
    "simulated_results",
    "varied",
]
