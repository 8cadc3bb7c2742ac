"""Find what inline code does to files: deletions, writes, devices; and which secrets it reads, or sends as data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.inline.origins import first
from agent.risk.inline.texts import joined, sign
from agent.risk.inline.tokens import HOME, Reading
from agent.risk.paths.scopes import PSEUDO_HOME
from agent.risk.paths.secret_paths import is_secret
from agent.risk.reader.words import UNKNOWN, Invocation, Word, origin
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_KEPT = LazyPattern(r"(?:^|[\n;{]\s*|\b(?:const|let|var|my)\s+)([$\w]{1,40})\s*=\s*$")
_BEFORE = 80  # characters that say what a value is for


def sends_secret(code: str) -> bool:
    """Tell whether a secret's value is put into an address or a body, where nothing says that one logs in with it."""
    for found in sign("asked").finditer(code):
        if "credential" not in origin(found["name"]):
            continue
        before = code[max(0, found.start() - _BEFORE) : found.start()]
        kept = _KEPT.search(before)
        if kept is None:
            if not sign("logs_in").search(before):
                return True
            continue
        uses = re.finditer(rf"(?<![\w$]){re.escape(kept[1])}(?!\w)", code[found.end() :])
        rest = code[found.end() :]
        if any(not sign("logs_in").search(rest[max(0, use.start() - _BEFORE) : use.start()]) for use in uses):
            return True
    return False


_QUOTED = LazyPattern(r"""(['"])([^'"\n]{0,200})\1""")
_A_PLACE = LazyPattern(r"[~/.]|[\w.-]*[*/]|[\w.-]+$")


def listed_places(code: str) -> list[str]:
    """Wildcards for what lies in the folders that code lists; one with `UNKNOWN` for each that is only known when it runs."""
    places: list[str] = []
    for found in sign("lists").finditer(code):
        angles = found["angles"]
        given = found["given"] or found["index"] or ""
        if angles is not None:
            places.append(angles)
        if angles is not None or (found.group().startswith("readdir") and "opendir" in code):
            continue
        named = [text for _, text in _QUOTED.findall(given.partition("{")[0]) if _A_PLACE.match(text)]
        if not named:
            named = [text for _, text in _QUOTED.findall(given) if text[:1] in ("/", "~", ".")]
        folder = named[0].rstrip("/") if named else ""
        if not named:
            places.append(f"{UNKNOWN}/*")
        elif sign("of_patterns").match(found.group()) or "*" in folder:
            places.append(folder)
        else:
            places.append(f"{folder}/*")
    return list(dict.fromkeys(places))[:_MOST_PLACES]


_MOST_PLACES = 8


def below_home(walker: Walker, path: str) -> str:
    """The path, with the person's home for a `~` in front."""
    return (walker.state.home or PSEUDO_HOME) + path[1:] if path == HOME or path.startswith(HOME + "/") else path


_OPENED = LazyPattern(
    r"\bopen\b[^;\n]*(?:[\s,'\"](?:[wa]b?\+?|r\+)(?![\w.])|>)|\bwrit|\bappend|\bputs\b|\bfile_put", re.I
)
_BELOW = LazyPattern(r"~(?:\"?(?=/)|\"\s+)(/?[\w./@+-]+)")  # Tcl: `"~"/x`, `[file join "~" x]`


def judge_written_home(walker: Walker, invocation: Invocation, code: str, named: str) -> None:
    """Judge what is written below the home that the environment names: high counts, for a start-up file or a key that lets in.

    `named` is the code with that home put together with what follows.
    """
    if named == code or not (_OPENED.search(code) or sign("write").search(code)):
        return
    before = len(walker.findings)
    for path in dict.fromkeys(_BELOW.findall(named)):
        word = Word(below_home(walker, f"{HOME}/{path.lstrip('/')}"), *invocation.place)
        walker.add("write", [word], invocation.place, invocation=invocation, rule="inline.write")
    walker.findings[before:] = [found for found in walker.findings[before:] if found.level is Level.HIGH]


def judge_deeds(walker: Walker, invocation: Invocation, reading: Reading, before: int) -> None:
    """Judge what the reader of a language saw done to known paths, where no finding from `before` on tells that already."""
    told = {text for found in walker.findings[before:] if found.effect for text in found.effect.targets}
    for deed in reading.deeds:
        path = below_home(walker, deed.path)
        if deed.path not in told or path != deed.path:
            listed = "*" in path and deed.kind == "delete"
            word = Word(path, *invocation.place, glob=listed, taint="var" if UNKNOWN in path else "")
            deep = deed.deep or (listed and ("**" in path or UNKNOWN in path))
            rule = "" if deed.kind == "read" else f"inline.{deed.kind}"
            level = Level.HIGH if deed.kind == "delete" and deed.deep else None
            walker.add(
                deed.kind, [word], invocation.place, recursive=deep, level=level, rule=rule, invocation=invocation
            )
    for words in reading.starts:
        started = [
            Word(below_home(walker, text), *invocation.place, taint="var" if UNKNOWN in text else "") for text in words
        ]
        walker.dispatch(invocation.inner(started, ""))


_RECURSIVE = LazyPattern(r"recursive\s*(?:[:=]|=>)\s*(?:true|T)\b", re.I)


_DELETES_BELOW = (  # `new File("x").deleteDir()`, `.eachFile { it.delete() }`, `.deleteSync(recursive: true)`
    r"(?:deleteDir\b|deleteRecursively\b|delete(?:Sync)?\s*\(\s*recursive|(?:eachFile\w*|eachDir\w*|listFiles|walk\w*)\b[^;\n]{0,200}?\bdelete)"
)


