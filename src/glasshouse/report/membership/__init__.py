"""What is told about one person, about who is in a release, and about the population that it was drawn from."""
