"""Keep the compiled loops of the tests from one run to the next, in whatever folder the project stands.

    python scripts/compiled.py restore          put those that fit these sources where Numba looks for them
    python scripts/compiled.py keep             keep those that there are
    python scripts/compiled.py restore --types  put what mypy has kept of another clone where it looks for it
    python scripts/compiled.py keep --types     keep what mypy has kept here

Compiling the loops takes some minutes. Numba keeps them beside the sources, where a fresh clone has none. They are kept
in the cache folder of the user, under a name that changes with the sources of all modules that have loops, as one may
hold another; with Python, Numba and numpy; and with the processor. The last few are kept. Nothing is kept, and nothing
is restored, where ``GLASSHOUSE_COLD`` is set or the folder cannot be written.

Checking all types takes a minute and a half; mypy knows by the content of each file what it need not check again.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = 3
"""So many archives are kept."""
MARK = Path("src", "glasshouse", "__pycache__", "compiled.txt")
"""Says of which sources the loops beside them are."""
TYPES = Path(".mypy_cache")
"""Where mypy keeps what it knows."""
KINDS = ("*.nbi", "*.nbc")
"""What Numba writes beside the sources: indexes, and loops."""


def key_of(root: Path) -> str:
    """Return what the loops of these sources depend on, in short."""
    key = hashlib.sha256()
    for path in sorted((root / "src").rglob("*.py")):
        content = path.read_bytes()
        if b"glasshouse.compiled" in content or b"numba" in content:
            key.update(path.relative_to(root).as_posix().encode() + b"\0" + content)
    key.update(f"{sys.version} {platform.machine()} {platform.processor()}".encode())
    key.update(f"{version('numba')} {version('llvmlite')} {version('numpy')}".encode())
    return key.hexdigest()[:20]


def kept_in() -> Path:
    """Return the folder in which everything is kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "glasshouse"


def archive_of(root: Path) -> Path:
    """Return where the loops of these sources are kept."""
    return kept_in() / f"compiled-{key_of(root)}.tar"


def restore(root: Path) -> int:
    """Remove loops of other sources, and put kept ones of these in their place; return how many.

    Numba tells that a loop is stale by its own file, and not by those of the loops that it calls.
    """
    archive, mark = archive_of(root), root / MARK
    if mark.is_file() and mark.read_text(encoding="utf-8") == archive.name:
        return 0
    for path in loops_of(root):
        path.unlink()
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text(archive.name, encoding="utf-8")
    if not archive.is_file():
        return 0
    with tarfile.open(archive) as kept:
        members = kept.getmembers()
        kept.extraction_filter = getattr(tarfile, "data_filter", None)  # since Python 3.11.4
        kept.extractall(root, members)
    archive.touch()
    return len(members)


def keep(root: Path) -> int:
    """Keep the loops beside the sources, if all were made of these; return how many."""
    archive, mark = archive_of(root), root / MARK
    loops = sorted(loops_of(root))
    if not mark.is_file() or mark.read_text(encoding="utf-8") != archive.name or not loops:
        return 0
    archive.parent.mkdir(parents=True, exist_ok=True)
    draft = archive.with_suffix(f".{os.getpid()}")
    with tarfile.open(draft, "w") as kept:
        for path in loops:
            kept.add(path, path.relative_to(root).as_posix())
    draft.replace(archive)
    archives = sorted(archive.parent.glob("compiled-*.tar"), key=lambda path: -path.stat().st_mtime)
    for old in archives[KEPT:]:
        old.unlink()
    return len(loops)


def restore_types(root: Path) -> int:
    """Give a clone that has checked no types yet what mypy knows of another one; return how many files."""
    here = root / TYPES
    if here.exists() or not (kept_in() / "types").is_dir():
        return 0
    shutil.copytree(kept_in() / "types", here)
    return _files(here)


def keep_types(root: Path) -> int:
    """Keep what mypy knows of these sources, instead of what was kept before; return how many files."""
    if not (root / TYPES).is_dir():
        return 0
    place = kept_in() / "types"
    draft, old = (place.with_suffix(f".{kind}{os.getpid()}") for kind in ("new", "old"))
    shutil.copytree(root / TYPES, draft)
    if place.exists():
        place.rename(old)
    draft.rename(place)
    shutil.rmtree(old, ignore_errors=True)
    return _files(place)


def _files(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


def loops_of(root: Path) -> list[Path]:
    """Return the files of compiled loops beside the sources."""
    return [path for kind in KINDS for path in (root / "src").rglob(f"__pycache__/{kind}")]


def main() -> None:
    """Restore or keep, as asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["restore", "keep"])
    parser.add_argument(
        "--types", action="store_true", help="what mypy knows, instead of the loops"
    )
    asked = parser.parse_args()
    if "GLASSHOUSE_COLD" in os.environ:
        return
    name, ways = (
        ("checked types", {"restore": restore_types, "keep": keep_types})
        if asked.types
        else ("compiled loops", {"restore": restore, "keep": keep})
    )
    try:
        count = ways[asked.what](ROOT)
    except (OSError, shutil.Error, tarfile.TarError) as error:
        print(f"{name}: {error}")
        return
    print(f"{name}: {count} files {'restored' if asked.what == 'restore' else 'kept'}")


if __name__ == "__main__":
    main()
