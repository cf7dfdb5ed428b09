"""Numbers from rewards, simulated or live: summaries, comparisons, tests, intervals and evidence."""
