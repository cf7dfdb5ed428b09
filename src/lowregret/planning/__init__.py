"""A plan before the first visitor: what each policy and a fixed split would cost, and which to use."""
