"""What an anonymised table tells about a person beyond the population."""
