"""Judge one invocation: peel its wrappers in a loop, then apply its program's table and handler."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk import shell_builtins
from agent.risk.invocation import Invocation, Output
from agent.risk.knowledge_store import CaseRule, Program, level_row
from agent.risk.knowledge_store import program as find_program
from agent.risk.options import Args, split_args
from agent.risk.outputs import output_of
from agent.risk.scopes import absolute
from agent.risk.words import UNKNOWN, Word

if TYPE_CHECKING:
    from agent.risk.walk import Walker

MAX_WRAPPERS = 5_000
_TRUSTED = frozenset(
    (
        "/bin",
        "/usr/bin",
        "/sbin",
        "/usr/sbin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/opt/homebrew/bin",
        "/usr/bin/env",
        "/snap/bin",
    )
)
_RUNS = frozenset(("run", "run-package", "container-run", "run-unknown", "package-install"))
_NETWORKED = frozenset(
    ("ping", "telnet", "ssh", "http", "aria2c", "mosquitto_pub", "nmap", "wget", "curl", "nc", "scp")
)
_COPIERS = frozenset(("cp", "mv", "tar", "zip", "install", "rsync", "dd", "cpio", "ffmpeg"))
Handler = Callable[["Walker", Invocation, Program, Args], "Output | Invocation | None"]
_handlers: dict[str, Handler] = {}


def handler(path: str) -> Handler:
    """The function `module:name` of this package, imported when first met."""
    found = _handlers.get(path)
    if found is None:
        module, _, name = path.partition(":")
        found = _handlers[path] = getattr(importlib.import_module(f"agent.risk.{module}"), name)
    return found


def judge(walker: Walker, invocation: Invocation) -> Output:
    """Everything about one program; its output, as far as it is known."""
    for _ in range(MAX_WRAPPERS):
        name = program_name(walker, invocation)
        if name is None:
            return None, invocation.words[0].taint or "cmd"
        result = shell_builtins.run_builtin(walker, name, invocation)
        if result is not None:
            return result
        if walker.session is not None:
            walker.session.judge_program(walker, name, invocation)
        table = find_program(name)
        if table is None:
            if walker.session is not None:
                walker.session.unknown(walker, invocation)
            unknown_program(walker, invocation)
            return None, invocation.stdin[1] if invocation.stdin else ""
        inner = apply(walker, invocation, table)
        if not isinstance(inner, Invocation):
            return inner
        if not inner.words:
            return None, ""
        invocation = inner
    walker.add("run-opaque", [], invocation.place, reason="is wrapped more often than can be followed")
    return None, ""


def program_name(walker: Walker, invocation: Invocation) -> str | None:
    """The name to look up; None where the program cannot be known (a finding has been added)."""
    word = invocation.words[0]
    text = word.text
    if UNKNOWN in text:
        judge_unknown_name(walker, invocation, word)
        return None
    base = text
    if "/" in text:
        folder, _, base = text.rpartition("/")
        if word.glob:
            walker.add(
                "run-opaque", [word], word_place(word, invocation), reason="names its program by a wildcard: {targets}"
            )
            base = _guess(base) or base
        elif folder not in _TRUSTED:
            fetched = absolute(text, invocation.cwd) in walker.downloads
            walker.add(
                "run-remote" if fetched else "run-unknown",
                [word],
                word_place(word, invocation),
                rule="run.fetched" if fetched else "run.path",
                reason="" if fetched else "runs the file {targets}",
            )
            if find_program(base) is None:
                return None
    elif word.glob:
        walker.add(
            "run-opaque", [word], word_place(word, invocation), reason="names its program by a wildcard: {targets}"
        )
        return None
    elif walker.state.path_changed and text not in shell_builtins._BUILTINS:
        walker.add("run-unknown", [word], word_place(word, invocation), rule="run.path-changed")
    if find_program(base) is None and base.lower() != base and find_program(base.lower()) is not None:
        walker.add(
            "run-unknown",
            [word],
            word_place(word, invocation),
            reason="runs {targets}, which is not the usual spelling",
        )
        return base.lower()
    return base


def _guess(pattern: str) -> str | None:
    """A dangerous program that a globbed name could mean."""
    import fnmatch

    for name in ("rm", "dd", "sh", "bash", "cat", "nc", "chmod", "mv", "python3", "curl", "wget"):
        if fnmatch.fnmatchcase(name, pattern):
            return name
    return None


def judge_unknown_name(walker: Walker, invocation: Invocation, word: Word) -> None:
    if "net" in word.taint:
        walker.add("run-remote", [word], invocation.place)
    elif "opaque" in word.taint:
        walker.add("run-decoded", [word], invocation.place)
    else:
        walker.add(
            "run-opaque", [word], invocation.place, reason="runs a program whose name is not known before it runs"
        )
    for index, following in enumerate(invocation.words[1:], 1):  # `$x rm -rf /`: the rest may be the command
        if find_program(following.text) is not None and index < 4 and following.text not in ("test", "install", "set"):
            judge(walker, invocation.inner(invocation.words[index:], "unknown"))
            break


def word_place(word: Word, invocation: Invocation) -> tuple[int, int]:
    return (word.start, word.end) if word.end > word.start else invocation.place


def unknown_program(walker: Walker, invocation: Invocation) -> None:
    word = invocation.words[0]
    kind = "run" if "/" in word.text else "run-unknown"
    if len(invocation.words) > 1 and len(invocation.words) == 2 and invocation.words[1].text in ("--version", "--help"):
        return
    walker.add(kind, [word], word_place(word, invocation), rule="run.unknown")
    for index in range(1, min(len(invocation.words) - 1, 6)):
        if may_be_command(invocation.words[index]):
            walker.suspect(invocation.words[index:], invocation)
            break


def may_be_command(word: Word) -> bool:
    """Whether an argument could be the program that another one is to run."""
    return not word.quoted and find_program(word.text.rpartition("/")[2]) is not None


def apply(walker: Walker, invocation: Invocation, table: Program) -> Output | Invocation:
    """A known program: help and dry runs, then its handler, its cases, its operands."""
    words = invocation.words[1:]
    args = split_args(words, table)
    if words and len(words) == 1 and words[0].text in ("--help", "--version") and not table.wrap:
        return None, ""
    before = len(walker.findings)
    if table.name in _NETWORKED and any("secret" in word.taint for word in words):
        walker.add("send-secret", [], invocation.place, invocation=invocation)
    if table.handler:
        result = handler(table.handler)(walker, invocation, table, args)
        if result is not None:
            if table.name in _COPIERS:
                secrets_stored(walker, invocation, before)
            return result
    if table.dry and not args.names.isdisjoint(table.dry):
        return output_of(walker, invocation, table, args)
    apply_table(walker, invocation, table, args)
    if table.name in _COPIERS:
        secrets_stored(walker, invocation, before)
    return output_of(walker, invocation, table, args)


def secrets_stored(walker: Walker, invocation: Invocation, before: int) -> None:
    """A copy of a secret in a place that others read is a secret given away."""
    effects = [finding.effect for finding in walker.findings[before:] if finding.effect is not None]
    if not any(effect.kind == "secret" for effect in effects):
        return
    for effect in effects:
        if effect.kind in ("write", "copy-to") and effect.scope in ("temp", "outside", "users", "system", "remote"):
            targets = [Word(text, *invocation.place) for text in effect.targets]
            reason = "stores secrets in {targets}"
            walker.add("send-secret", targets, invocation.place, reason=reason, rule="secret.stored")
            return


def apply_table(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """What the table says about options, sub-commands and operands."""
    place = invocation.place
    recursive = table.always_recursive or not args.names.isdisjoint(table.recursive)
    chosen = [flag for flag in table.flags if matches_options(flag, args)]
    if any(flag.effect == "dry" for flag in chosen):
        return
    for name, word in args.options:
        role = table.roles.get(name)
        if role is not None and role != "text" and word is not None:
            walker.add(role, [word], place, recursive=recursive, invocation=invocation)
    rule, used = choose_case(table, args)
    if rule is not None and rule.effect == "none":
        return
    if rule is not None:
        add_case(walker, invocation, rule, args.operands[used:], recursive)
    elif table.cases and (not table.effect or table.otherwise):
        add_unrated(walker, invocation, table, args)
    for flag in chosen:
        add_case(walker, invocation, flag, args.operands, recursive)
    if table.effect:
        if table.effect in _RUNS:
            suspect_rest(walker, invocation, 0)
        reason = "unpacks {targets}, replacing files of the same name" if table.effect == "extract" else ""
        walker.add(table.effect, args.operands, place, recursive=recursive, reason=reason, invocation=invocation)
    elif table.bare and not args.operands and not table.cases:
        walker.add(table.bare, [], place, invocation=invocation)
    if table.operands:
        apply_operands(walker, invocation, table, args, recursive)


def add_unrated(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """A sub-command that the table does not name, or none at all."""
    if args.operands:
        kind = table.otherwise or "change"
        if kind in _RUNS:
            suspect_rest(walker, invocation, 0)
        name = f"{invocation.words[0].text.rpartition('/')[2]} {args.operands[0].text}"
        reason = f"runs {name[:60]}, and what that changes is not known here" if kind == "change" else ""
        walker.add(
            kind,
            args.operands[:1],
            invocation.place,
            reason=reason.replace(UNKNOWN, "…"),
            rule="run.subcommand",
            invocation=invocation,
        )
    elif table.bare:
        walker.add(table.bare, [], invocation.place, invocation=invocation)


def add_case(walker: Walker, invocation: Invocation, rule: CaseRule, targets: list[Word], recursive: bool) -> None:
    if rule.effect in ("read", "none", "receive") and not rule.level:
        if rule.effect == "read":
            for word in targets:
                walker.add("read", [word], invocation.place, invocation=invocation)
        return
    level = Level(rule.level) if rule.level else None
    if rule.effect in _RUNS:
        suspect_rest(walker, invocation, len(rule.verbs))
    walker.add(
        rule.effect,
        targets,
        invocation.place,
        recursive=recursive and bool(level_row(rule.effect).scopes),
        level=level,
        rule=f"{rule.effect}.{rule.verbs[0] if rule.verbs else invocation.words[0].text.rpartition('/')[2]}",
        invocation=invocation,
    )


def suspect_rest(walker: Walker, invocation: Invocation, verbs: int) -> None:
    """`poetry run …`, `distrobox enter x -- …`: somewhere behind may stand any command, options and all."""
    before = len(walker.findings)
    for index in range(1 + verbs, min(len(invocation.words), 9)):
        if may_be_command(invocation.words[index]):
            walker.suspect(invocation.words[index:], invocation)
            if len(walker.findings) > before:
                return


def choose_case(table: Program, args: Args) -> tuple[CaseRule | None, int]:
    """The rule for the sub-command: most words first, then one that names options before one that does not, then the worst."""
    if not table.cases or not args.operands:
        return None, 0
    verbs = [word.text for word in args.operands[:5]]
    best: CaseRule | None = None
    best_key = (-1, -1, -1)
    for first in (verbs[0], "*"):
        for rule in table.cases.get(first, ()):
            size = len(rule.verbs)
            if size > len(verbs) or any(a not in (b, "*") for a, b in zip(rule.verbs[1:], verbs[1:], strict=False)):
                continue
            if not matches_options(rule, args):
                continue
            if rule.effect == "dry":
                return CaseRule(rule.verbs, rule.options, "none", ""), size
            row = level_row(rule.effect)
            badness = (
                {"low": 0, "medium": 1, "high": 2}.get(rule.level)
                if rule.level
                else {"L": 0, "M": 1, "H": 2}.get(row.level, 1)
            )
            key = (size if first != "*" else 0, 1 if rule.options else 0, badness or 0)
            if key > best_key:
                best, best_key = rule, key
    return best, len(best.verbs) if best is not None else 0


def matches_options(rule: CaseRule, args: Args) -> bool:
    """Whether one option of each group was given; `--name=value` asks for that value, `+x` for an operand's beginning."""
    for group in rule.options:
        for option in group:
            name, equals, value = option.partition("=")
            if name[0] == "^":
                if any(word.text.startswith(name[1:]) for word in args.operands):
                    break
            elif equals:
                if any(word.text == value for word in args.values(name)):
                    break
            elif name in args.names:
                break
        else:
            return False
    return True


def apply_operands(walker: Walker, invocation: Invocation, table: Program, args: Args, recursive: bool) -> None:
    """Roles of operands in order; the one with a star takes all that is left over."""
    roles = list(table.operands)
    words = args.operands
    if table.drop_first and not args.names.isdisjoint(table.drop_first):
        roles = roles[1:]
    if not words:
        return
    star = next((index for index, role in enumerate(roles) if role.endswith("*")), -1)
    if star >= 0:
        tail = len(roles) - star - 1
        if len(words) < len(roles):
            groups = [(role.rstrip("*"), [word]) for role, word in zip(roles, words, strict=False)]
        else:
            groups = [(role, [word]) for role, word in zip(roles[:star], words[:star], strict=True)]
            groups.append((roles[star][:-1], words[star : len(words) - tail]))
            if tail:
                groups.extend((role, [word]) for role, word in zip(roles[star + 1 :], words[-tail:], strict=True))
    else:
        groups = [(role, [word]) for role, word in zip(roles, words, strict=False)]
    for role, targets in groups:
        if role != "text" and targets:
            walker.add(role, targets, invocation.place, recursive=recursive, invocation=invocation)
