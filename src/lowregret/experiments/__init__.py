"""Experiments as plain data."""
