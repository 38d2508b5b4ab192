"""Six hundred probes of a running app: nobody else is let in, and no page goes down.

    python benchmarks/probes.py

A probe from outside must be refused (400 to 405, 413, 421) without a byte of a page; a probe by who has entered, with
addresses, forms and files that make no sense, may be refused in a line, but never with a bug (500 and more).
"""

from __future__ import annotations

import http.client
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from app import Reader, prepare
from app_screens import started

PAGES = (
    *(
        "/",
        "/compare",
        "/ledger",
        "/further",
        "/tables",
        "/synthetic",
        "/threat",
        "/totals",
        "/deter",
    ),
    *(
        "/app.js",
        "/look/auto.css",
        "/open?file=0",
        "/draft/0",
        "/job/0",
        "/job/0/events",
        "/keep/run/0",
    ),
)
OF_A_RUN = (
    *("", "/explore", "/people", "/what-if", "/groups", "/export", "/report.html", "/report.pdf"),
    *("/study.toml", "/release", "/form/dpia.docx", "/form/../../x.docx"),
)
HOSTS = (
    *(
        "evil.test",
        "localhost",
        "127.0.0.1",
        "127.0.0.1.nip.io",
        "0.0.0.0",
        "[::1]",
        "2130706433",
        "127.1",
    ),
    *(
        "evil.test:{port}",
        "localhost.evil.test:{port}",
        "127.0.0.1:{port}.evil.test",
        "127.0.0.1:1",
        "",
    ),
    *(
        "user@127.0.0.1:{port}",
        "127.0.0.1:{port}@evil.test",
        "127.0.0.1:0{port}",
        "LOCALHOST",
        "a b",
    ),
)
ORIGINS = (
    *("http://evil.test", "null", "http://localhost:1", "https://127.0.0.1:{port}", "file://", ""),
    *("http://127.0.0.1:{port}.evil.test", "http://127.0.0.1:{port}/", "http://127.0.0.1", "x"),
)
SITES = ("cross-site", "same-site")
ODD = (
    *(
        "",
        "0",
        "-1",
        "1e999999999",
        "9" * 400,
        "%00",
        "../../etc/passwd",
        "<script>alert(1)</script>",
        "'\"`;",
    ),
    *(
        "\u202e\u0000",
        "ł" * 50,
        "NaN",
        "1.1-2.2-k.5-r.9",
        "0.0-" * 200,
        "{{7*7}}",
        "${x}",
        "a" * 3000,
    ),
)
FIELDS = (
    *(
        "moves",
        "k",
        "l",
        "removed",
        "rule",
        "leave",
        "know",
        "pin",
        "with",
        "most",
        "over",
        "page",
        "sort",
    ),
    *(
        "picture",
        "column",
        "exact",
        "find",
        "skip",
        "separator",
        "encoding",
        "missing",
        "values",
        "totals",
    ),
    *("penalty", "ledger", "output", "people", "suppressed", "language"),
)
Probe = tuple[str, str, str, dict[str, str], bytes]
"""A family, a method, an address, headers, and a body."""


def from_outside(reader: Reader, run: str) -> Iterator[Probe]:
    """Yield what others try: without the cookie, by another name, from another page."""
    port = reader.host.partition(":")[2]
    pages = [*PAGES, *(run + name for name in OF_A_RUN)]
    name = reader.cookie.partition("=")[0]
    for page in pages:
        yield "no cookie", "GET", page, {}, b""
        yield "no cookie", "POST", page, {"origin": f"http://{reader.host}"}, b"csrf=0"
    for cookie in ("", "0" * 43, reader.cookie.partition("=")[2][:-1], "a b", "é", ";" * 99):
        for page in pages[:8]:
            yield "forged cookie", "GET", page, {"cookie": f"{name}={quote(cookie)}"}, b""
    for token in ("", "0", "a" * 43, "%00", "token", reader.cookie):
        for method in ("GET", "HEAD", "POST"):
            yield "token", method, f"/enter?token={quote(token)}", {}, b""
    for host in HOSTS:
        for page in ("/", run, "/app.js"):
            yield (
                "host",
                "GET",
                page,
                {"host": host.format(port=port), "cookie": reader.cookie},
                b"",
            )
    form = {"cookie": reader.cookie, "content-type": "application/x-www-form-urlencoded"}
    for page in (
        "/demo",
        "/settings",
        "/study",
        "/ledger",
        "/tables",
        f"{run}/again",
        f"{run}/change",
        "/upload",
    ):
        for origin in ORIGINS:
            yield "origin", "POST", page, {**form, "origin": origin.format(port=port)}, b"csrf=0"
        yield (
            "form token",
            "POST",
            page,
            {**form, "origin": f"http://{reader.host}"},
            b"csrf=0&accept=yes",
        )
        for site in SITES:
            yield "site", "GET", page, {"cookie": reader.cookie, "sec-fetch-site": site}, b""
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"):
        yield "method", method, "/", {"cookie": reader.cookie}, b""


