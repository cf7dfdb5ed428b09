"""Numbers from results: summaries, comparisons, intervals."""
