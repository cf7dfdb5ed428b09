"""Let ``python -m lowregret`` do what ``lowregret`` does."""

from lowregret.cli import main

if __name__ == "__main__":
    main()
