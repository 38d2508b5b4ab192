"""Who may ask the app for what: one middleware before everything else.

The app is for the one person who started it. What comes must name our own address (no other site can have its name
point here), bear the cookie that a printed address was exchanged for, and come from our own pages. An address is good
once: as soon as it is used there is another, for another browser or a later day, told where the first one was told.
What changes anything must say so twice: by where it comes from, and by a token that only our pages hold. Forms are read
here, files in them streamed into a private folder up to a limit, and only then is a screen asked. Every answer forbids
the browser to keep, frame, share or run anything but our own.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import html
import os
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl

from glasshouse.language import (
    LANGUAGES,
    marked,
    speaking,
    spoken,
    text,
    translated,
)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE, TOKEN = "glasshouse", "csrf"
"""What the cookie of the session begins with, and what the field of a form is called that holds its token."""
ENTRANCE = "/enter"
"""Where the token of the start is exchanged for the cookie."""
MOST_TYPED, MOST_FIELDS = 1 << 20, 10_000
"""How many bytes and fields a form without files may have."""
MOST_UPLOADED = 1 << 30
"""How many bytes an upload may have; larger files are opened where they are."""
PLAIN_LOOK = (
    ":root{color-scheme:light dark}"
    "body{font:1.05rem/1.55 system-ui,sans-serif;max-width:40rem;margin:12vh auto;padding:0 1.2rem}"
    "h1{font-size:1.5rem;line-height:1.25}li{margin:.4rem 0}"
)
"""How a refusal looks: whoever is not inside gets no style sheet."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-"
    f"{base64.b64encode(hashlib.sha256(PLAIN_LOOK.encode()).digest()).decode()}'; img-src 'self' data:; connect-src "
    "'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
}
"""What every answer says. (With ``no-referrer`` a browser would not say where a form comes from.)"""
REFUSALS = {
    400: marked("This cannot be understood."),
    401: marked("This browser has not entered the app, or has been closed since."),
    403: marked("This does not come from a page of this app."),
    405: marked("That cannot be done here."),
    413: marked("This file is too large to upload; open it from a folder instead."),
    421: marked("This is not the address of the app."),
    507: marked("The disk is full, or cannot be written to: no part of the file was kept."),
}
"""What is said to whom is refused, by the code of the answer."""
WAYS_IN = (
    marked(
        "In the window in which you started it, the last line has an address that opens it once."
    ),
    marked(
        "Or open the file “enter.html” of the folder “glasshouse-app”, which is in the first of the folders that the "
        "app was started with."
    ),
    marked("If the app was ended, start it again: glasshouse app"),
)
"""How whoever started the app enters it again."""


class RefusedError(Exception):
    """A request is not answered.

    Attributes:
        status: The code of the answer.
    """

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass
class Form:
    """What a form says, and the files that came with it."""

    entries: list[tuple[str, str]] = field(default_factory=list)
    """Names and values, in the order of the page."""
    files: dict[str, tuple[str, Path]] = field(default_factory=dict)
    """By name, what the file was called and where it is now: gone after the answer unless it was moved."""

    def get(self, name: str, default: str = "") -> str:
        """Return the last value of a name."""
        return next((value for key, value in reversed(self.entries) if key == name), default)

    def getlist(self, name: str) -> list[str]:
        """Return all values of a name."""
        return [value for key, value in self.entries if key == name]


def form_of(request: Any) -> Form:
    """Return the form of a request that changes something."""
    form: Form = request.scope["form"]
    return form


class Session:
    """The one session: the token that opens it next, once, its cookie, and the token of its forms.

    Attributes:
        launch: The token that opens it next.
        on_entered: Called whenever a token was used, and another one is good.
    """

    def __init__(self) -> None:
        self.launch = secrets.token_urlsafe(32)
        self.on_entered: Callable[[], None] = lambda: None
        self._cookie = secrets.token_urlsafe(32)
        self.form_token = hmac.digest(self._cookie.encode(), b"form", hashlib.sha256).hex()

    def exchange(self, token: str) -> str | None:
        """Return the cookie for the token that is good, which is then worth nothing; None: it is not that one."""
        if not hmac.compare_digest(self.launch.encode(), token.encode()):
            return None
        self.launch = secrets.token_urlsafe(32)
        self.on_entered()
        return self._cookie

    def holds(self, cookie: str) -> bool:
        """Tell whether a cookie is that of the session."""
        return hmac.compare_digest(self._cookie.encode(), cookie.encode())

    def signed(self, token: str) -> bool:
        """Tell whether a form has the session's token."""
        return hmac.compare_digest(self.form_token.encode(), token.encode())


