"""Results: the tables of a simulation, an experiment or a reproduction."""
