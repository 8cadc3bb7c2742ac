from typing import Any

from agent.text.vocabulary import Vocabulary
from tests.support.each import each

PARAPHRASES: list[tuple[str, Any]] = [
    (
        "Parcels get lost in our yard, and drivers look for them for hours",
        "Drivers spend hours searching for lost parcels",
    ),
    ("our lists differ", "Lists of members differ from each other"),
    ("We've been using spreadsheets that Anna keeps", "Spreadsheet maintained by hand"),
    ("Members complain each month that letters go to old addresses", "Letters are sent to outdated addresses"),
    ("it must never be down on Sundays", "No downtime on Sundays"),
    ("we've got maybe 20k to spend", "About 20,000"),
    ("three of us could work on it, evenings only", "A team of three, in the evening"),
    ("people find it slow and confusing", "Slow, confusing interface"),
    ("the treasurer reconciles the lists by hand every month", "Monthly reconciliation by the treasurer"),
    ("an app so that nobody has to call us", "An app"),
    ("Pakete gehen auf dem Hof verloren", "Verlorene Pakete auf dem Hof"),
    ("les listes ne sont jamais à jour", "Listes pas à jour"),
    ("我们需要一个移动应用来管理任务", "移动应用"),
    ("clerks, and the two ladies at the desk", ["clerks", "ladies at the desk"]),
    ("about 20 nurses", {"role": "nurse", "count": 20}),
    ("a dozen", 12),
    ("we have about two hundred of them", 200),
    ("zwölf", 12),
    ("between 10 and 20", 10),
    ("1.500 books", 1500),
    ("👍 👍", "👍"),
    ("that is right", True),
]
INVENTED: list[tuple[str, Any]] = [
    ("our lists differ", "Replace the accounting system by SAP"),
    ("our lists differ", "Delete all lists of customers and hire another agency for it"),
    ("we meet on 3 March", "Meeting on 15 June"),
    ("about 20 people", 1_000_000),
    ("our lists differ from month to month", 12),
    ("we have it in our lists", ""),
    ("我们需要一个移动应用", "数据库服务器"),
    ("they told us so", "they would do it for us"),
    ("no", "👍"),
    ("", "a wiki"),
    ("", 3),
    ("our lists differ", {"name": "Oracle", "cost": "high"}),
]


@each(("said", "value"), PARAPHRASES)
def test_an_honest_paraphrase_is_supported(said: str, value: Any) -> None:
    assert Vocabulary(said).supports(value)


@each(("said", "value"), INVENTED)
def test_what_shares_nothing_with_what_was_said_is_not(said: str, value: Any) -> None:
    assert not Vocabulary(said).supports(value)


def test_of_an_object_with_a_name_the_name_has_to_be_said() -> None:
    rated = {"name": "Excel export", "effort": "small", "impact": "considerable", "reach": "everybody"}
    assert Vocabulary("export it to Excel").supports(rated, "name")
    assert not Vocabulary("it is a small effort").supports(rated, "name")


def test_a_choice_is_named_by_all_of_its_words() -> None:
    said = Vocabulary("a phone app with a big font")
    assert said.names("phone app") and not said.names("phone line") and not said.names("-")
