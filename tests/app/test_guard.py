"""Who gets in, and who does not: every probe is refused, and an answer says how it may be used."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from glasshouse.app.guard import HEADERS, POLICY, Form, Guard, Session, cookie_name

testclient = pytest.importorskip("starlette.testclient", reason="needs starlette (extra app)")

HOST = "127.0.0.1:8000"
OWN = f"http://{HOST}"
LIMIT = 50_000
COOKIE = cookie_name(HOST)


class Inner:
    """What the guard guards: it remembers the forms that reached it."""

    def __init__(self) -> None:
        self.forms: list[Form | None] = []
        self.uploaded: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        form = scope.get("form")
        self.forms.append(form)
        if form is not None:
            self.uploaded += [path.read_bytes() for _, path in form.files.values()]
        headers = [(b"cache-control", b"public"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"inside"})


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def inner() -> Inner:
    return Inner()


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    folder = tmp_path / "uploads"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def outside(inner: Inner, session: Session, uploads: Path) -> Any:
    """A browser that has not entered."""
    guard = Guard(
        inner,
        session=session,
        hosts=(HOST, "localhost:8000"),
        uploads=uploads,
        most_uploaded=LIMIT,
    )
    return testclient.TestClient(guard, base_url=OWN, follow_redirects=False)


@pytest.fixture
def inside(outside: Any, session: Session) -> Any:
    """A browser that has entered."""
    answer = outside.get("/enter", params={"token": session.launch})
    assert answer.status_code == 200
    return outside


def post(client: Any, session: Session, **changes: Any) -> Any:
    headers = {"origin": OWN, "sec-fetch-site": "same-origin"} | changes.pop("headers", {})
    headers = {name: value for name, value in headers.items() if value is not None}
    data = {"csrf": session.form_token, "answer": "42"} | changes.pop("data", {})
    return client.post("/change", data=data, headers=headers, **changes)


def test_an_address_opens_the_app_once_and_then_there_is_another(
    outside: Any, session: Session
) -> None:
    token, told = session.launch, list[str]()
    session.on_entered = lambda: told.append(session.launch)
    answer = outside.get("/enter", params={"token": token})
    cookie = answer.headers["set-cookie"]
    assert 'content="0;url=/"' in answer.text
    assert all(flag in cookie for flag in ("HttpOnly", "SameSite=Strict", "Path=/"))
    assert outside.get("/").text == "inside"
    outside.cookies.clear()
    assert outside.get("/enter", params={"token": token}).status_code == 401
    assert outside.get("/").status_code == 401
    assert told == [session.launch] != [token]
    assert outside.get("/enter", params={"token": told[0]}).status_code == 200
    assert outside.get("/").text == "inside"


def test_whoever_has_not_entered_is_told_how_in_her_language(outside: Any) -> None:
    outside.cookies.set("language", "pt-BR")
    answer = outside.get("/")
    assert (answer.status_code, 'lang="pt-BR"' in answer.text) == (401, True)
    assert answer.headers["content-type"].startswith("text/html")
    assert "enter.html" in answer.text
    outside.cookies.set("language", "x")
    assert "start it again: glasshouse app" in outside.get("/").text


def test_another_app_in_the_same_browser_keeps_its_own_cookie(inside: Any, tmp_path: Path) -> None:
    other, host = Session(), "127.0.0.1:8001"
    guard = Guard(Inner(), session=other, hosts=(host,), uploads=tmp_path)
    second = testclient.TestClient(guard, base_url=f"http://{host}", cookies=dict(inside.cookies))
    second.get("/enter", params={"token": other.launch})
    both = "; ".join(
        f"{name}={value}" for name, value in {**inside.cookies, **second.cookies}.items()
    )
    inside.cookies.clear()
    assert inside.get("/", headers={"cookie": both}).status_code == 200
    assert second.get("/", headers={"cookie": both}).status_code == 200


def test_the_printed_address_may_be_opened_from_a_file_or_a_message(
    outside: Any, session: Session
) -> None:
    headers = {"sec-fetch-site": "cross-site"}
    answer = outside.get("/enter", params={"token": session.launch}, headers=headers)
    assert (answer.status_code, "location" in answer.headers) == (200, False)


def test_a_reload_of_the_printed_address_is_no_error_for_who_is_inside(inside: Any) -> None:
    assert inside.get("/enter?token=spent").status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", "ü", "a" * 5000])
def test_a_wrong_token_opens_nothing(outside: Any, session: Session, token: str) -> None:
    assert outside.get("/enter", params={"token": token}).status_code == 401
    assert outside.get("/enter", params={"token": session.launch}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/app.js", "/look/auto.css", "/run/1", "/job/1/events"])
def test_without_the_cookie_there_is_nothing(outside: Any, inner: Inner, path: str) -> None:
    outside.cookies.set(COOKIE, "made-up")
    answer = outside.get(path)
    assert (answer.status_code, inner.forms) == (401, [])


def test_cookies_of_other_programs_do_not_hide_ours(inside: Any, session: Session) -> None:
    ours = inside.cookies[COOKIE]
    inside.cookies.clear()
    odd = f'other={{"a": [1]}}; {COOKIE}={ours}; =x; y'
    assert inside.get("/", headers={"cookie": odd}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8000.evil", ""],
)
def test_a_foreign_host_is_refused_so_that_no_name_can_be_bound_to_us(
    inside: Any, inner: Inner, host: str
) -> None:
    assert inside.get("/", headers={"host": host}).status_code == 421
    assert inner.forms == []


def test_our_other_name_is_ours(inside: Any) -> None:
    assert inside.get("/", headers={"host": "localhost:8000"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": None},
        {"origin": "http://127.0.0.1:8001"},
        {"origin": f"https://{HOST}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
)
def test_a_change_from_elsewhere_is_refused(
    inside: Any, inner: Inner, session: Session, headers: dict[str, str | None]
) -> None:
    assert post(inside, session, headers=headers).status_code == 403
    assert inner.forms == []


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_cannot_even_look(inside: Any, inner: Inner, site: str) -> None:
    assert inside.get("/", headers={"sec-fetch-site": site}).status_code == 403
    assert inside.get("/", headers={"origin": "http://evil.example"}).status_code == 403
    assert inner.forms == []


@pytest.mark.parametrize("token", ["", "0" * 64, "é"])
def test_a_form_without_the_token_of_our_pages_is_refused(
    inside: Any, inner: Inner, session: Session, token: str
) -> None:
    assert post(inside, session, data={"csrf": token}).status_code == 403
    assert inner.forms == []


def test_a_form_of_ours_arrives(inside: Any, inner: Inner, session: Session) -> None:
    assert post(inside, session, data={"answer": ["1", "2"]}).status_code == 200
    (form,) = inner.forms
    assert form is not None
    assert (form.get("answer"), form.getlist("answer")) == ("2", ["1", "2"])


@pytest.mark.parametrize("kind", ["application/json", "text/plain", ""])
def test_only_forms_change_anything(inside: Any, inner: Inner, kind: str) -> None:
    answer = inside.post("/change", content=b"{}", headers={"origin": OWN, "content-type": kind})
    assert (answer.status_code, inner.forms) == (400, [])


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(inside: Any, inner: Inner, method: str) -> None:
    assert inside.request(method, "/", headers={"origin": OWN}).status_code == 405
    assert inner.forms == []


def test_an_upload_is_streamed_into_the_private_folder_and_gone_afterwards(
    inside: Any, inner: Inner, session: Session, uploads: Path
) -> None:
    files = {"file": ("../../a.csv", b"age\n1\n" * 100, "text/csv")}
    assert post(inside, session, files=files).status_code == 200
    (form,) = inner.forms
    assert form is not None
    name, path = form.files["file"]
    assert (name, path.parent) == ("../../a.csv", uploads)
    assert inner.uploaded == [b"age\n1\n" * 100]
    assert list(uploads.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["população.csv", "popula\u0063\u0327a\u0303o.csv", "łódź.csv", "人口.csv"]
)
def test_a_file_may_have_any_name(inside: Any, inner: Inner, session: Session, name: str) -> None:
    head = (
        f'--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n{session.form_token}\r\n'
        f'--x\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n\r\n1\r\n--x--\r\n'
    )  # as Chromium writes it: UTF-8, and no escape
    headers = {"origin": OWN, "content-type": "multipart/form-data; boundary=x"}
    assert inside.post("/change", content=head.encode(), headers=headers).status_code == 200
    (form,) = inner.forms
    assert form is not None
    assert form.files["file"][0] == name


def test_an_upload_without_its_end_is_refused(
    inside: Any, inner: Inner, session: Session, uploads: Path
) -> None:
    content = (
        f'--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n{session.form_token}\r\n'
        '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n1\n2\n'
    )
    headers = {"origin": OWN, "content-type": "multipart/form-data; boundary=x"}
    for ending in ("", "\r\n--x\r\n"):
        answer = inside.post("/change", content=(content + ending).encode(), headers=headers)
        assert (answer.status_code, inner.forms, list(uploads.iterdir())) == (400, [], [])


@pytest.mark.parametrize("is_full", [True, False])
def test_a_disk_that_is_full_keeps_nothing_and_a_slow_one_everything(
    inside: Any,
    inner: Inner,
    session: Session,
    uploads: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_full: bool,
) -> None:
    whole, left = os.write, [100]

    def write_a_part(handle: int, piece: bytes) -> int:
        left[0] -= 1
        if is_full and left[0] < 90:
            raise OSError(28, "No space left on device")
        return whole(handle, piece[:7])

    monkeypatch.setattr("glasshouse.app.guard.os.write", write_a_part)
    answer = post(inside, session, files={"file": ("a.csv", b"age\n1\n" * 100)})
    assert answer.status_code == (507 if is_full else 200)
    assert inner.uploaded == ([] if is_full else [b"age\n1\n" * 100])
    assert list(uploads.iterdir()) == []


def test_an_upload_is_for_its_owner_only(session: Session, uploads: Path) -> None:
    modes: list[int] = []

    async def look(scope: Any, receive: Any, send: Any) -> None:
        modes.extend(stat.S_IMODE(path.stat().st_mode) for _, path in scope["form"].files.values())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    guard = Guard(look, session=session, hosts=(HOST,), uploads=uploads)
    client = testclient.TestClient(guard, base_url=OWN, follow_redirects=False)
    client.get("/enter", params={"token": session.launch})
    post(client, session, files={"file": ("a", b"1")})
    assert modes == [0o600]


@pytest.mark.parametrize("says_length", [True, False])
def test_an_upload_that_is_too_large_is_refused_and_nothing_of_it_stays(
    inside: Any, inner: Inner, session: Session, uploads: Path, says_length: bool
) -> None:
    head = (
        f'--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n{session.form_token}\r\n'
        '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
    ).encode()

    def pieces() -> Iterator[bytes]:
        yield head
        for _ in range(1000):  # the second fifth is never read
            yield b"1" * 1000

    content = head + b"1" * LIMIT if says_length else pieces()
    headers = {"origin": OWN, "content-type": "multipart/form-data; boundary=x"}
    answer = inside.post("/change", content=content, headers=headers)
    assert (answer.status_code, inner.forms, list(uploads.iterdir())) == (413, [], [])


def test_a_huge_length_is_refused_before_anything_is_read(inside: Any) -> None:
    headers = {
        "origin": OWN,
        "content-type": "multipart/form-data; boundary=x",
        "content-length": str(10 << 30),
    }
    assert inside.post("/change", content=b"", headers=headers).status_code == 413


def test_of_an_upload_without_the_token_no_byte_is_kept(
    inside: Any, inner: Inner, uploads: Path
) -> None:
    content = (
        b'--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n1\r\n'
        b'--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n0\r\n--x--\r\n'
    )
    headers = {"origin": OWN, "content-type": "multipart/form-data; boundary=x"}
    answer = inside.post("/change", content=content, headers=headers)
    assert (answer.status_code, inner.forms, list(uploads.iterdir())) == (403, [], [])


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("multipart/form-data", b"--x--"),
        ("multipart/form-data; boundary=x", b"no such thing"),
        ("application/x-www-form-urlencoded", b"\xff=\xff"),
        ("application/x-www-form-urlencoded", b"a&" * 20_000),
    ],
)
def test_a_form_that_cannot_be_understood_is_refused(
    inside: Any, inner: Inner, kind: str, content: bytes
) -> None:
    answer = inside.post("/c", content=content, headers={"origin": OWN, "content-type": kind})
    assert answer.status_code in (400, 403)
    assert inner.forms == []


def test_every_answer_forbids_keeping_framing_and_foreign_code(outside: Any, inside: Any) -> None:
    answers = [inside.get("/"), inside.get("/", headers={"host": "evil"}), inside.put("/")]
    inside.cookies.clear()
    for answer in (*answers, outside.get("/")):
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY
    assert "frame-ancestors 'none'" in POLICY
