"""The command line: one module per command, no formula inside.

What an option says in ``--help`` is written where its question is declared: in `glasshouse.study`.
"""
