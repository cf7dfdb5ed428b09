"""The simulator: compiled on CPUs and GPUs, and in plain Python, which defines what is correct."""
