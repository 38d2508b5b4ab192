"""Whether a rational adversary attacks, how far, and what deters her."""