def judge_deletions(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    for match in re.finditer(r"['\"]([^'\"\n]{1,300})['\"]\s*\)\s*\.\s*" + _DELETES_BELOW, code):
        word = Word(match.group(1), *invocation.place)
        walker.add(
            "delete",
            [word],
            invocation.place,
            recursive=True,
            invocation=invocation,
            level=Level.HIGH,
            rule="inline.delete",
        )
    for found in first(walker, invocation, sign("globbed").finditer(code)):
        word = Word(below_home(walker, found.group(1)), *invocation.place, glob=True)
        walker.add("delete", [word], invocation.place, recursive=True, invocation=invocation, rule="inline.delete")
    if language in _TCL:
        _judge_tcl_deletions(walker, invocation, code)
    if sign("empties").search(code):  # all that is listed, one by one: as good as deleting it
        for place in listed_places(code):
            word = _target(walker, invocation, place, written=False)
            walker.add(
                "delete",
                [word],
                invocation.place,
                recursive=True,
                invocation=invocation,
                reason="empties {targets}",
                rule="inline.empty",
            )
    matches = list(first(walker, invocation, sign("delete").finditer(code)))
    if not matches:
        return
    if invocation.stdin is not None and "all" in invocation.stdin[1].split():  # names that come in: as by `xargs rm`
        inner = invocation.inner([Word(text, *invocation.place) for text in ("xargs", "rm")], "")
        inner.stdin = invocation.stdin
        walker.dispatch(inner)
    only_a_word = "fs" not in code and _only_a_word(code)
    all_of_it = bool(sign("all").search(code)) or _RECURSIVE.search(code) is not None
    listed = [] if language == "python" else listed_places(code)  # its reader knows them better
    chosen = bool(listed) and sign("chooses").search(code) is not None
    paths = [m.group("s") for m in sign("text").finditer(joined(code)[0]) if m.group("s")[:1] in ("/", "~")]
    for match in matches:
        name = match.group().split("(")[0].strip()
        if (
            name in ("rm", "rmdir", "unlink")
            and match.group("arg") is None
            and only_a_word
            and not (name != "rm" and match.start() and code[match.start() - 1] == ".")
        ):
            continue
        deep = all_of_it or bool(sign("deep").search(match.group()))
        handed_on = code[match.start() - 1 : match.start()] in ("'", '"')  # `array_map("unlink", glob(…))`
        put_together = re.search(r"[$#]", match.group("s") or "") is not None
        written = bool(match.group("arg")) and not (listed and (handed_on or put_together))
        targets = [match.group("s")] if written else listed or paths[:1] or [UNKNOWN]
        targets = [*targets, match.group("s")] if put_together and not written else targets
        level = Level.HIGH if deep and written else None
        for target in targets:
            below = deep or (target in listed and (UNKNOWN in target or chosen))
            text = (
                f"{target}.*" if chosen and target.endswith("/*") else target
            )  # as of `find` with a condition: not all
            word = _target(walker, invocation, text or ".", written=written)
            walker.add(
                "delete",
                [word],
                invocation.place,
                recursive=below,
                invocation=invocation,
                level=level,
                rule="inline.delete",
            )


_TCL = frozenset(("tclsh", "wish", "jimsh", "expect"))
_TCL_DELETES = LazyPattern(r"\bfile\s+(?:delete|rename)\s+([^\n;]+)")


def _judge_tcl_deletions(walker: Walker, invocation: Invocation, code: str) -> None:
    """`file delete ?-force? NAME …`: a folder with all it holds where it is forced."""
    for match in first(walker, invocation, _TCL_DELETES.finditer(code)):
        words = re.findall(r"\[[^\]]*\]|\{[^}]*\}|\"[^\"]*\"|[^\s\]}]+", match[1])
        for text in [word.strip('{}"') for word in words if word[:1] != "-" and word != "{*}"]:
            listed = re.search(r"\bglob\s+(?:-\w+\s+)*([^\s\]]+)", text)
            path = listed[1] if listed else UNKNOWN if re.search(r"[$\[]", text) else text
            if path[:1] == "~":
                path = (walker.state.home or PSEUDO_HOME) + path[1:]
            word = Word(path, *invocation.place, glob=listed is not None, taint="var" if UNKNOWN in path else "")
            deep = "-force" in match[1]
            walker.add("delete", [word], invocation.place, recursive=deep, invocation=invocation, rule="inline.delete")


def _target(walker: Walker, invocation: Invocation, path: str, *, written: bool) -> Word:
    """The path that is deleted; a `*` in it is a wildcard where code lists what lies there, not where a call is given the name."""
    return Word(
        below_home(walker, path),
        *invocation.place,
        glob="*" in path and not written,
        taint="" if written else "var",
    )


def _only_a_word(code: str) -> bool:
    """Tell whether `rm` in the code is just a word."""
    return not re.search(r"\b(?:rm|rmdir|unlink)\s*[(\s]\s*[$@<\w]|\bunlink\s*[;}]", code)


def judge_files(walker: Walker, invocation: Invocation, code: str, network: bool) -> None:
    place = invocation.place
    if sign("device").search(code):
        walker.add("device-write", [], place)
    if sign("write").search(code):
        words = [
            Word(below_home(walker, m.group("s")), *place)
            for m in first(walker, invocation, sign("write_path").finditer(code))
        ]
        words = [w for w in words if "{" not in w.text] or [Word(UNKNOWN, *place, taint="var")]
        walker.add("write", words, place, invocation=invocation, rule="inline.write")
    secrets = [m for m in sign("secret").findall(code) if is_secret(m)]
    if secrets or sign("environment").search(code):
        words = [Word(text, *place) for text in secrets]
        walker.add("send-secret" if network else "secret", words, place, rule="inline.secret")
