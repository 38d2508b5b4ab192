"""Build the site from docs/ in both languages: plain Markdown in, a folder that opens from disk out.

    python scripts/website.py [FOLDER] [--no-samples]

English is at the root of the folder (``site/`` unless another is named), Portuguese under ``pt/``; docs/site.toml says
what the navigation shows. Reference pages are generated (scripts/reference.py), and so is a sample report of each kind
(scripts/gallery.py). A page that was merged into another leaves one that leads on. A warning of the builder is a
failure.

    python scripts/website.py --count

says how many pages and words each language has.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Collection, Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
HOMES = {"en": Path(), "pt-BR": Path("pt")}
"""Where each language is, in docs/ and in the site alike."""
PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff")
"""Files beside docs/ that pages link to: English pages of the site, or files of it."""
TABLES = ROOT / "papers"
"""Where the tables of the publications are, which the site has as plain text."""
LINK = re.compile(r"\]\(([^)\s#]*)(#[^)\s]*)?\)")
SAMPLES = {
    "en": (
        "## Whole reports",
        "",
        "One of each kind.",
    ),
    "pt-BR": (
        "## Relatórios completos",
        "",
        "Um de cada tipo.",
    ),
}
"""What stands above the links to sample reports."""
LEADING = """<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={link}">
<title>{title}</title>
<p><a href="{link}">{title}</a></p>
</html>
"""
"""A page that leads on: without a script, so that it works from disk."""
FRAME = {
    "On this page": "Nesta página",
    "Back to top": "Voltar ao topo",
    "Home": "Início",
    "Next": "Próxima",
    "Previous": "Anterior",
    "Skip to content": "Ir para o conteúdo",
}
"""Words of the theme around a page that the builder has no Portuguese for."""
SWITCH = """<div class="sidebar-tree">{% set there = twins.get(pagename, home) %}
<p><a class="language" hreflang="{{ other }}" href="{{ content_root }}{{ there }}" \
style="padding: 0 var(--sidebar-item-spacing-horizontal)">{{ label }}</a></p></div>
"""
"""The link to the same page in the other language; of a page that is in one only, to the other's first page."""


@dataclass(frozen=True)
class Section:
    """A part of the navigation."""

    name: dict[str, str]
    """What it is called, by language."""
    twins: tuple[str, ...]
    """Pages that are written in both languages."""
    generated: tuple[str, ...]
    """Pages that scripts/reference.py writes in both."""
    english: tuple[str, ...]
    """Pages in English only, generated ones among them."""


def sections() -> list[Section]:
    """Return the navigation, as docs/site.toml says it."""
    with (DOCS / "site.toml").open("rb") as file:
        listed = tomllib.load(file)["section"]
    found = []
    for entry in listed:
        generated = entry.get("generated", {})
        english = [name for pattern in entry["english"] for name in _matching(pattern)]
        found.append(
            Section(
                name=entry["name"],
                twins=tuple(entry["twin"]),
                generated=tuple(generated.get("twin", ())),
                english=(*generated.get("english", ()), *english),
            )
        )
    return found


def moved() -> dict[str, dict[str, str]]:
    """Return the pages that are no more, each with the page and the heading that it leads to, by language."""
    with (DOCS / "site.toml").open("rb") as file:
        listed: dict[str, dict[str, str]] = tomllib.load(file)["moved"]
    found = {}
    for old, entry in listed.items():
        goals = {
            language: f"{entry['to']}#{entry[language]}" if language in entry else entry["to"]
            for language in HOMES
            if entry["to"] in {*pages_of(language), *generated_of(language)}
        }
        found[old] = goals
    return found


@cache
def contents_of(language: str) -> dict[str, str]:
    """Return the pages of a language by their names, generated ones among them."""
    import reference

    home = DOCS / HOMES[language]
    written = {name: (home / f"{name}.md").read_text("utf-8") for name in pages_of(language)}
    return reference.pages(language) | written


def _matching(pattern: str) -> list[str]:
    if "*" not in pattern:
        return [pattern]
    return sorted(
        path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.glob(f"{pattern}.md")
    )


def without_twin() -> list[str]:
    """Return the pages that should be in both languages and are not in Portuguese."""
    names = [name for section in sections() for name in section.twins]
    return [name for name in names if not (DOCS / HOMES["pt-BR"] / f"{name}.md").exists()]


def pages_of(language: str) -> list[str]:
    """Return the names of the pages that are written, not generated, in a language."""
    home = DOCS / HOMES[language]
    names = (path.relative_to(home).with_suffix("").as_posix() for path in home.rglob("*.md"))
    return sorted(name for name in names if language != "en" or not name.startswith("pt/"))


def generated_of(language: str) -> list[str]:
    """Return the names of the pages that are generated in a language."""
    names = [name for section in sections() for name in section.generated]
    if language == "en":
        alone = (name for section in sections() for name in section.english)
        names += [name for name in alone if not (DOCS / f"{name}.md").exists()]
    return names


