"""The report of what the mathematics by itself finds."""
