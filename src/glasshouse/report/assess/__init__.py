"""What releases of records tell: one dataset, a growing collection, a family."""