def build(site: Path, samples: bool = True) -> None:
    """Build the site into a folder, which it replaces.

    Args:
        site: The folder.
        samples: Make a sample report of each kind.

    Raises:
        SystemExit: The builder warned of something.
    """
    with tempfile.TemporaryDirectory() as name:
        stage = Path(name, "pages")
        homes = {language: stage / home for language, home in HOMES.items()}
        staged = {language: _stage(folder, language) for language, folder in homes.items()}
        shutil.rmtree(site, ignore_errors=True)
        for language, folder in homes.items():
            _prepare(folder, language, staged)
            trees = Path(name, "trees", language)
            _build(folder, site / HOMES[language], language, staged, trees)
    for path in PROJECT:
        if not path.endswith(".md"):
            _copy(ROOT / path, site / "project" / path)
    for table in TABLES.glob("*.md"):
        _copy(table, site / "project" / "papers" / f"{table.stem}.txt")
    _lead_on(site)
    if samples:
        make_samples(site)


def _lead_on(site: Path) -> None:
    """Put a page that leads on in the place of each that is no more."""
    for old, goals in moved().items():
        for language, goal in goals.items():
            name, _, anchor = goal.partition("#")
            page = contents_of(language)[name]
            link = os.path.relpath(f"{name}.html", Path(old).parent)
            link += f"#{anchor}" if anchor else ""
            title = page.partition("\n")[0].removeprefix("# ")
            content = LEADING.format(language=language, link=link, title=title)
            _write(site / HOMES[language] / f"{old}.html", content)


def _stage(folder: Path, language: str) -> set[str]:
    """Gather the pages and pictures of a language in a folder and return the names of the pages."""
    home = DOCS / HOMES[language]
    contents = dict(contents_of(language))
    if language == "en":
        for path in PROJECT:
            if path.endswith(".md"):
                contents[f"project/{Path(path).stem}"] = (ROOT / path).read_text("utf-8")
    contents["report"] += whole_reports(language)
    for name, content in contents.items():
        _write(folder / f"{name}.md", content)
    for picture in home.rglob("*"):
        inside = picture.relative_to(home)
        if picture.suffix in (".png", ".svg") and (language != "en" or inside.parts[0] != "pt"):
            _copy(picture, folder / inside)
    return set(contents)


def whole_reports(language: str) -> str:
    """Return what the gallery of the site says besides: where a whole report of each kind is."""
    import gallery

    lines = ["", *SAMPLES[language], ""]
    names = [example.name for example in gallery.EXAMPLES]
    lines += [f"- [{name}](path:samples/{name}.html)" for name in names]
    return "\n".join(lines) + "\n"


def sample_reports(folder: Path, names: Collection[str] = ()) -> Iterator[tuple[str, str, str]]:
    """Carry out the commands of the gallery in a folder and yield each report: its name, its language, and the page."""
    import gallery
    from glasshouse.cli.main import main as glasshouse
    from glasshouse.language import speaking
    from glasshouse.report import archive
    from glasshouse.report.html import to_html

    gallery.write_data(folder)
    for example in gallery.EXAMPLES:
        if names and example.name not in names:
            continue
        with chdir(folder), redirect_stdout(StringIO()):
            for command in example.commands:
                code = glasshouse(shlex.split(command)[1:])
                if code:
                    raise SystemExit(f"{command}: exit code {code}")
        stored = (folder / example.name / "report.json").read_text("utf-8")
        for language, page in archive.from_json(stored, example.name).items():
            with speaking(language):
                written = to_html(page)
            yield example.name, language, written


def make_samples(site: Path) -> None:
    """Write a report of each kind, in both languages, as files of the site."""
    with tempfile.TemporaryDirectory() as name:
        for example, language, page in sample_reports(Path(name)):
            _write(site / HOMES[language] / "samples" / f"{example}.html", page)


def _prepare(folder: Path, language: str, staged: dict[str, set[str]]) -> None:
    """Make the links of all pages those of the site, and give the first page the navigation."""
    for name in sorted(staged[language]):
        page = folder / f"{name}.md"
        page.write_text(linked(page.read_text("utf-8"), name, language, staged), "utf-8")
    first = folder / "README.md"
    content = first.read_text("utf-8") if first.exists() else "# Glasshouse\n"
    (folder / "index.md").write_text(
        content + "".join(_navigation(language, staged[language])), "utf-8"
    )
    first.unlink(missing_ok=True)
    _write(folder / "_templates" / "switch.html", SWITCH)
    entries = [f'msgid "{said}"\nmsgstr "{word}"\n' for said, word in FRAME.items()]
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
    catalogue = folder / "_locale" / "pt_BR" / "LC_MESSAGES" / "sphinx.po"
    _write(catalogue, "\n".join([header, *entries]))


def _navigation(language: str, names: set[str]) -> Iterator[str]:
    left = names - {"README"}
    parts = sections()
    for section in parts:
        pages = [
            name for name in (*section.twins, *section.generated, *section.english) if name in left
        ]
        left -= set(pages)
        if section is parts[-1]:
            pages += sorted(left)
        yield (
            f"\n```{{toctree}}\n:hidden:\n:caption: {section.name[language]}\n\n"
            + "\n".join(pages)
            + "\n```\n"
        )


