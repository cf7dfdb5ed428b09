"""Many kinds of problems: the testbeds of the league, the league itself, and the search for a worst case."""
