"""The command line: one module per command, no formula inside."""
