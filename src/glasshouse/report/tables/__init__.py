"""The report of published tables."""
