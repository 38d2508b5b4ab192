"""Published tables: who can be read out of them together, with a proof that anybody can check."""

from glasshouse.tabulation.solution import CellBounds, cell_bounds
from glasshouse.tabulation.statements import PublishedSet, published

__all__ = ["CellBounds", "PublishedSet", "cell_bounds", "published"]
