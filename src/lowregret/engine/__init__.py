"""The simulator: random streams, the compiled engine, and the plain one that says what is correct."""
