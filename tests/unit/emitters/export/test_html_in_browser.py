"""The report in a real browser: from a file, without a request, with and without its script, on screen and on paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.audit.story.goal import stories
from agent.emitters.export.html_report import Checked, html_report
from agent.protocol.records import Record, decode, encode
from tests.support.browser import Browser, Page, find_browser
from tests.support.pictured_session import hostile, many, pictured, taken_back

SEARCH = """(async () => {
  const box = document.getElementById('search');
  box.value = %s; box.dispatchEvent(new Event('input'));
  await new Promise((done) => setTimeout(done, 200));
  return [document.getElementById('count').textContent,
    [...document.querySelectorAll('.goal')].filter((node) => node.checkVisibility()).map((node) => node.id)];
})()"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip("needs chromium")  # AGENT_TEST_BROWSER names one elsewhere
    with Browser(program) as started:
        try:
            started.call("Browser.getVersion")
        except (TimeoutError, OSError) as error:
            pytest.skip(f"{program} does not start here: {error}")
        yield started


def written(path: Path, records: list[Record]) -> Path:
    back = [decode(encode(record)) for record in records]
    path.write_bytes(b"".join(html_report(stories(back, undone=taken_back(back)), Checked(state="proven", text="ok"))))
    return path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("report") / "demo.html", pictured())


@pytest.fixture(scope="module")
def page(browser: Browser, demo: Path) -> Page:
    return browser.open(demo)


def background(page: Page) -> int:
    """How bright the page is, 0 to 255."""
    color: str = page.run("getComputedStyle(document.body).backgroundColor")
    return int(color.removeprefix("rgb(").split(",")[0])


def test_it_asks_for_nothing_but_itself_and_nothing_complains(browser: Browser, demo: Path) -> None:
    opened = browser.open(demo)
    assert opened.requests() == [demo.as_uri()]
    assert opened.complaints() == []
    assert opened.picture().startswith(b"\x89PNG")
    with pytest.raises(AssertionError, match="Failed to fetch"):
        opened.run("fetch('http://127.0.0.1:9/')")  # and could not, if it wanted to


@pytest.mark.thorough
def test_search_shows_what_has_all_the_words(page: Page) -> None:
    assert page.run(SEARCH % "'lexer.py nowhere'") == ["0 of 7 commands", []]
    assert page.run("document.getElementById('nothing').checkVisibility()")
    assert page.run(SEARCH % "'TEST_13 passed'") == ["1 of 7 commands", ["g5"]]
    assert page.run("CSS.highlights.get('found').size") == 16
    count, goals = page.run(SEARCH % "''")
    assert count == ""
    assert len(goals) == 8


@pytest.mark.thorough
def test_filters_and_jumps_lead_to_failures_and_high_risk(page: Page) -> None:
    shown = "[...document.querySelectorAll('.cmd')].filter((node) => node.checkVisibility()).map((node) => node.id)"
    for name, expected in (("failed", ["c5"]), ("high", ["c4", "c6"]), ("edited", ["c2"])):
        page.run(f"document.querySelector('[data-filter={name}]').click()")
        assert page.run(shown) == expected
        assert page.run(f"document.querySelector('[data-filter={name}]').getAttribute('aria-pressed')") == "true"
    page.run("document.querySelector('[data-filter=\"\"]').click()")
    assert len(page.run(shown)) == 7
    page.run("scrollTo(0, 0)")
    seen = []
    for _ in range(4):
        page.press("n", "n")
        seen.append(page.run("location.hash"))
    assert seen == ["#c4", "#c5", "#c6", "#c4"]
    page.press("p", "p")
    assert page.run("location.hash") == "#c6"
    page.press("/", "/")
    assert page.run("document.activeElement.id") == "search"
    page.press("Escape")
    assert page.run("document.activeElement.id") != "search"


@pytest.mark.thorough
def test_it_is_light_or_dark_as_the_system_says_until_it_is_switched(browser: Browser, demo: Path) -> None:
    opened = browser.open(demo, scheme="dark")
    assert background(opened) < 60
    opened.scheme("light")
    assert background(opened) > 200
    for theme, dark in (("light", False), ("dark", True), ("auto", False)):
        opened.run("document.getElementById('theme').click()")
        assert opened.run("document.documentElement.dataset.theme") == theme
        assert (background(opened) < 60) is dark


@pytest.mark.thorough
def test_on_paper_it_is_light_whole_and_unfolded(browser: Browser, demo: Path) -> None:
    opened = browser.open(demo, scheme="dark")
    opened.run("document.documentElement.dataset.theme = 'dark'")
    opened.run("document.querySelectorAll('details').forEach((node) => { node.open = false; })")
    opened.scheme("dark", "print")
    assert background(opened) > 240
    assert opened.run(
        "[...document.querySelectorAll('details > :not(summary)')].every((node) => node.getBoundingClientRect().height > 0)"
    )
    assert not opened.run("document.getElementById('tools').checkVisibility()")
    assert opened.pdf().startswith(b"%PDF")


@pytest.mark.thorough
def test_without_its_script_it_is_whole(browser: Browser, demo: Path) -> None:
    opened = browser.open(demo, script=False)
    opened.call("Emulation.setScriptExecutionDisabled", value=False)
    assert not opened.run("document.getElementById('tools').checkVisibility()")
    assert opened.run("[...document.querySelectorAll('.cmd')].every((node) => node.checkVisibility())")
    assert opened.run("document.querySelectorAll('summary').length") > 8


@pytest.mark.thorough
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(browser: Browser, demo: Path, tmp_path: Path, width: int) -> None:
    for path in (demo, written(tmp_path / "hostile.html", hostile())):
        opened = browser.open(path, width=width)
        assert opened.run("document.documentElement.scrollWidth") <= width


@pytest.mark.thorough
def test_hostile_text_does_nothing(browser: Browser, tmp_path: Path) -> None:
    path = written(tmp_path / "hostile.html", hostile())
    opened = browser.open(path)
    assert opened.complaints() == []
    assert opened.requests() == [path.as_uri()]
    assert opened.run("[document.scripts.length, document.images.length, document.forms.length]") == [1, 0, 0]


@pytest.mark.thorough
def test_many_commands_can_be_searched(browser: Browser, tmp_path: Path) -> None:
    opened = browser.open(written(tmp_path / "many.html", list(many(2_000))))
    assert opened.complaints() == []
    count, goals = opened.run(SEARCH % "'/srv/data/1321'")
    assert count == "1 of 2000 commands"
    assert goals == ["g133"]
