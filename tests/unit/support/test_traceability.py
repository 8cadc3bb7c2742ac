"""The page that leads from requirements to tests."""

import pytest

from tests.support import traceability_page as pages

MODULE = """
import pytest

@pytest.mark.covers("S1-20", "S9-9")
@pytest.mark.parametrize("x", [1])
def test_one(x): ...

class TestGroup:
    @pytest.mark.covers("S1-21")
    async def test_two(self): ...

def test_three(): ...
"""


def test_markers_are_read_from_sources() -> None:
    assert list(pages.marks(MODULE)) == [("test_one", ("S1-20", "S9-9")), ("test_two", ("S1-21",))]


def test_ids_have_to_be_spelt_out() -> None:
    with pytest.raises(ValueError):
        list(pages.marks("@pytest.mark.covers(*IDS)\ndef test_one(): ..."))


def test_the_page_names_what_is_open_and_ids_that_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "requirements", lambda: {"S1-20": "One.", "S1-21": "Two."})
    monkeypatch.setattr(pages, "lacking", lambda: {"S1-20": "a part"})
    monkeypatch.setattr(pages, "covered", lambda: {"S1-20": ["a.py::test_one"], "S9-9": ["a.py::test_one"]})
    page = pages.traceability_page()
    assert "Open: S1-21." in page
    assert "Not all there yet: S1-20 (a part)." in page
    assert "| S1-20 | One. | `a.py::test_one` |" in page
    assert "| S1-21 | Two. | open |" in page
    assert pages.unknown_ids() == ["a.py::test_one is said to cover S9-9, which tests/traceability.toml does not have"]


def test_every_requirement_has_its_sentence() -> None:
    parts = {"S0": 22, "S1": 80, "S2": 23, "S3": 131, "S4": 29}
    assert list(pages.requirements()) == [f"{part}-{n}" for part, last in parts.items() for n in range(1, last + 1)]
