"""Experiments: as plain data, cut into shards, run anywhere, and kept on disk."""
