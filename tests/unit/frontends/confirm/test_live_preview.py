"""Previews of an edited text: after a pause, of that text alone, and none of what a person typed on from."""

from __future__ import annotations

import asyncio

import pytest

from agent.frontends.confirm import editor
from agent.frontends.confirm.editor import LivePreview
from agent.protocol.rehearsals import Preview
from tests.support.fake_rehearser import rehearsal_of


def known(command: str) -> Preview:
    return Preview(line=f"would {command}", rehearsal=rehearsal_of(command))


@pytest.fixture(autouse=True)
def _short_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor, "PAUSE", 0.01)


class Gate:
    """Previews texts, and remembers which; `fails` on "bad", and takes its time on "slow"."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.cancelled: list[str] = []

    async def of(self, text: str) -> Preview | None:
        self.asked.append(text)
        try:
            await asyncio.sleep(30 if text == "slow" else 0)
        except asyncio.CancelledError:
            self.cancelled.append(text)
            raise
        if text == "bad":
            raise OSError("gone")
        return None if text == "unknown" else known(text)


async def settled(live: LivePreview, text: str) -> None:
    """Type it, and wait until it is known, or known not to be."""
    changed = asyncio.Event()
    live.on_change = changed.set
    live.update(text)
    await asyncio.wait_for(changed.wait(), 60)


def test_the_first_text_is_known_and_asks_for_nothing() -> None:
    async def main() -> None:
        gate = Gate()
        live = LivePreview(known("a"), gate.of)
        live.update("a")
        assert live.preview("a") is not None
        assert not live.is_pending("a")
        await live.close()
        assert gate.asked == []

    asyncio.run(main())


def test_only_the_text_at_which_typing_paused_is_previewed() -> None:
    async def main() -> None:
        gate = Gate()
        live = LivePreview(known("a"), gate.of)
        for text in ("b", "bc"):
            live.update(text)
        assert live.is_pending("bc")
        await settled(live, "bcd")
        assert gate.asked == ["bcd"]
        found = live.preview("bcd")
        assert found is not None
        assert found.line == "would bcd"
        assert live.preview("bc") is None
        assert live.preview("a") is not None  # what stood there first is held all the time
        await settled(live, "e")
        assert live.preview("bcd") is None
        await live.close()

    asyncio.run(main())


@pytest.mark.parametrize("text", ["unknown", "bad"])
def test_without_a_preview_nothing_is_pending_any_more(text: str) -> None:
    async def main() -> None:
        live = LivePreview(None, Gate().of)
        await settled(live, text)
        assert live.preview(text) is None
        assert not live.is_pending(text)
        await live.close()

    asyncio.run(main())


def test_typing_on_and_leaving_end_what_is_under_way() -> None:
    async def main() -> None:
        gate = Gate()
        live = LivePreview(None, gate.of)
        live.update("slow")
        while not gate.asked:
            await asyncio.sleep(0.005)
        await settled(live, "b")
        assert gate.cancelled == ["slow"]
        live.update("slow")
        while len(gate.asked) < 3:
            await asyncio.sleep(0.005)
        await live.close()
        assert gate.cancelled == ["slow", "slow"]

    asyncio.run(main())


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_line_is_no_command(text: str) -> None:
    async def main() -> None:
        live = LivePreview(None, Gate().of)
        live.update(text)
        assert not live.is_pending(text)
        await live.close()

    asyncio.run(main())
