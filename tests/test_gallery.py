"""The gallery shows what the commands beside its pictures draw."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "gallery.py"
LOOKS_AT_DRAWINGS = True


@pytest.fixture(scope="module")
def gallery() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gallery", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["target", "deter"])
def test_a_picture_is_what_its_command_draws(
    gallery: ModuleType, tmp_path: Path, name: str
) -> None:
    gallery.write_data(tmp_path)
    (example,) = [each for each in gallery.EXAMPLES if each.name == name]
    for file, svg in gallery.drawn(example, tmp_path).items():
        assert (gallery.PICTURES / file).read_text(encoding="utf-8") == svg


def test_every_picture_is_shown_and_described(gallery: ModuleType) -> None:
    pictures = sorted(path.name for path in gallery.PICTURES.iterdir())
    assert pictures
    for path in gallery.GALLERIES.values():
        page = path.read_text(encoding="utf-8")
        assert all(f"gallery/{picture})" in page for picture in pictures)
        assert "![](" not in page
