"""Glasshouse: what a data release lets an adversary learn, and what would stop it."""
