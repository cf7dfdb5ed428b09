"""Results: the tables of a simulation, of an experiment or of a reproduction, and their analysis."""

from lowregret.analysis.description import Description, note, varied
from lowregret.analysis.metrics import Metric
from lowregret.results.joined import join
from lowregret.results.outcome_tables import arm_table, outcome_table
from lowregret.results.results import Results

__all__ = ["Description", "Metric", "Results", "arm_table", "join", "note", "outcome_table", "varied"]