def from_inside(reader: Reader, run: str, file: str, token: str) -> Iterator[Probe]:
    """Yield what makes no sense, by who has entered."""
    chance = random.Random(1)
    addresses = [*PAGES, file, *(run + name for name in OF_A_RUN)]
    cookie = {"cookie": reader.cookie}
    for page in addresses:
        yield "page", "GET", page, cookie, b""
    for field in FIELDS:
        for value in chance.sample(ODD, 8):
            page = chance.choice(addresses)
            sign = "&" if "?" in page else "?"
            yield "address", "GET", f"{page}{sign}{field}={quote(value)}", cookie, b""
    form = {**cookie, "origin": f"http://{reader.host}"}
    kind = {"content-type": "application/x-www-form-urlencoded"}
    for page in (
        "/tables",
        "/synthetic",
        "/threat",
        "/totals",
        "/ledger",
        "/compare",
        "/deter",
        "/settings",
    ):
        for value in chance.sample(ODD, 5):
            body = f"csrf={token}&" + "&".join(
                f"{name}={quote(value)}" for name in ("tables", "run", "plan", "people")
            )
            yield "form", "POST", page, {**form, **kind}, body.encode()
    for value in (
        *ODD,
        "a/b.csv",
        "..",
        "x.exe",
        "con.csv",
        ".csv",
        "a.csv\r\nx: y",
        "população.csv",
    ):
        yield (
            "upload",
            "POST",
            "/upload",
            {**form, "content-type": "multipart/form-data; boundary=x"},
            _upload(token, value),
        )
    for content in (b"", b"--x", b"--x\r\n\r\n", _upload(token, "a.csv")[:-6], b"\0" * 5000):
        yield (
            "upload",
            "POST",
            "/upload",
            {**form, "content-type": "multipart/form-data; boundary=x"},
            content,
        )


def _upload(token: str, name: str) -> bytes:
    part = "content-disposition: form-data; name="
    text = f'--x\r\n{part}"csrf"\r\n\r\n{token}\r\n--x\r\n{part}"file"; filename="{name}"\r\n\r\na\n1\n\r\n--x--\r\n'
    return text.encode("utf-8", "surrogatepass")


def answer(host: str, probe: Probe) -> tuple[int, str]:
    """Return how the app answers a probe: the status, and the body; 0: it hangs up."""
    _, method, address, headers, body = probe
    connection = http.client.HTTPConnection(host, timeout=60)
    try:
        connection.putrequest(
            method, address, skip_host="host" in headers, skip_accept_encoding=True
        )
        for name, value in headers.items():
            connection.putheader(name, value)
        if method == "POST":
            connection.putheader("content-length", str(len(body)))
        connection.endheaders(body if method == "POST" else None)
        got = connection.getresponse()
        return got.status, got.read().decode("utf-8", "replace")
    except (http.client.HTTPException, ConnectionError):
        return 0, ""
    except ValueError:  # it is not even sent
        return 400, ""
    finally:
        connection.close()


def main() -> bool:
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        prepare(folder)
        with started(folder) as (_, reader, _):
            home, _ = reader.get("/")
            run = re.findall(r"/run/[0-9a-f]+", home)[0]
            file = re.findall(r"/file/[0-9a-f]+", home)[0]
            token = re.findall(r'name="csrf" value="([0-9a-f]+)"', home)[0]
            for probe in from_outside(reader, run):
                status, body = answer(reader.host, probe)
                counts[probe[0]] += 1
                if not (status == 0 or 400 <= status < 500) or "town" in body or token in body:
                    wrong.append(f"let in: {status} {probe[:4]}")
            for probe in from_inside(reader, run, file, token):
                status, body = answer(reader.host, probe)
                counts[probe[0]] += 1
                if status >= 500 or (status == 0 and probe[0] != "upload") or str(folder) in body:
                    wrong.append(f"down: {status} {probe[:3]}")
            still, _ = reader.get("/")
            if "people.csv" not in still:
                wrong.append("the first page is gone")
    for line in wrong:
        print(line)
    print(", ".join(f"{family} {count}" for family, count in counts.items()))
    print(f"{counts.total()} probes (promised: at least 600), {len(wrong)} wrong (promised: none)")
    return not wrong and counts.total() >= 600


if __name__ == "__main__":
    sys.exit(not main())
