"""Live use: an agent that is asked for an arm and told its reward, and where it keeps what it knows."""
