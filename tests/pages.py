"""What a page of the docs tells its reader to type, carried out in order, in one folder, in this process.

    python -m tests.pages docs/start.md …      renew the outputs that pages show, cut as they are where that can be

Of a fenced block, the first word says what it is:

``console``  commands after ``$ `` and what they print. No line below a command: its output is not shown. A line ``…``
             stands for any lines. An exit code that is not 0 is shown by ``$ echo $?``.
``python``   code, in one namespace per page; a ``text`` block right after it is what it prints, and so is a comment
             beside a ``print``, up to a colon.
``text``     what the code before it prints.
``sh``       how to install: not carried out, and nothing else may stand there.
others       a second word is the name of a file that has this content: ``toml rule.toml``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
WIDTH = "100"
"""How wide the terminal is."""
ELLIPSIS = "…"
LEAST_ALIKE = 0.35
"""How alike a sentence must be to stand for one that was shown."""
FENCE = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMISED = re.compile(r"^print\(.*\)  +# ([^:\n]*)", re.MULTILINE)
INSTALLING = re.compile(r"(make|pip|git|cd|source|\.|python3? -m venv|export|#)( |$)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    kind: str
    file: str
    body: str
    start: int
    end: int


@dataclass(frozen=True)
class Typed:
    """A command of a console, as written, and the lines below it."""

    written: str
    shown: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """The command, taken apart as a shell would."""
        return shlex.split(self.written.replace("\\\n", " "), comments=True)


def carried_out() -> list[Path]:
    """Return the pages whose every block is carried out.

    In English all that have any; in Portuguese those with a console: its answers are in Portuguese. The Python of a
    page is that of its twin.
    """
    english = [path for path in DOCS.rglob("*.md") if not path.is_relative_to(DOCS / "pt")]
    found = [path for path in english if {"console", "python"} & kinds(path)]
    found += [path for path in (DOCS / "pt").rglob("*.md") if "console" in kinds(path)]
    return sorted([*found, ROOT / "CONTRIBUTING.md"])


def kinds(page: Path) -> set[str]:
    """Return what kinds of blocks a page has."""
    return {block.kind for block in blocks(page.read_text("utf-8"))}


def blocks(content: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    return [
        Block(match[1], match[2] or "", match[3], match.start(3), match.end(3))
        for match in FENCE.finditer(content)
    ]


def commands(body: str) -> Iterator[Typed]:
    """Yield what is typed into a console, with what is printed below."""
    lines = body.splitlines()
    place = 0
    while place < len(lines):
        assert lines[place].startswith("$ "), f"not a command: {lines[place]}"
        written = [lines[place][2:]]
        while written[-1].endswith("\\"):
            place += 1
            written.append(lines[place])
        place += 1
        first = place
        while place < len(lines) and not lines[place].startswith("$ "):
            place += 1
        yield Typed("\n".join(written), tuple(lines[first:place]))


@dataclass
class Session:
    """A folder, a Python namespace, and the exit code of the last command."""

    folder: Path
    names: dict[str, object]
    code: int = 0

    def type(self, words: list[str]) -> list[str]:
        """Carry out one command and return the lines that it prints."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            match words:
                case ["glasshouse", *arguments]:
                    from glasshouse.cli.main import main

                    self.code = main(arguments)
                case ["python", script]:
                    exec(
                        compile(Path(script).read_text("utf-8"), script, "exec"),
                        {"__name__": "__main__"},
                    )
                case ["cat", *names]:
                    print("".join(Path(name).read_text("utf-8") for name in names), end="")
                case ["head", count, name] if count[1:].isdigit():
                    lines = Path(name).read_bytes().decode("latin-1").splitlines()
                    print("\n".join(lines[: int(count[1:])]))
                case ["ls", *names]:
                    for name in names or ["."]:
                        print("  ".join(sorted(path.name for path in Path(name).iterdir())))
                case ["echo", "$?"]:
                    print(self.code)
                    self.code = 0
                case _:
                    raise AssertionError(
                        f"the tests do not know how to carry out: {shlex.join(words)}"
                    )
        return [line.rstrip() for line in printed.getvalue().splitlines()]

    def python(self, code: str, page: str) -> list[str]:
        """Carry out code and return the lines that it prints."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), self.names)
        lines = [line.rstrip() for line in printed.getvalue().splitlines()]
        for promised, line in zip(PROMISED.findall(code), lines, strict=False):
            assert line == promised.rstrip(), f"{page}: prints {line}, not {promised}"
        return lines


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[Session]:
    """Be in a folder, before a terminal of one width, without colours, where English is spoken."""
    from glasshouse.language import speak

    speak("en")  # a command of the page before may have spoken another language
    before, settings = Path.cwd(), dict(os.environ)
    os.environ.update({"COLUMNS": WIDTH, "NO_COLOR": "1"})
    os.environ.pop("GLASSHOUSE_LANG", None)
    os.chdir(folder)
    try:
        yield Session(folder, {"__name__": "__main__"})
    finally:
        speak("en")
        os.chdir(before)
        os.environ.clear()
        os.environ.update(settings)


def carry_out(page: Path, folder: Path, renew: bool = False) -> str:
    """Carry out a page and return it with the outputs that it should show.

    Args:
        page: The page.
        folder: Where its commands are typed.
        renew: Replace what is shown, instead of failing where it is not what is printed.
    """
    content = page.read_text("utf-8")
    changes: list[tuple[int, int, str]] = []
    printed: list[str] = []
    with inside(folder) as session:
        for block in blocks(content):
            match block.kind:
                case "console":
                    body = _console(session, block, page, renew)
                case "python":
                    printed = session.python(block.body, page.name)
                    body = block.body
                case "text":
                    body = _agreed(page, "the code", tuple(block.body.splitlines()), printed, renew)
                case "sh":
                    for line in block.body.splitlines():
                        assert not line or INSTALLING.match(line), f"{page}: carry this out: {line}"
                    body = block.body
                case _:
                    if block.file:
                        Path(block.file).write_text(block.body, "utf-8")
                    body = block.body
            changes.append((block.start, block.end, body))
    for start, end, body in reversed(changes):
        content = content[:start] + body + content[end:]
    return content


def _console(session: Session, block: Block, page: Path, renew: bool) -> str:
    body = ""
    for command in commands(block.body):
        if command.words[:1] != ["echo"]:
            assert session.code == 0, f"{page}: exit code {session.code} before: {command.written}"
        printed = session.type(command.words)
        body += f"$ {command.written}\n"
        if command.shown:
            body += _agreed(page, command.written, command.shown, printed, renew)
    assert session.code == 0, f"{page}: exit code {session.code} at the end of: {block.body}"
    return body


def _agreed(
    page: Path, source: str, shown: tuple[str, ...], printed: list[str], renew: bool
) -> str:
    """Return what is to be shown of what was printed; fail where something else is shown."""
    if agrees([line.rstrip() for line in shown], printed):
        return "".join(f"{line}\n" for line in shown)
    if not renew:
        raise AssertionError(
            f"{page}: {source}\nshows:\n" + "\n".join(shown) + "\nprints:\n" + "\n".join(printed)
        )
    return "".join(f"{line}\n" for line in cut_alike(list(shown), printed))


def cut_alike(shown: list[str], printed: list[str]) -> list[str]:
    """Return of what is printed what is most like what was shown, with ``…`` for the rest; all of it if little is."""
    waiting = _units(printed)
    kept: list[tuple[int, int]] = []
    for start, end in _units(shown):
        words = " ".join(shown[start:end])
        if words == ELLIPSIS:
            continue
        alike = [
            SequenceMatcher(None, words, " ".join(printed[a:b]), autojunk=False).ratio()
            for a, b in waiting
        ]
        if not alike or max(alike) < LEAST_ALIKE:
            return printed
        kept.append(waiting.pop(alike.index(max(alike))))
    kept.sort()  # what is said may have moved
    lines, place = list[str](), 0
    for start, end in [*kept, (len(printed), len(printed))]:
        between = printed[place:start]
        lines += [ELLIPSIS] if any(between) else between
        lines += printed[start:end]
        place = end
    return lines if agrees(lines, printed) else printed


def _units(lines: list[str]) -> list[tuple[int, int]]:
    """Return where sentences, and lines of tables, begin and end."""
    found: list[tuple[int, int]] = []
    for place, line in enumerate(lines):
        if not line.strip():
            continue
        before = lines[place - 1] if place else ""
        follows = (
            place > 0
            and before.strip()
            and before != ELLIPSIS
            and len(before) > int(WIDTH) - 25
            and not before.endswith((".", ":"))
            and not line.startswith(("• ", "✓ ", "✗ ", "! ", "? ", ELLIPSIS))
            and "─" not in before
        )
        if follows:
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return found


def agrees(shown: list[str], printed: list[str]) -> bool:
    """Return whether lines are those printed, where ``…`` stands for any lines."""
    place, free = 0, False
    for line in shown:
        if line == ELLIPSIS:
            free = True
            continue
        found = next((at for at in range(place, len(printed)) if printed[at] == line), None)
        if found is None or (found != place and not free):
            return False
        place, free = found + 1, False
    return free or place == len(printed)


def main() -> None:
    """Renew the outputs of the pages that are named."""
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(carry_out(page, Path(folder), renew=True), "utf-8")


if __name__ == "__main__":
    main()
