"""``totals campaign`` in other languages: what is said differs, what was found does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from glasshouse.errors import DataError
from glasshouse.language import speak, speaking
from glasshouse.reconstruction import instance
from glasshouse.reconstruction.publications import Trouble
from glasshouse.synthetic.trade import write_trade
from tests.conftest import Glasshouse

PLAN = Path(__file__).parents[2] / "examples" / "trade" / "study.toml"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    write_trade("month", transactions=200, importers=30)
    Path("study.toml").write_text(PLAN.read_text())
    yield
    speak("en")


def campaign(glasshouse: Glasshouse, *arguments: object) -> str:
    asked = ("totals", "campaign", "--study", "study.toml", "--processes", 1)
    outcome = glasshouse(*asked, *arguments)
    assert outcome.code == 0, outcome.error
    return outcome.out


def test_the_figures_are_the_same_in_every_language(glasshouse: Glasshouse) -> None:
    countries = Path("month/countries.csv")
    countries.write_text("\n".join(countries.read_text().splitlines()[::2]))
    told = [campaign(glasshouse, "--lang", code, "--json") for code in ("en", "pt-BR")]
    first, second = map(json.loads, told)
    assert first == second
    assert first["troubles"][0]["kind"] == 'the key map of "country" has no entry'


def test_a_campaign_speaks_portuguese(glasshouse: Glasshouse) -> None:
    told = campaign(glasshouse, "--lang", "pt-BR", "--out", "run")
    assert "Por fase" in told
    assert "O que o adversário consegue identificar, por Bayes" in told
    assert "só o cadastro" in told
    assert "importadores" in told
    assert "Relatório: run/report.html" in told
    assert "records" not in told
    report = Path("run/report.html").read_text()
    assert "Quem está por trás de cada registro: importadores e totais publicados" in report


def test_troubles_and_errors_are_translated() -> None:
    trouble = Trouble.of("city", 'the key map of "{name}" has no entry', 3, "x", name="country")
    with speaking("pt-BR"):
        assert trouble.said == 'o mapa de chaves de "country" não tem entrada'
        with pytest.raises(DataError, match="tem 1 medidas, mas 2 unidades"):
            instance([[1]], [[1]], unit=[1, 2])
    assert trouble.said == trouble.kind == 'the key map of "country" has no entry'
