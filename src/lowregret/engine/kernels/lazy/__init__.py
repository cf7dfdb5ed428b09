"""Exact shortcuts, one file each: they choose the arms that ``scan`` chooses, and evaluate fewer.

Each is a ``Mode`` of the table in ``engine.kernels.modes``.
"""