class Guard:
    """The middleware.

    Args:
        app: Whom to ask what is allowed.
        session: Who may ask.
        hosts: The names by which we are called, with the port.
        uploads: The private folder for files in forms.
        most_uploaded: How many bytes a form with files may have.
    """

    def __init__(
        self,
        app: Application,
        *,
        session: Session,
        hosts: tuple[str, ...],
        uploads: Path,
        most_uploaded: int = MOST_UPLOADED,
    ) -> None:
        self._app = app
        self.session = session
        self._hosts = hosts
        self._cookie_name = cookie_name(hosts[0])
        self.uploads = uploads
        self.most_uploaded = most_uploaded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks anything else
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name in HEADERS}
                rest = [
                    pair for pair in message["headers"] if pair[0].decode("latin-1") not in names
                ]
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*rest, *ours]}
            await send(message)

        form = Form()
        try:
            headers = _headers(scope)
            self._check_place(scope, headers)
            if scope["path"] == ENTRANCE:
                await self._enter(scope, headers, send_guarded)
                return
            if not self.session.holds(_cookie(headers, self._cookie_name)):
                raise RefusedError(401)
            if scope["method"] == "POST":
                await _Reading(self, form).run(headers, receive)
                scope["form"] = form
                receive = _empty(receive)
            scope["session"] = self.session
            await self._app(scope, receive, send_guarded)
        except RefusedError as refused:
            await _refuse(refused.status, _language(scope), send_guarded)
        finally:
            for _, path in form.files.values():
                path.unlink(missing_ok=True)

    def _check_place(self, scope: Scope, headers: dict[str, str]) -> None:
        """Refuse what calls us by another name, or comes from another place than our own pages."""
        if headers.get("host", "") not in self._hosts:
            raise RefusedError(421)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            raise RefusedError(405)
        if scope["path"] == ENTRANCE:  # whoever has the token may come from anywhere
            return
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise RefusedError(403)
        address = f"http://{headers['host']}"
        if scope["method"] == "POST":
            from_here = headers.get("origin") == address
            if not from_here or headers.get("sec-fetch-site", "same-origin") != "same-origin":
                raise RefusedError(403)
        elif headers.get("origin", address) != address:
            raise RefusedError(403)

    async def _enter(self, scope: Scope, headers: dict[str, str], send: Send) -> None:
        """Exchange the token for the cookie, and lead to the first page.

        A page leads there, and no redirection: a browser that comes from elsewhere would not send the cookie along.
        """
        if scope["method"] != "GET":
            raise RefusedError(405)
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[-1]
        cookie = self.session.exchange(token)
        answer = [(b"content-type", b"text/html; charset=utf-8")]
        if cookie is not None:
            flags = "HttpOnly; SameSite=Strict; Path=/"
            answer.append((b"set-cookie", f"{self._cookie_name}={cookie}; {flags}".encode()))
        elif not self.session.holds(
            _cookie(headers, self._cookie_name)
        ):  # who is inside has reloaded the page
            raise RefusedError(401)
        await send({"type": "http.response.start", "status": 200, "headers": answer})
        await send({"type": "http.response.body", "body": leading_to("/").encode()})


