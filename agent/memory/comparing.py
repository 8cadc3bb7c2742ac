"""Put goals and commands in the form in which they are compared.

Of a goal, concepts in order, with paths, numbers and quoted texts as slots; of a command, its shape: its programs, their subcommands and
the names of their options, without anything of what they work on.
"""

from __future__ import annotations

import re
import shlex
from functools import cache
from itertools import takewhile

from agent.lexicon.words import Lexicon, Token, read_lexicon, tokenize
from agent.memory.model import GoalWords, Slot, SlotKind

_LONGEST_COMMAND = 2_000
_PREFIXES = frozenset(("sudo", "doas", "env", "nohup", "time", "nice", "exec", "command", "builtin"))
_WITH_SUBCOMMAND = frozenset((
    "apt", "apt-get", "brew", "cargo", "conda", "dnf", "docker", "docker-compose", "flatpak", "gcloud", "gh", "git", "go", "helm",
    "ip", "journalctl", "kubectl", "launchctl", "make", "npm", "npx", "openssl", "pip", "pip3", "pipx", "pnpm", "podman", "poetry",
    "rustup",    "service", "snap", "systemctl", "terraform", "tmux", "uv", "vagrant", "yarn", "zypper",
))  # fmt: skip
_TAKES_A_VALUE = frozenset(("-C", "-c", "-n", "-p", "--context", "--namespace", "--prefix", "--profile", "--git-dir"))
_SUBCOMMAND = re.compile(r"\A[a-z][a-z0-9-]{0,30}\Z")
_LONG_OPTION = re.compile(r"(--?[A-Za-z][A-Za-z0-9-]*)(?:=.*)?", re.DOTALL)


def shape_of(command: str) -> str:
    """The shape, "" where the text is long, has several lines, or cannot be split into words.

    "git log -n5 --oneline | grep -i fix" is "git log --oneline -n | grep -i".
    """
    if len(command) > _LONGEST_COMMAND or "\n" in command:
        return ""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|()<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    parts: list[list[str]] = [[]]
    joints: list[str] = []
    try:
        for word in lexer:
            if word and set(word) <= set(";&|()"):
                parts.append([])
                joints.append(word)
            else:
                parts[-1].append(word)
    except ValueError:  # a quote that is not closed
        return ""
    shapes = [_simple(words) for words in parts]
    text = shapes[0]
    for joint, shape in zip(joints, shapes[1:], strict=True):
        text = f"{text} {joint} {shape}"
    return text.strip() if any(shapes) else ""


def _simple(words: list[str]) -> str:
    """One simple command: redirections and settings of variables say nothing about it."""
    left = _without_redirections(words)
    while left and (re.match(r"[A-Za-z_]\w*=", left[0]) or left[0] in _PREFIXES):
        left = left[1:]
    if not left:
        return ""
    program = left[0].rpartition("/")[2][:40]
    names = [program]
    rest = left[1:]
    if program in _WITH_SUBCOMMAND:
        names += _SUBCOMMAND.findall(_subcommand(rest))
    options = {name for word in takewhile("--".__ne__, rest) for name in _options(word)}
    return " ".join((*names, *sorted(options)))


def _subcommand(words: list[str]) -> str:
    """The first word that is no option and no value of one that stands before subcommands (`git -C DIR log`)."""
    left = iter(words)
    for word in left:
        if not word.startswith("-"):
            return word
        if word in _TAKES_A_VALUE:
            next(left, "")
    return ""


def _options(word: str) -> list[str]:
    """The names of options in one word: a value that is attached to one is no part of its name."""
    if not word.startswith("-") or len(word) < 2:
        return []
    if re.match(r"-\d", word):
        return ["-N"]
    if word.startswith("--"):
        found = _LONG_OPTION.fullmatch(word)
        return [found[1]] if found else []
    # `-name` of find is one option, `-la` of ls are two, and nothing tells them apart; written the same, it is the same shape.
    return re.findall(r"\A-[A-Za-z]+", word)


def _without_redirections(words: list[str]) -> list[str]:
    left: list[str] = []
    rest = iter(words)
    for word in rest:
        if word and set(word) <= set("<>&"):
            if left and left[-1].isdigit():
                left.pop()  # the number of the stream
            next(rest, "")
        else:
            left.append(word)
    return left


# Fillers that say which of two paths is meant, or which side of a limit; all others may be left out or added.
_DIRECTIONS = frozenset(
    {"from", "to", "into", "onto", "with", "by", "over", "under", "below", "than", "out", "up", "through", "via"}
)
# Weak words that change nothing at all; others ("recursively", "only") have to be the same ones for the same goal.
_EMPTY = frozenset({
    "actually", "again", "existing", "give", "help", "just", "kindly", "look", "now", "currently", "ok", "okay", "present", "quick",
    "quickly", "really", "right", "simply", "tell", "thanks", "try", "what", "which",
})  # fmt: skip
_NUMBER = re.compile(r"\d+\Z", re.ASCII)
_PATH = re.compile(r"(?=.*[./~*?])[\w.~/*?@%+:=-]*\w[\w.~/*?@%+:=-]*\Z|[.~/]\Z|\.\.\Z")
_ENDINGS = ("ing", "ed", "es", "s")
_LONGEST = 400


@cache
def _lexicon() -> Lexicon:
    """Read lexicon.toml, without the vocabulary of the recipes: what is compared must not change with every recipe that is added."""
    return Lexicon(read_lexicon())


def goal_words(goal: str) -> GoalWords:
    """The goal's words; an empty key for what is too long, or says nothing that could be compared."""
    if len(goal) > _LONGEST:
        return GoalWords(key="")
    parts: list[str] = []
    terms: dict[str, None] = {}
    slots: list[Slot] = []
    for token in tokenize(goal, _lexicon()):
        kind = _slot_kind(token)
        if kind is not None:
            slots.append(Slot(kind, token.raw))
            part = f"<{kind}>"
        else:
            part = _stem(token)
        if token.filler:
            if token.low in _DIRECTIONS:
                parts.append(part)
            continue
        if token.weak:
            terms[f"~{part}"] = None
            if token.low not in _EMPTY:
                parts.append(part)
            continue
        parts.append(part)
        terms[part] = None
    says_something = any(not term.startswith(("~", "<")) for term in terms)
    if not says_something:
        return GoalWords(key="")
    return GoalWords(key=" ".join(parts), terms=tuple(terms), slots=tuple(slots))


def _slot_kind(token: Token) -> SlotKind | None:
    if token.quoted:
        return "text"
    if token.is_path:
        return "path"
    if _NUMBER.match(token.raw):
        return "number"
    return "path" if _PATH.match(token.raw) else None


def _stem(token: Token) -> str:
    """The concept; of words that no synonym knows a rough stem, so that "branches" is "branch"."""
    word = token.concept
    if word == token.low and word.isalpha() and word.isascii():
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 4 and not word.endswith("ss"):
                return word[: -len(ending)]
    return word.replace("~", "-").replace("<", "-").replace(" ", "-") or "-"
