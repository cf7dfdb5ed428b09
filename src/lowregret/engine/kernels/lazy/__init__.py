"""Exact shortcuts, one file each: they choose the arms that ``scan`` chooses, and evaluate fewer.

A shortcut is a module with ``applies(policy, arms, horizon)``, ``new_scratch(policy, rows, horizon)`` and
``play(policy, first, rng, run, scratch)``.
"""
