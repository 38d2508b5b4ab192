"""Keep the compiled loops of the tests from one run to the next, in whatever folder the project stands.

    python scripts/compiled.py restore          put those that fit these sources where Numba looks for them
    python scripts/compiled.py keep             keep those that there are
    python scripts/compiled.py restore --types  put what mypy has kept of another clone where it looks for it
    python scripts/compiled.py keep --types     keep what mypy has kept here

Compiling the loops takes some minutes. Numba keeps them beside the sources, where a fresh clone has none. Those of each
module are kept by themselves in the cache folder of the user, under a name that changes with its source and with those
of all that it imports loops from, as it may hold them; with Python, Numba and numpy; and with the processor. So whoever
changes one loop compiles what holds it, and nothing else. The last few of each are kept. Nothing is kept, and nothing
is restored, where ``GLASSHOUSE_COLD`` is set or the folder cannot be written.

Checking all types takes a minute and a half; mypy knows by the content of each file what it need not check again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = 3
"""So many archives of a module are kept."""
MARK = Path("src", "glasshouse", "__pycache__", "compiled.json")
"""Says of which sources the loops of each module beside them are."""
TYPES = Path(".mypy_cache")
"""Where mypy keeps what it knows."""
LOOPS = re.compile(r"glasshouse\.compiled|numba")
"""What the source of a module says that may have loops."""
IMPORTED = re.compile(r"^from (glasshouse[\w.]*) import (?:\(([^)]*)\)|(.*))", re.MULTILINE)
"""What a module imports of the house, and from where."""


def keys_of(root: Path) -> dict[str, str]:
    """Return what the loops of each module depend on, in short, by where the module is."""
    paths = {_name(path.relative_to(root / "src")): path for path in (root / "src").rglob("*.py")}
    sources = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    imported = {name: _imported(source) & sources.keys() for name, source in sources.items()}
    looping = {name for name, source in sources.items() if LOOPS.search(source)}
    packages = {name for name, path in paths.items() if path.stem == "__init__"}
    machine = f"{sys.version} {platform.machine()} {platform.processor()} "
    machine += f"{version('numba')} {version('llvmlite')} {version('numpy')}"
    keys = {}
    for name in looping:
        held, added = {name}, {name}
        while added:
            held |= added
            passing = added & (looping | packages)
            added = {one for module in passing for one in imported[module]} - held
        key = hashlib.sha256(machine.encode())
        for module in sorted(held):
            key.update(f"{module}\0{sources[module]}".encode())
        keys[paths[name].relative_to(root).as_posix()] = key.hexdigest()[:20]
    return keys


def _name(path: Path) -> str:
    """Return what a module is imported as."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(source: str) -> set[str]:
    """Return the modules that a source may import: from where, and by what name."""
    modules = set()
    for place, several, one in IMPORTED.findall(source):
        names = re.findall(r"\w+", several or one)
        modules |= {place, *(f"{place}.{name}" for name in names)}
    return modules


def kept_in() -> Path:
    """Return the folder in which everything is kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "glasshouse"


def archive_of(module: str, key: str) -> Path:
    """Return where the loops of a module of these sources are kept."""
    return kept_in() / "loops" / f"{module.replace('/', '.')}-{key}.tar"


def marks_of(root: Path) -> dict[str, str]:
    """Return of which sources the loops of each module are, as far as that is known."""
    mark = root / MARK
    return json.loads(mark.read_text(encoding="utf-8")) if mark.is_file() else {}


def restore(root: Path) -> int:
    """Remove loops of other sources, and put kept ones of these in their place; return how many.

    Numba tells that a loop is stale by its own file, and not by those of the loops that it calls.
    """
    marks, keys, restored = marks_of(root), keys_of(root), 0
    for module, key in keys.items():
        if marks.get(module) == key:
            continue
        for path in loops_of(root, module):
            path.unlink()
        archive = archive_of(module, key)
        if archive.is_file():
            with tarfile.open(archive) as kept:
                members = kept.getmembers()
                kept.extraction_filter = getattr(
                    tarfile, "data_filter", None
                )  # since Python 3.11.4
                kept.extractall(root, members)
            archive.touch()
            restored += len(members)
    mark = root / MARK
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text(json.dumps(keys, indent=1), encoding="utf-8")
    return restored


def keep(root: Path) -> int:
    """Keep the loops beside the sources, of modules whose loops were all made of these; return how many."""
    marks, kept_now = marks_of(root), 0
    for module, key in keys_of(root).items():
        loops = sorted(loops_of(root, module))
        if marks.get(module) != key or not loops:
            continue
        archive = archive_of(module, key)
        archive.parent.mkdir(parents=True, exist_ok=True)
        draft = archive.with_suffix(f".{os.getpid()}")
        with tarfile.open(draft, "w") as kept:
            for path in loops:
                kept.add(path, path.relative_to(root).as_posix())
        draft.replace(archive)
        archives = archive.parent.glob(f"{archive.name.rpartition('-')[0]}-*.tar")
        for old in sorted(archives, key=lambda path: -path.stat().st_mtime)[KEPT:]:
            old.unlink()
        kept_now += len(loops)
    return kept_now


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


def loops_of(root: Path, module: str) -> list[Path]:
    """Return the files of compiled loops of a module: indexes, and loops."""
    source = root / module
    return list((source.parent / "__pycache__").glob(f"{source.stem}.*.nb[ic]"))


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