class _Reading:
    """Reads one form as it comes in; its token stands first, so that nothing is kept of one that lacks it."""

    def __init__(self, guard: Guard, form: Form) -> None:
        self._guard = guard
        self._form = form
        self._name = self._filename = ""
        self._header, self._headers = [b"", b""], dict[str, str]()
        self._value = bytearray()
        self._file: int | None = None
        self._is_whole = False

    async def run(self, headers: dict[str, str], receive: Receive) -> None:
        """Read the form.

        Raises:
            RefusedError: It is too large, cannot be understood, or does not have the token of the session.
        """
        kind, _, options = headers.get("content-type", "").partition(";")
        is_upload = kind.strip().lower() == "multipart/form-data"
        if not is_upload and kind.strip().lower() != "application/x-www-form-urlencoded":
            raise RefusedError(400)
        most = self._guard.most_uploaded if is_upload else MOST_TYPED
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 18:
            raise RefusedError(400)
        if int(length) > most:
            raise RefusedError(413)
        if is_upload:
            await self._read_parts(options, receive, most)
        else:
            await self._read_typed(receive, most)
        if not self._guard.session.signed(self._form.get(TOKEN)):
            raise RefusedError(403)

    async def _read_typed(self, receive: Receive, most: int) -> None:
        body = bytearray()
        async for piece in _body(receive, most):
            body += piece
        try:
            self._form.entries += parse_qsl(
                body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS
            )
        except ValueError:
            raise RefusedError(400) from None

    async def _read_parts(self, options: str, receive: Receive, most: int) -> None:
        from python_multipart.exceptions import FormParserError
        from python_multipart.multipart import MultipartParser, parse_options_header

        boundary = parse_options_header(f"multipart/form-data;{options}")[1].get(b"boundary")
        if not boundary:
            raise RefusedError(400)
        callbacks: Any = {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._add(0, data[start:end]),
            "on_header_value": lambda data, start, end: self._add(1, data[start:end]),
            "on_header_end": self._end_header,
            "on_headers_finished": self._open,
            "on_part_data": lambda data, start, end: self._take(data[start:end]),
            "on_part_end": self._end,
            "on_end": self._finish,
        }
        parser = MultipartParser(boundary, callbacks)
        try:
            async for piece in _body(receive, most):
                parser.write(piece)
            parser.finalize()
        except (FormParserError, ValueError):
            raise RefusedError(400) from None
        except OSError:
            raise RefusedError(507) from None
        finally:
            if self._file is not None:
                os.close(self._file)
        if not self._is_whole:  # the last boundary did not come, and perhaps not all before it
            raise RefusedError(400)

    def _finish(self) -> None:
        self._is_whole = True

    def _begin(self) -> None:
        self._headers, self._value = {}, bytearray()

    def _add(self, place: int, piece: bytes) -> None:
        self._header[place] += piece
        if len(self._header[place]) > 4096:
            raise RefusedError(400)

    def _end_header(self) -> None:
        name, value = (part.decode("latin-1") for part in self._header)  # each byte a letter
        self._headers[name.lower()] = value
        self._header = [b"", b""]

    def _open(self) -> None:
        from python_multipart.multipart import parse_options_header

        options = parse_options_header(self._headers.get("content-disposition", ""))[1]
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        self._filename = options.get(b"filename", b"").decode("utf-8", "replace")
        if b"filename" not in options:
            return
        if not self._guard.session.signed(self._form.get(TOKEN)):
            raise RefusedError(403)
        if len(self._form.files) == 1:
            raise RefusedError(400)
        path = self._guard.uploads / secrets.token_hex(16)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._form.files[self._name] = (self._filename, path)

    def _take(self, piece: bytes) -> None:
        if self._file is not None:
            while piece:  # a disk that is nearly full takes a part
                piece = piece[os.write(self._file, piece) :]
            return
        self._value += piece
        if len(self._value) > MOST_TYPED:
            raise RefusedError(413)

    def _end(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
            return
        self._form.entries.append((self._name, self._value.decode("utf-8", "replace")))
        if len(self._form.entries) > MOST_FIELDS:
            raise RefusedError(400)


def leading_to(address: str) -> str:
    """Return a page that leads to another one at once."""
    address = html.escape(address)
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Glasshouse</title>'
        '<link rel="icon" href="data:,">'
        f'<meta http-equiv="refresh" content="0;url={address}"><a href="{address}">Glasshouse</a></html>'
    )


async def _body(receive: Receive, most: int) -> Any:
    """Yield what is sent, up to a number of bytes, whatever was said of its length."""
    received = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedError(400)
        piece = message.get("body", b"")
        received += len(piece)
        if received > most:
            raise RefusedError(413)
        yield piece
        if not message.get("more_body", False):
            return


def _empty(receive: Receive) -> Receive:
    """Return how to receive what comes after a body that was read."""
    is_first = True

    async def next_message() -> Message:
        nonlocal is_first
        if is_first:
            is_first = False
            return {"type": "http.request", "body": b"", "more_body": False}
        return await receive()

    return next_message


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers by name; one that comes twice and differently is refused where it decides."""
    headers: dict[str, str] = {}
    for raw_name, raw in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw.decode("latin-1")
        if name in ("host", "origin", "content-length") and headers.get(name, value) != value:
            raise RefusedError(400)
        headers[name] = (
            f"{headers[name]}; {value}" if name == "cookie" and name in headers else value
        )
    return headers


def cookie_name(host: str) -> str:
    """Return what the cookie is called at an address: browsers do not tell the ports of a machine apart.

    >>> cookie_name("127.0.0.1:8000")
    'glasshouse-8000'
    """
    return f"{COOKIE}-{host.rpartition(':')[2]}"


def _cookie(headers: dict[str, str], called: str) -> str:
    """Return a cookie; those that other programs of this machine have set may be of any form."""
    pairs = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
    return next((value for name, _, value in pairs if name == called), "")


def _language(scope: Scope) -> str:
    """Return the language that whoever asks has chosen, or else that of the app."""
    values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
    code = _cookie({"cookie": "; ".join(values)}, "language")
    return code if code in LANGUAGES else spoken()


def refusal(status: int) -> str:
    """Return the page for whom is refused: what is the matter, and to whom has not entered, how to."""
    reason = html.escape(translated(REFUSALS[status]))
    ways = "".join(f"<li>{html.escape(translated(way))}</li>" for way in WAYS_IN)
    how = (
        f"<p>{html.escape(text('To enter it again:'))}</p><ol>{ways}</ol>" if status == 401 else ""
    )
    return (
        f'<!DOCTYPE html><html lang="{spoken()}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Glasshouse</title>'
        f'<link rel="icon" href="data:,"><style>{PLAIN_LOOK}</style></head><body><main><p>Glasshouse</p>'
        f'<h1 class="trouble">{reason}</h1>{how}</main></body></html>'
    )


async def _refuse(status: int, language: str, send: Send) -> None:
    with speaking(language):
        body = refusal(status).encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
