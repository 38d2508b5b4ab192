"""``python -m glasshouse`` is the ``glasshouse`` command."""

from glasshouse.cli.main import run

run()
