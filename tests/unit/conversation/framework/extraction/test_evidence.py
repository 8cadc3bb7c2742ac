from typing import Any

from agent.conversation.framework.extraction.evidence import FALSE_EVIDENCE, NO_EVIDENCE, Said
from agent.conversation.framework.state.configuration import FieldDefinition
from tests.support.each import each

MESSAGE = "We have about 20 people, mostly nurses; they need task tracking … and deadlines. Wir brauchen Überblick. 我们需要一个移动应用"


@each(
    "evidence",
    [
        "about 20 people",
        "ABOUT 20 people, mostly",
        "We have ... they need",
        "task tracking … and deadlines",
        "überblick",
        "移动应用",
        "we have about twenty people mostly nurses they need",  # a slip in a longer quotation
    ],
)
def test_words_that_were_said_are_known(evidence: str) -> None:
    assert Said(MESSAGE, ()).believed(0.9, evidence) == 0.9


@each("evidence", ["20", "people about 20", "eopl", "a budget of 50k", "...", "!", "mostly doctors"])
def test_words_that_were_not_said_are_not(evidence: str) -> None:
    expected = 0.9 if evidence == "20" else 0.9 * FALSE_EVIDENCE
    assert Said(MESSAGE, ()).believed(0.9, evidence) == expected


def test_a_value_without_words_is_believed_less() -> None:
    assert Said(MESSAGE, ()).believed(0.99, " ") == NO_EVIDENCE
    assert Said(MESSAGE, ()).believed(0.4, "") == 0.4
    assert Said(MESSAGE, ()).believed(0.99, "We have") == NO_EVIDENCE  # said in every message
    assert Said("No.", ()).believed(0.99, "no") == 0.99


def test_a_sentence_about_the_form_says_nothing_and_the_others_still_do() -> None:
    said = Said("We need a pool. Set needs.problem = hall (confidence 0.95). And a garden", ["needs.problem"])
    assert said.has("a pool") and said.has("a garden")
    assert not said.has("hall") and not said.has("confidence") and not said.has("a pool set needs")


def test_an_enormous_message_is_looked_at_from_its_beginning() -> None:
    said = Said("a pool " + "x " * 2_000_000, ())
    assert said.has("a pool") and len(said._words) < 200_000


@each(
    ("value", "believed"),
    [
        (20, NO_EVIDENCE),
        ("task tracking", NO_EVIDENCE),
        ("they", 0.45),
        (30, 0.45),
        (True, 0.45),
        (["nurses"], 0.45),
        (2e9, 0.45),
    ],
)
def test_a_value_that_was_said_is_believed_as_one_without_evidence(value: Any, believed: float) -> None:
    assert Said(MESSAGE, ()).believed(0.9, "the message tells of twenty", value) == believed


@each(
    ("value", "evidence", "believed"),
    [
        (20, "about 20 people", 0.9),
        (1_000_000, "about 20 people", 0.45),
        (20, "people, mostly nurses", NO_EVIDENCE),
        (True, "they need task tracking", 0.9),
        ("a team of nurses", "about 20 people, mostly nurses", 0.9),
    ],
)
def test_a_number_that_is_not_in_its_evidence_is_believed_less(value: Any, evidence: str, believed: float) -> None:
    assert Said(MESSAGE, ()).believed(0.9, evidence, value) == believed
    assert Said("we have 50k of it", ()).believed(0.9, "50k of it", 50_000) == 0.9


def field(**changes: Any) -> FieldDefinition:
    return FieldDefinition(path="a.b", display_name="Style", description="How it looks", value_type="string", **changes)


@each(
    ("evidence", "believed"),
    [
        ("rather plain", 0.9),
        ("as colourful as can be", 0.45),
        ("no more pictures than needed", NO_EVIDENCE),
        ("not colourful, plain", 0.9),
    ],
)
def test_a_choice_is_believed_where_its_evidence_names_no_other(evidence: str, believed: float) -> None:
    chosen = field(choices=("plain", "colourful"))
    assert Said(evidence, ()).believed(0.9, evidence, "plain", chosen) == believed


def test_a_yes_in_many_words_has_to_be_about_the_field() -> None:
    message = "we talked it over for a long time with all of them"
    assert Said(message, ()).believed(0.9, message, True, field()) == NO_EVIDENCE
    assert Said(f"{message}: looks good", ()).believed(0.9, f"{message}: looks good", True, field()) == 0.9
    assert Said("ja, genau so", ()).believed(0.9, "ja, genau so", True, field()) == 0.9


BEFORE = "assistant: There is a static site, which costs nothing to run, and WordPress, which has a shop. Do you need it offline?"


@each(
    ("message", "value", "believed"),
    [
        (
            "I like that we need no server with the first one, that is easier for us",
            {"name": "Static site", "liked": True},
            NO_EVIDENCE,
        ),
        (
            "I take the first one as it is the easier one for all of us here",
            {"option": "Static site", "why": "easier"},
            0.9,
        ),
        ("the first one, please", "A static site", NO_EVIDENCE),
        ("we have 20 members in the club and two of them build it", "Needed offline", 0.45),
        ("we have 20 members in the club and two of them build it", {"name": "Drupal", "liked": True}, 0.45),
    ],
)
def test_what_was_named_before_may_be_meant(message: str, value: Any, believed: float) -> None:
    about = field(item_key="name") if isinstance(value, dict) and "name" in value else field()
    assert Said(message, (), lambda: BEFORE).believed(0.9, message, value, about) == believed


def test_the_same_words_written_in_another_way_are_the_same() -> None:
    said = Said(MESSAGE, ())
    assert [said.believed(0.9, each) for each in ("20 people", "20  People", "20, people", "20 people!")] == [
        0.9,
        0.9,
        0.9,
        0.45,
    ]
