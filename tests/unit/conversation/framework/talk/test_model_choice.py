import pytest

from agent.conversation.framework.talk.model_choice import chosen

NAMES = ("teach_back", "teach", "mirroring")


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ('{"choice": ["mirroring", "teach_back"]}', ("mirroring", "teach_back")),
        ('```json\n{"choice": "teach"}\n```', ("teach",)),
        ("teach_back, then mirroring", ("teach_back", "mirroring")),
        ("<think>teach</think>mirroring", ("mirroring",)),
        ("I thought about mirroring. " * 40, ()),
        ('{"choice": [["teach"], 3, null]}', ("teach",)),
        ("mirroringly", ()),
        ("", ()),
    ],
)
def test_names_are_read_from_what_a_model_says(answer: str, names: tuple[str, ...]) -> None:
    assert chosen(answer, NAMES) == names
