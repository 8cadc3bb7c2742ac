"""Name a session: with the words of its goals, or as a person wants it to be called (`:save session`)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from agent.commands.context import Change, CommandContext, DispatchOutcome
from agent.protocol.commands import SaveSession
from agent.protocol.errors import InvalidRequest, InvalidState

NAMED_AFTER = 3
"""So many goals tell what a session is about."""

_WORDS = 3
_MOST_READ = 500  # characters of a goal
_LONGEST = 20  # longer words are paths, hashes and keys
_NAME = re.compile(r"\w[\w.-]{0,59}")
_TAKEN = ("new", "last")
_LABEL = re.compile(r"\[redacted[^\]]*\]")
_QUOTED = re.compile(r"\S*[/\\@=:~$*{}<>|][^\s]*")  # paths, addresses, settings, patterns
_WORD = re.compile(r"(?<![\w.-])[^\W\d_]{3,}(?!['’]t\b)(?![\w.-]*[\d_])")
_EMPTY = frozenset(
    """
    about add after again all also and any are ask been before below between but can change check could create delete did does
    each every find for from get give goal had has have help here how into its just let like list look make many more most move need new not
    now off old only open out over please print put remove run same set should show some take tell than that the their them then there
    these they this those too try under until use using want was were what when where which who why will with without would write you your
    know haven
    und der die das den dem ein eine einen alle nach mit von für ist zeige mir bitte les des une dans pour avec los las del una para con por
    """.split()
)


def name_from(goals: Sequence[str]) -> str:
    """Up to three words in the order in which they came, those that come most first; "" where there are none to tell it by."""
    known = Counter[str]()
    for goal in goals:
        text = _QUOTED.sub(" ", _LABEL.sub(" ", unicodedata.normalize("NFC", goal[:_MOST_READ])))
        words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
        known.update(word for word in words if word not in _EMPTY and len(word) <= _LONGEST)
    chosen = {word for word, _ in known.most_common(_WORDS)}  # of equals, what came first
    return "-".join(word for word in known if word in chosen)


def save_session(context: CommandContext, arguments: SaveSession) -> DispatchOutcome:
    """Called so from now on. Raises InvalidRequest, InvalidState."""
    session = context.session
    given = arguments.name
    name = checked_name(session.redactor.redact(given)) if given else name_from(session.listed)
    if not name:
        raise InvalidState(expected="goals to make a name from", found="none", hint=":save session NAME")
    changed = () if name == session.name else (Change("name", name, {"name": name}),)
    return DispatchOutcome(f"this session is called {name}: `:session {name}` goes on in it", {"name": name}, changed)


def needs_log(context: CommandContext) -> None:
    if context.session.recorder.path is None:
        raise InvalidState(expected="a log of this session", found="none (--no-persist)")


def checked_name(name: str) -> str:
    """`name` with dashes for its blanks. Raises InvalidRequest where it could not be told from something else."""
    made = "-".join(unicodedata.normalize("NFC", name).split())
    if not _NAME.fullmatch(made) or made in _TAKEN or made.endswith(".jsonl"):
        raise InvalidRequest(
            f"{name[:80]!r} cannot be the name of a session", hint="use up to 60 letters, digits, dots and dashes"
        )
    return made
