"""Who is behind each record, from published totals."""
