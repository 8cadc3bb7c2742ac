import pytest
from msgspec.structs import replace

from agent.conversation.framework.progress.obligations import settle
from agent.conversation.framework.state.working_memory import PhaseState
from agent.conversation.framework.talk.quality import check, longest_reply
from tests.support.each import each
from tests.support.interview_world import ENGINE, engine, known, memory

FIELDS = [
    {**each, "question": "How many books are there?"} if each["path"] == "size.books" else each
    for each in ENGINE["extractionSchema"]["fields"]
]
CONFIG = engine(extractionSchema={"fields": FIELDS})
KNOWN = memory(extraction={"size.books": known(12_000)})


@pytest.mark.covers("S3-18")
@each(
    ("reply", "lacks"),
    [
        ("What do your readers miss?", ""),
        ("What do they miss? And who are they?", ""),
        (" \n", "empty"),
        ("Who? What? When? Why?", "one question at a time"),
        ("Thanks, I noted that.", "End with a question"),
        ("What then? " + "word " * 200, "Be shorter: at most 160 words"),
        ("I'll run the installer now. What else?", "Do not promise to run"),
        ("I have created the repository for you. What else?", "Do not promise to run"),
        ("I'll run through what I noted. What else?", ""),
        ("How many books are there?", "Do not ask for what is known: Books"),
        ("You have 12000 books, is that right?", ""),
    ],
)
def test_a_reply_is_checked_by_rules(reply: str, lacks: str) -> None:
    found = check(reply, KNOWN, CONFIG)
    assert [each for each in found if lacks in each] if lacks else found == ()


@pytest.mark.covers("S3-18")
def test_the_last_reply_is_not_said_again() -> None:
    reply = "Thank you for that. Now tell me please: what do your readers miss the most?"
    assert check(reply, memory(), CONFIG, ["Hello", reply.upper()]) == (
        "Do not say the same again; say it differently, or go on.",
    )
    assert check(reply, memory(), CONFIG, [reply, "Hello"]) == ()
    assert check("And then?", memory(), CONFIG, ["And now?"]) == ()


def test_no_question_is_wanted_where_the_phase_informs_or_all_is_known() -> None:
    reply = "A shelf has five boards."
    assert check(reply, replace(memory(), phase=PhaseState(current="SIZE")), CONFIG) == ()
    done = memory()
    for one in CONFIG.obligations:
        done = settle(done, one.id, "deferred" if one.id == "size_known" else "satisfied", deferred_by="person")
    assert check(reply, done, CONFIG) == ()
    assert check(reply, memory(ended="cancelled"), CONFIG) == ()


@pytest.mark.covers("S3-36")
@each(("system", "words"), [(30, 160), (70, 320), (0, 40), (900, 440)])
def test_the_length_follows_from_the_information_ratio(system: int, words: int) -> None:
    assert longest_reply(engine(informationRatio={"user": 100 - system, "system": system})) == words


def test_code_and_enormous_replies_are_no_trouble() -> None:
    assert check("```\nis it? is it? is it?\n```\nWhat else?", memory(), CONFIG) == ()
    assert check("?" * 1_000_000 + "a? " * 1_000_000, memory(), CONFIG)
