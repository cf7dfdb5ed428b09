"""Results: the tables of a simulation, of an experiment or of a reproduction, and their analysis."""

from lowregret.results.description import Description, note, varied
from lowregret.results.functions import compare, report
from lowregret.results.joined import join
from lowregret.results.metrics import Metric
from lowregret.results.results import Results
from lowregret.results.simulated import simulated_results
from lowregret.results.table_runs import arm_table

__all__ = [
    "Description",
    "Metric",
    "Results",
    "arm_table",
    "compare",
    "join",
    "note",
    "report",
    "simulated_results",
    "varied",
]
