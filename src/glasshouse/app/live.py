"""The live screens of a run: explore sets, people and what if.

They stand on the engine, which takes a second to load: they are loaded when one of them is first opened, so that the
app itself starts at once.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def _screen(module: str, name: str) -> Callable[[Request], Response]:
    """Return a screen of a module that is loaded when it is first opened."""

    def answer(request: Request) -> Response:
        response: Response = getattr(import_module(f"glasshouse.app.{module}"), name)(request)
        return response

    return answer


routes = [
    Route("/run/{identifier}/explore", _screen("explore", "explore")),
    Route("/run/{identifier}/people", _screen("people", "people")),
    Route("/run/{identifier}/what-if", _screen("what_if", "what_if")),
    Route("/run/{identifier}/what-if/release", _screen("what_if", "release"), methods=["POST"]),
    Route("/run/{identifier}/what-if/best", _screen("what_if", "best"), methods=["POST"]),
]
