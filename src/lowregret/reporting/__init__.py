"""Figures, tables, progress and pages, made of results."""
