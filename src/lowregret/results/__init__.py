"""Results: the tables of a simulation, of an experiment or of a reproduction, and their analysis."""

from lowregret.analysis.description import Description, note, varied
from lowregret.analysis.metrics import Metric
from lowregret.results.joined import join
from lowregret.results.outcome_tables import arm_table
from lowregret.results.results import Results
from lowregret.results.simulated import simulated_results

__all__ = ["Description", "Metric", "Results", "arm_table", "join", "note", "simulated_results", "varied"]
