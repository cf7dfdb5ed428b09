"""Policies judged on logged data: rejection replay and inverse propensity."""
