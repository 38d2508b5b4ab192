"""Releases of records: who can be named, and what can be inferred about them."""

from glasshouse.microdata.models import Assessment, Attack, Leakage, assess, attack

__all__ = ["Assessment", "Attack", "Leakage", "assess", "attack"]
