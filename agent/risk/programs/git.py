"""Judge git: settings that run programs, commands handed on, and what is thrown away."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocations.environment import from_elsewhere, is_trusted
from agent.risk.invocations.leaks import is_kept
from agent.risk.paths.absolute import absolute
from agent.risk.programs.git_losses import git_clean, git_discard
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word, runs_only
from agent.risk.tables.names import names, pattern
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

RUNS_A_PROGRAM = pattern("git.runs")
_UNSEEN = "…"
_PRINTS = names("git.prints")
_COMMANDS = names("git.commands")
_REFSPEC = re.compile(r"(\+?)[^:+]*:(.+)", re.S)
_FETCHES = re.compile(r"remote\..*\.fetch=", re.I | re.S)
_SAFE_PAGERS = ("cat", "less", "more", "delta", "", "false", "true", "store", "cache", "osxkeychain", "manager")


def git(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """Judge git: settings that run programs, commands handed on, and what is thrown away."""
    place = invocation.place
    _git_settings(walker, invocation, args)
    _own_settings(walker, invocation, args)
    verbs = [word.text for word in args.operands]
    if not verbs:
        return None
    verb = verbs[0]
    if verb not in _COMMANDS and not verb.startswith("-"):
        reason = (
            "has git run {targets}, which is no command of git: an alias, of the repository perhaps, or another program"
        )
        walker.add("run-unknown", args.operands[:1], place, reason=reason, rule="git.alias")
    for option in args.values(
        "--upload-pack", "--receive-pack", "--exec", "--tree-filter", "--index-filter", "--msg-filter"
    ):
        if verb not in ("grep", "rm", "clean"):
            walker.script(option.text, place, invocation)
    if verb in ("rebase", "difftool"):
        _git_executes(walker, invocation)
    _git_prints(walker, invocation, args, verb)
    if verb == "bisect" and "run" in verbs[:2]:
        words = invocation.words[invocation.words.index(args.operands[2]) :] if len(args.operands) > 2 else []
        walker.dispatch(invocation.inner(words, "git bisect")) if words else None
        return None, ""
    if verb == "submodule" and "foreach" in verbs:
        text = " ".join(word.text for word in args.operands[verbs.index("foreach") + 1 :])
        walker.script(text, place, invocation)
        return None, ""
    if verb == "config" and len(verbs) > 2 and RUNS_A_PROGRAM.match(verbs[1].lower()) and verbs[2] not in _SAFE_PAGERS:
        when = "has git run {targets} later"
        _keep_program(walker, invocation, args.operands[1:3], args.operands[2], when, hooks=_is_hooks(verbs[1]))
    if any(v.startswith(("ext::", "fd::")) for v in verbs):
        walker.add(
            "run-opaque", args.operands, place, reason="the address makes git run a command", rule="git.transport"
        )
    judge = _BY_VERB.get(verb)
    if judge is not None and (verb == "clean" or not args.has("--dry-run")):
        judge(walker, invocation, args)
    if verb in ("switch", "checkout") and _only_switches(walker, invocation, args):
        walker.add("vcs-switch", args.operands[1:], place, invocation=invocation)
        return None, ""
    if verb in ("checkout", "restore") or (verb == "reset" and args.has("--hard")):
        return git_discard(walker, invocation, args, verb)
    return None


def _git_executes(walker: Walker, invocation: Invocation) -> None:
    """`-x COMMAND`, also at the end of a cluster or in the same word."""
    for option, following in pairwise([*invocation.words, invocation.words[0]]):
        if ran := re.fullmatch(r"-[a-zA-Z]*?x(.*)", option.text, re.S):
            walker.script(ran[1] or following.text, invocation.place, invocation)


def _git_template(walker: Walker, invocation: Invocation, args: Args) -> None:
    _git_makes(walker, invocation, args.operands[1 if args.operands[0].text.startswith("init") else 2 :][:1])
    _git_makes(walker, invocation, args.values("--separate-git-dir"))
    for word in args.values("--template"):
        if word.text and not is_trusted(walker, word.text):
            level = Level.HIGH if from_elsewhere(walker, word, [word.text]) else None
            reason = "brings the hooks in {targets} along, which git runs"
            walker.add("run", [word], invocation.place, level=level, reason=reason, rule="git.template")


def _git_makes(walker: Walker, invocation: Invocation, folders: list[Word]) -> None:
    """A folder that git makes where the system's or others' files are; elsewhere that is what one asks git for."""
    far = [word for word in folders if walker.rater.scopes.of(word, invocation.cwd) not in _NEAR]
    if far:
        walker.add("write", far, invocation.place, invocation=invocation, rule="git.folder")


def _git_folder(walker: Walker, invocation: Invocation, args: Args) -> None:
    verb, *rest = args.operands
    if rest and rest[0].text == "add":
        _git_makes(walker, invocation, rest[1:2] if verb.text == "worktree" else rest[2:3])


_NEAR = frozenset(("workspace", "workspace-all", "home", "temp", "unknown"))
_MAIN_BRANCHES = frozenset(("main", "master", "develop", "trunk", "-"))  # by which nobody names a file
_QUIET = frozenset(("-q", "--quiet", "--progress", "--no-progress"))


def _only_switches(walker: Walker, invocation: Invocation, args: Args) -> bool:
    """Tell whether git goes to another branch, which it refuses where work would be lost, and can mean no file by that name."""
    names = args.operands[1:]
    if len(names) != 1 or not names[0].known or any(word.text == "--" for word in invocation.words):
        return False
    if args.operands[0].text == "switch":
        return args.names <= {*_QUIET, "-d", "--detach", "--guess", "--no-guess"}
    known = walker.rater.context.facts.get(absolute(names[0].text, invocation.cwd), ("missing",))
    return names[0].text in _MAIN_BRANCHES and args.names <= _QUIET and "missing" in known


def _git_push(walker: Walker, invocation: Invocation, args: Args) -> None:
    """`+ref` overwrites and `:ref` deletes a branch of the remote."""
    if args.has("-n"):
        return
    if walker.committed:
        reason = "pushes {targets}, which is secret, and was added to the repository just before"
        walker.add("send-secret", walker.committed, invocation.place, reason=reason, rule="secret.pushed")
    targets = args.operands[1:]
    if any(word.text.startswith("+") for word in targets):
        walker.add("force-push", targets, invocation.place, rule="force-push.refspec")
    if any(re.match(r":[^:/]", word.text) for word in targets):
        walker.add("force-push", targets, invocation.place, rule="force-push.delete")


def _git_add(walker: Walker, invocation: Invocation, args: Args) -> None:
    """A secret file that is named may go wherever the repository goes; -f adds it although it is to be left out."""
    kept = [word for word in args.operands[1:] if is_kept(walker, invocation, word)]
    walker.staged += kept
    if kept and args.has("-f", "--force"):
        reason = "puts {targets}, which is secret, into the repository, though it is told to leave that out"
        walker.add("secret", kept, invocation.place, reason=reason, rule="secret.staged")


def _git_commit(walker: Walker, invocation: Invocation, args: Args) -> None:
    """Make what was added before a part of what is pushed."""
    walker.committed += walker.staged


def _git_fetch(walker: Walker, invocation: Invocation, args: Args) -> None:
    """`+theirs:ours` sets a branch of this repository to what is fetched, whatever commits only it had."""
    given = [*args.operands[2:], *args.values("--refmap")]
    given += [word.part(word.text.partition("=")[2]) for word in args.values("-c") if _FETCHES.match(word.text)]
    lines = (invocation.stdin or ("", ""))[0] if args.has("--stdin") else ""
    given += [invocation.words[0].part(line.strip()) for line in (lines or "").splitlines()[:200]]
    forced = args.has("-f", "--force", "-p", "--prune")
    for word in given:
        found = _REFSPEC.fullmatch(word.text)
        if found is None or not (forced or found[1]) or found[2].startswith("refs/remotes/"):
            continue
        branch = found[2].startswith("refs/heads/") or not found[2].startswith("refs/") or "*" in found[2][:7]
        reason = "sets {targets} here to what is fetched: commits that only this repository has can be lost"
        kind = "rewrite-history" if branch else "vcs-change"
        walker.add(kind, [word], invocation.place, reason=reason, rule=f"{kind}.refspec")


def _git_opens(walker: Walker, invocation: Invocation, args: Args) -> None:
    """Sub-commands that start a server, or the tool that the settings name."""
    if not args.has("--tool-help", "--stop"):
        kind = "run" if args.operands[0].text == "difftool" else "serve"
        walker.add(kind, [], invocation.place, rule=f"{kind}.git")


def _git_elsewhere(walker: Walker, invocation: Invocation, args: Args) -> None:
    """`for-each-repo --config=KEY COMMAND`: git itself, in other repositories."""
    words = invocation.words
    if len(args.operands) > 1:
        rest = words[words.index(args.operands[1]) :]
        walker.dispatch(invocation.inner([words[0], *rest], "git for-each-repo"))


def _git_files(walker: Walker, invocation: Invocation, args: Args) -> None:
    """Sub-commands for mails that write files in place or by their operands."""
    files = args.operands[1:3]
    if args.operands[0].text == "mailinfo" and files:
        walker.add("write", files, invocation.place, invocation=invocation)
    elif args.has("--in-place"):
        walker.add("modify", args.operands[1:], invocation.place, invocation=invocation)


def _own_settings(walker: Walker, invocation: Invocation, args: Args) -> None:
    """Settings and hooks of the repository itself that have git start a program, as facts tell them. In a repository that is only known
    when it runs, any may.
    """
    known = walker.rater.context.facts.get(invocation.cwd, ())
    told = dict.fromkeys(fact.partition("=")[2] for fact in known if fact.startswith("runs="))
    if UNKNOWN in invocation.cwd or any(map(_is_unseen, args.values("-C", "--git-dir"))):
        told[_UNSEEN] = None
    names = [Word(name, *invocation.place) for name in told if name != _UNSEEN]
    reason = "may run what this repository's own settings name: {targets}"
    if told and not names:
        reason = "may run what the settings of a repository name that nobody has looked at"
    if told:
        walker.add("run", names, invocation.place, reason=reason, rule="git.own-settings")


def _is_unseen(folder: Word) -> bool:
    """Tell whether no facts can know which folder it is: unknown, or what find hands on."""
    return UNKNOWN in folder.text or not {"found", "all"}.isdisjoint(folder.taint.split())


def _git_settings(walker: Walker, invocation: Invocation, args: Args) -> None:
    """`-c name=value` and `--exec-path=…` decide which programs git starts."""
    place = invocation.place
    for word in args.values("-c", "--config-env"):
        judge_setting(walker, word, invocation)
    for word in invocation.words[1:]:
        if word.text.startswith("--exec-path="):
            folder = [word.part(word.text[len("--exec-path=") :])]
            reason = "has git take its programs from another folder: {targets}"
            walker.add("environment", folder, place, reason=reason, rule="git.exec-path")


def judge_setting(walker: Walker, setting: Word, invocation: Invocation) -> None:
    """`name=value`, as git reads it from its command line or the environment."""
    name, _, value = setting.text.partition("=")
    if RUNS_A_PROGRAM.match(name.lower()) and not runs_only(value, _SAFE_PAGERS):
        when = "has git run {targets}"
        _keep_program(walker, invocation, [setting], setting.part(value), when, hooks=_is_hooks(name))


def _is_hooks(name: str) -> bool:
    return name.lower() == "core.hookspath"


def _keep_program(
    walker: Walker, invocation: Invocation, told: list[Word], value: Word, reason: str, *, hooks: bool
) -> None:
    """A setting that names a program, or a folder of `hooks`: high where others can put one there."""
    level = Level.HIGH if from_elsewhere(walker, value, value.text.removeprefix("!").split()[:1]) else None
    if hooks:
        reason = reason.replace("{targets}", "the hooks in {targets}")
        walker.add("environment", [value], invocation.place, level=level, reason=reason, rule="git.config-run")
        walker.add("run", [value], invocation.place, reason="runs what lies in {targets}", rule="git.own-settings")
        return
    walker.add("environment", told, invocation.place, level=level, reason=reason, rule="git.config-run")
    walker.script(value.text.removeprefix("!"), invocation.place, invocation)


def _git_prints(walker: Walker, invocation: Invocation, args: Args, verb: str) -> None:
    """Judge what only shows, unless told to write to a file or to start something."""
    place = invocation.place
    if verb in _PRINTS:
        files = args.values("--output", "--output-directory")
        if verb in ("format-patch", "archive"):
            files += args.values("-o")
        files = [word for word in files if word.text not in ("-", "/dev/stdout")]
        if files:
            walker.add("write", files, place, invocation=invocation, rule="git.output")
        elif verb == "format-patch" and not args.has("--stdout", "-h"):
            reason = "writes a file for each commit into this folder"
            walker.add("create", [], place, level=Level.MEDIUM, reason=reason, rule="git.output")
    if verb in ("show", "cat-file") and any(":" in word.text for word in args.operands[1:]):
        files = [word.part(word.text.partition(":")[2]) for word in args.operands[1:] if ":" in word.text]
        walker.add("read", files, place, invocation=invocation)
    if verb == "bundle" and len(args.operands) > 2 and args.operands[1].text == "create":
        walker.add("write", args.operands[2:3], place, invocation=invocation, rule="git.output")
    if verb in _PRINTS and args.has("--ext-diff"):
        walker.add("run", [], place, reason="has git run the programs that its settings name", rule="git.ext-diff")
    if verb == "difftool":
        follows = dict(zip(invocation.words, invocation.words[1:], strict=False))
        commands = [follows[word] for word in invocation.words if word.text == "-x" and word in follows]
        for word in (*commands, *args.values("--extcmd")):
            walker.script(word.text, place, invocation)
    if verb == "grep":
        for word in invocation.words[1:]:
            found = re.match(r"(?:-O|--open-files-in-pager=)(.+)", word.text, re.S)
            if found:
                walker.script(found.group(1), place, invocation)


_BY_VERB = {
    "init": _git_template,
    "init-db": _git_template,
    "worktree": _git_folder,
    "submodule": _git_folder,
    "clone": _git_template,
    "add": _git_add,
    "stage": _git_add,
    "commit": _git_commit,
    "push": _git_push,
    "clean": git_clean,
    "fetch": _git_fetch,
    "pull": _git_fetch,
    "difftool": _git_opens,
    "instaweb": _git_opens,
    "daemon": _git_opens,
    "for-each-repo": _git_elsewhere,
    "interpret-trailers": _git_files,
    "mailinfo": _git_files,
}
