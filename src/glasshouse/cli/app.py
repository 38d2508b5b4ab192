"""``glasshouse app``: the same studies and runs in a browser, for one person on her own machine."""

from __future__ import annotations

from pathlib import Path

from glasshouse.cli import options
from glasshouse.errors import StudyError
from glasshouse.language import text


def app(
    folders: list[Path] | None = options.argument(
        "FOLDER",
        "What may be opened: files and runs below these folders. The first one is written to. "
        "\\[default: the current folder]",
    ),
    port: int = options.option(
        "--port",
        "N",
        "The port to listen at. \\[default: one that is free]",
        default=0,
        min=0,
        max=65535,
        show_default=False,
    ),
    browser: bool = options.option(
        "--browser/--no-browser", says="Open the page in a browser.", default=True
    ),
) -> None:
    """The app: open a file, say who could know what, and see the verdict, in a browser and without a byte leaving.

    Listens at this machine only, and prints the address that opens it, once. Ctrl-C ends it; what it runs goes on.

    Example: glasshouse app data
    """
    import sys

    if sys.platform == "win32":
        raise StudyError("the app runs on Linux and macOS; on Windows, start it in WSL")
    try:
        from glasshouse.app.server import serve
    except ImportError:
        raise StudyError(
            "the app needs an extra of Glasshouse: pip install 'glasshouse[app]'"
        ) from None

    def on_ready(address: str, door: Path) -> None:
        print(text("Glasshouse is at {address} (Ctrl-C ends it)", address=address), flush=True)
        if browser:
            import webbrowser

            webbrowser.open(door.as_uri())

    def on_entered(address: str) -> None:
        print(text("To open it once more: {address}", address=address), flush=True)

    serve(folders or [Path()], port=port, on_ready=on_ready, on_entered=on_entered)
