"""Live use: agents, their state and transactions, and the stores of their events."""
