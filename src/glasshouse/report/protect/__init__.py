"""How versions of a release that meet a rule are told."""
