"""The app at work: what starting costs, ten thousand requests, a thousand at once, an upload that never ends.

    python benchmarks/app.py [REQUESTS]

CPU seconds and memory are those of the app's process, as the system counts them.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
COLUMNS = "-q age -q sex -q city -s disease".split()


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(pid: int) -> float:
    """Return the memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


class Reader:
    """Somebody who has entered the app."""

    def __init__(self, address: str) -> None:
        self.host = address.split("/")[2]
        self._connection = http.client.HTTPConnection(self.host)
        self.cookie = ""
        _, headers = self.get(address.partition(self.host)[2])
        self.cookie = headers["set-cookie"].partition(";")[0]

    def get(self, path: str) -> tuple[str, http.client.HTTPMessage]:
        """Return a page and its headers."""
        headers = {"cookie": self.cookie} if self.cookie else {}
        try:
            self._connection.request("GET", path, headers=headers)
            answer = self._connection.getresponse()
        except ConnectionResetError:  # nothing was asked for long
            self._connection.close()
            return self.get(path)
        return answer.read().decode("utf-8"), answer.headers


def prepare(folder: Path) -> None:
    """Make a file and a run of it."""
    rows = [
        f"{20 + i % 50},{'MF'[i % 2]},town{i % 11},{'yes' if i % 7 else 'no'}" for i in range(500)
    ]
    (folder / "people.csv").write_text("\n".join(["age,sex,city,disease", *rows]), encoding="utf-8")
    words = ["assess", str(folder / "people.csv"), *COLUMNS, "--out", str(folder / "run")]
    subprocess.run([sys.executable, "-m", "glasshouse", *words], check=True, capture_output=True)


async def at_once(reader: Reader, number: int) -> list[bytes]:
    """Ask for the first page many times at once, and return the status lines."""
    host, _, port = reader.host.partition(":")

    async def one() -> bytes:
        source, target = await asyncio.open_connection(host, int(port))
        ask = f"GET / HTTP/1.1\r\nhost: {reader.host}\r\ncookie: {reader.cookie}\r\nconnection: close\r\n\r\n"
        target.write(ask.encode())
        line = await source.readline()
        await source.read()
        target.close()
        return line

    return await asyncio.gather(*(one() for _ in range(number)))


def endless_upload(reader: Reader, token: str) -> tuple[int, float]:
    """Upload without an end, and return how the app answers and after how many MB."""
    connection = http.client.HTTPConnection(reader.host)
    connection.putrequest("POST", "/upload")
    for name, value in {
        "cookie": reader.cookie,
        "origin": f"http://{reader.host}",
        "content-type": "multipart/form-data; boundary=x",
        "transfer-encoding": "chunked",
    }.items():
        connection.putheader(name, value)
    connection.endheaders()
    part = "content-disposition: form-data; name="
    head = f'--x\r\n{part}"csrf"\r\n\r\n{token}\r\n--x\r\n{part}"file"; filename="a"\r\n\r\n'
    piece, sent = b"1" * (1 << 20), 0.0
    connection.send(f"{len(head):x}\r\n{head}\r\n".encode())
    try:
        while sent < 10_000:
            connection.send(b"%x\r\n%s\r\n" % (len(piece), piece))
            sent += len(piece) / 1e6
    except OSError:  # it hangs up
        pass
    try:
        return connection.getresponse().status, sent
    except (OSError, http.client.HTTPException):
        return 0, sent


def main(requests: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        words = [sys.executable, "-m", "glasshouse", "app", name, "--no-browser"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            address = re.search(r"http://\S+", process.stdout.readline())
            assert address
            start = cpu(process.pid)
            reader = Reader(address[0])
            home, _ = reader.get("/")
            print(f"start {start:.2f} CPU s, first page {cpu(process.pid) - start:.2f} CPU s")
            found = re.findall(r"/run/[0-9a-f]+", home)
            paths = ["/", found[0], f"{found[0]}/export", "/look/auto.css", "/compare", "/app.js"]
            memories: list[float] = []
            used, begun = cpu(process.pid), time.perf_counter()
            for place in range(requests):
                reader.get(paths[place % len(paths)])
                if place % (requests // 10) == requests // 10 - 1:
                    memories.append(memory(process.pid))
            used = (cpu(process.pid) - used) / requests
            print(
                f"{requests} requests: {1000 * used:.1f} CPU ms each, {time.perf_counter() - begun:.0f} s"
            )
            print("memory (MB) after each tenth:", " ".join(f"{one:.0f}" for one in memories))
            print(f"growth over the last nine tenths: {memories[-1] - memories[0]:+.1f} MB")
            lines = asyncio.run(at_once(reader, 1000))
            print(f"1000 at once: {sum(b' 200 ' in line for line in lines)} answered")
            token = re.findall(r'name="csrf" value="([0-9a-f]+)"', home)[0]
            status, sent = endless_upload(reader, token)
            print(
                f"an upload without end: {status or 'hung up'} after {sent:.0f} MB; {memory(process.pid):.0f} MB"
            )
            print(
                "left of it:", len(list((folder / "glasshouse-app" / "uploads").iterdir())), "files"
            )
            process.terminate()
            print("exit code", process.wait(10))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
