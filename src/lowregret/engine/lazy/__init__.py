"""Exact shortcuts: each plays a run as ``engine.reference`` does, and evaluates fewer arms."""
