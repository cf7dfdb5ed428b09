"""Bounds on the regret: hardness, upper bounds of policies, lower bounds."""
