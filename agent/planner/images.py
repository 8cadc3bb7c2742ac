"""Ask a planner with the images that the person attached, and once more without those that it does not take."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from msgspec import structs

from agent.planner.untrusted import one_line
from agent.protocol.errors import ProviderError
from agent.protocol.messages import Attached, GoalItem, HistoryItem
from agent.protocol.ports import DeltaHandler, Planner
from agent.protocol.replies import PlannerReply
from agent.protocol.requests import PlannerRequest

_ABOUT_IMAGES = re.compile(
    r"image|vision|multi-?modal|\bmedia\b|content.{0,40}\b(?:string|str|text)\b|unsupported content", re.I
)
_REJECTED = frozenset({400, 404, 413, 415, 422, 500, 501})


class Images:
    """Of one planner: it remembers which images were not taken. `taken`: False for one that takes none."""

    def __init__(self, *, taken: bool) -> None:
        self._taken = taken
        self._refused: set[str] = set()

    async def ask(
        self, planner: Planner, request: PlannerRequest, on_delta: DeltaHandler, tell: Callable[[str], Awaitable[None]]
    ) -> PlannerReply:
        """Its reply. Images that it does not take are left out, which is told once. Raises what the planner raises."""
        request = self._without(request)
        paths = {image.sha256: image.path for item in request.history for image in _images(item)}
        if paths and self._taken:
            try:
                return await planner.plan(request, on_delta)
            except ProviderError as error:
                if not _is_about_images(error):
                    raise
                why = error.message
        elif paths:
            why = f"the {planner.name} planner looks at no images"
        else:
            return await planner.plan(request, on_delta)
        self._refused.update(paths)
        await tell(f"{one_line(why)}; it is asked without {one_line(', '.join(paths.values()))}")
        return await planner.plan(self._without(request), on_delta)

    def _without(self, request: PlannerRequest) -> PlannerRequest:
        """The request without the data of images that were refused. Items that stay as they are stay the same objects."""
        if not any(image.sha256 in self._refused for item in request.history for image in _images(item)):
            return request
        return structs.replace(request, history=tuple(map(self._item, request.history)))

    def _item(self, item: HistoryItem) -> HistoryItem:
        if not isinstance(item, GoalItem) or not any(image.sha256 in self._refused for image in _images(item)):
            return item
        media = (structs.replace(each, data="") if each.sha256 in self._refused else each for each in item.media)
        return structs.replace(item, media=tuple(media))


def _images(item: HistoryItem) -> tuple[Attached, ...]:
    return item.images if isinstance(item, GoalItem) else ()


def _is_about_images(error: ProviderError) -> bool:
    """Tell whether a server may have rejected the request for its images."""
    return error.status in _REJECTED and (error.status in (413, 415) or bool(_ABOUT_IMAGES.search(error.message)))
