"""Judge clients of Redis: commands on the line or on standard input, and those that a script in Lua calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.inline.texts import joined
from agent.risk.programs.databases import KEPT_STATEMENTS
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word
from agent.risk.tables.names import pattern
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_STANDARD_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_LUA_CALL = pattern("redis.call")

_LUA_COMPUTED = LazyPattern(
    r"\b(?:redis|server)\.p?call\s*\(\s*(?!['\"]\w+['\"]\s*[,)])|\b(?:redis|server)\s*\[|\b(?:redis|server)\.p?call\b(?!\s*\()"
    r"|\b(?:load|loadstring|_G|getfenv)\b"
)


def redis(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """Names of commands in any case; those on standard input are judged line by line where they are known."""
    args.operands = [word.part(word.text.lower()) if index < 3 else word for index, word in enumerate(args.operands)]
    verb = args.operands[0].text if args.operands else ""
    if verb in ("eval", "eval_ro", "function") or (verb == "script" and len(args.operands) > 2):
        _lua(walker, invocation, " ".join(word.text for word in args.operands[1:]))
    for word in args.values("--eval"):
        given = invocation.stdin if word.text in _STANDARD_INPUT else walker.files.read(word, invocation.cwd)
        _lua(walker, invocation, (given or ("", ""))[0] or "")
    if verb in ("del", "unlink") and any("every" in word.taint.split() for word in args.operands[1:]):
        reason = "deletes every key that another command lists"
        walker.add("db-destroy", [], invocation.place, reason=reason, rule="db-destroy.listed")
    if (args.has("--scan") and _is_any(args.value("--pattern"))) or (verb == "keys" and _is_any(args.operands[-1])):
        return None, "every"
    if not args.has("--pipe") and (args.operands or invocation.stdin is None):
        return None
    text = (invocation.stdin or (None, ""))[0]
    for line in (text or "").splitlines():
        _redis_line(walker, invocation, line)
    if not text or UNKNOWN in text:
        made = not KEPT_STATEMENTS.intersection((invocation.stdin or ("", "file"))[1].split())
        reason = "runs commands that cannot be seen" + (" before another command has made them" if made else "")
        walker.add("db-destroy" if made else "db-change", [], invocation.place, reason=reason, rule="db.stdin")
    return None, ""


def _is_any(pattern_of_keys: Word | None) -> bool:
    return pattern_of_keys is None or not pattern_of_keys.text.strip("*?")


def _lua(walker: Walker, invocation: Invocation, code: str) -> None:
    """Commands that a Lua text calls; one whose name is computed may be any."""
    whole, _ = joined(code)
    for found in _LUA_CALL.finditer(whole):
        _redis_line(walker, invocation, " ".join(group for group in found.groups() if group))
    names = {found[1].lower() for found in _LUA_CALL.finditer(whole)}
    if not names.isdisjoint(("keys", "scan")) and not names.isdisjoint(("del", "unlink")):
        reason = "deletes the keys that it lists"
        walker.add("db-destroy", [], invocation.place, reason=reason, rule="db-destroy.listed")
    if _LUA_COMPUTED.search(whole):
        reason = "has the server run a command whose name is computed, which hides what it does"
        walker.add("run-opaque", [], invocation.place, reason=reason, rule="db.computed")


def _redis_line(walker: Walker, invocation: Invocation, line: str) -> None:
    words = line.replace('"', " ").replace("'", " ").split()
    if words:
        inner = invocation.inner([Word(text, *invocation.place) for text in ("redis-cli", *words)], "redis-cli")
        inner.stdin = None
        walker.dispatch(inner)