def linked(content: str, name: str, language: str, staged: dict[str, set[str]]) -> str:
    """Return a page with links that lead where the same links lead in the repository.

    Args:
        content: The page.
        name: Its name, such as ``tutorials/hospital``.
        language: Its language.
        staged: The names of all pages, by language.
    """
    home = Path(name).parent
    here = Path() if name.startswith("project/") else Path("docs") / HOMES[language] / home

    def target(match: re.Match[str]) -> str:
        path, anchor = match[1], match[2] or ""
        if not path or ":" in path or path.endswith((".png", ".svg")):
            return match[0]
        goal = Path(os.path.normpath(here / path))
        if goal.parts[:1] == (TABLES.name,):
            table = Path("project", goal.with_suffix(".txt"))
            return f"](path:{os.path.relpath(table, HOMES[language] / home)})"
        place = _place(goal)
        tongue = "pt-BR" if place.is_relative_to(HOMES["pt-BR"]) else "en"
        page = place.relative_to(HOMES[tongue]).with_suffix("").as_posix()
        if place.suffix == ".md":
            if page not in staged[tongue]:
                return match[0]  # which the builder does not find, either
            page = "index" if page == "README" else page
            if tongue == language:
                return f"]({os.path.relpath(page, home)}.md{anchor})"
            place = HOMES[tongue] / f"{page}.html"
        scheme = "anchor" if anchor else "path"
        return f"]({scheme}:{os.path.relpath(place, HOMES[language] / home)}{anchor})"

    return LINK.sub(target, content)


def _place(path: Path) -> Path:
    """Return where a file of the repository is in the site."""
    if path.parts[:1] == ("docs",):
        return Path(*path.parts[1:])
    if path.name in PROJECT:
        return Path("project", path.name)
    return Path("README.md")  # that of the repository: the first page takes its place


def _build(
    source: Path, out: Path, language: str, staged: dict[str, set[str]], trees: Path
) -> None:
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    other = next(tongue for tongue in HOMES if tongue != language)
    away = Path(os.path.relpath(HOMES[other] / "x", HOMES[language])).parent.as_posix()
    shared = (staged["en"] & staged["pt-BR"]) - {"README"}
    settings: dict[str, Any] = {
        "project": "Glasshouse",
        "html_title": "Glasshouse",
        "language": language.replace("-", "_"),
        "extensions": ["myst_parser"],
        "myst_heading_anchors": 4,
        "myst_url_schemes": {
            **dict.fromkeys(("http", "https", "mailto")),
            "path": "{{path}}",  # what is in the site, but not among the pages of this language
            "anchor": "{{path}}#{{fragment}}",
        },
        "exclude_patterns": [
            "pt/**"
        ],  # of the pages in English; those in Portuguese have no such folder
        "html_theme": "furo",
        "html_theme_options": {"navigation_with_keys": True},
        "templates_path": ["_templates"],
        "locale_dirs": ["_locale"],
        "html_sidebars": {
            "**": [
                "sidebar/brand.html",
                "switch.html",
                "sidebar/search.html",
                "sidebar/scroll-start.html",
                "sidebar/navigation.html",
                "sidebar/scroll-end.html",
            ]
        },
        "html_context": {
            "twins": {name: f"{away}/{name}.html" for name in shared},
            "home": f"{away}/index.html",
            "other": other,
            "label": {"en": "Português", "pt-BR": "English"}[language],
        },
        "smartquotes": False,  # --out is no dash
        "html_copy_source": False,
        "html_show_search_summary": False,  # which would be fetched, and browsers refuse that for files
        "html_show_sourcelink": False,
        "html_show_sphinx": False,
        "suppress_warnings": ["misc.highlighting_failure", "myst.header"],
        "pygments_style": "friendly",
    }
    with docutils_namespace():
        app = Sphinx(
            str(source),
            None,
            str(out),
            str(trees),
            "html",
            confoverrides=settings,
            status=None,
            warningiserror=False,
            freshenv=True,
        )
        app.build()
        if app._warncount:
            raise SystemExit(
                f"the builder warned {app._warncount} times of the pages in {language}"
            )


def counted() -> dict[str, tuple[int, int, int]]:
    """Return of each language how many pages are written, how many are generated, and the words of those written."""
    found = {}
    for language, home in HOMES.items():
        names = pages_of(language)
        words = sum(len((DOCS / home / f"{name}.md").read_text("utf-8").split()) for name in names)
        generated = generated_of(language)
        found[language] = len(names), len(generated), words
    return found


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")


def _copy(path: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, place)


def main() -> None:
    """Build the site."""
    parser = argparse.ArgumentParser(description="Build the site from docs/.")
    parser.add_argument("folder", nargs="?", default=ROOT / "site", type=Path)
    parser.add_argument("--no-samples", action="store_true")
    parser.add_argument("--count", action="store_true", help="only count pages and words")
    given = parser.parse_args()
    if given.count:
        for language, (pages, generated, words) in counted().items():
            print(f"{language}: {pages} pages, and {generated} generated; {words:,} words")
        return
    build(given.folder, samples=not given.no_samples)
    print(given.folder / "index.html")


if __name__ == "__main__":
    main()
