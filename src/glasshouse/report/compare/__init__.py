"""Runs side by side: what got worse, what got better."""
