"""A deterministic simulation of live agents: processes, SQLite, and ten kinds of faults, from one seed.

``world`` has the scheduler, the clocks, the store and the faults; ``workload`` draws what processes do;
``audit`` says what must be true of it. ``python -m tests.simulation --seed N`` shows one history.
"""
