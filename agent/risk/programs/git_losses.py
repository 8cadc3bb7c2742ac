"""Judge what git throws away: changes that no commit has, and files that it does not track."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word
from agent.risk.tables.options import Args

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def git_clean(walker: Walker, invocation: Invocation, args: Args) -> None:
    """Judge the loss of what is not tracked: of a home or a system that stands in a repository, that is nearly all."""
    args.names -= {"-n", "--dry-run"}
    if _only_tells(invocation.words[invocation.words.index(args.operands[0]) + 1 :]):
        args.names.add("-n")
        return
    if not args.has("-f", "--force"):
        return
    folder = invocation.cwd
    for word in args.values("-C"):
        folder = absolute(word.text, folder)
    top = Word(folder, *invocation.place)
    if UNKNOWN not in folder and walker.rater.scopes.of(top, folder) in ("home-all", "everything", "system", "users"):
        walker.add("delete", [top], invocation.place, recursive=True, rule="delete.clean", invocation=invocation)


def _only_tells(words: list[Word]) -> bool:
    """Tell whether `clean` is a dry run: among its letters only `e` takes a value, what is left of the word or else the next one."""
    dry, texts = False, iter([word.text for word in words])
    for text in texts:
        if text in ("--", "--end-of-options"):
            break
        letters, excluded, value = text[1:].partition("e") if re.match(r"-[^-]", text) else ("", "", "")
        dry = dry or "n" in letters
        if (text[2:] and "--exclude".startswith(text)) or (excluded and not value):
            next(texts, "")
        elif text[2:] and "--dry-run".startswith(text):
            dry = True
        elif text.startswith("--no-"):
            dry = False
    return dry


def git_discard(walker: Walker, invocation: Invocation, args: Args, verb: str) -> Output | None:
    place = invocation.place
    texts = [word.text for word in invocation.words]
    if verb == "reset":  # what stands behind it is where to go, not what is lost
        walker.add("discard", [], place, rule="discard.reset")
        return None, ""
    if verb == "checkout":
        if args.has("-f", "--force"):
            walker.add("discard", args.operands[1:], place)
            return None, ""
        if args.has("-b", "-B", "--orphan"):
            walker.add(
                "vcs-change" if args.has("-B") else "vcs-safe",
                [],
                place,
                level=Level.MEDIUM if args.has("-B") else None,
            )
            return None, ""
        paths = args.operands[1:]
        if "--" in texts:
            paths = invocation.words[texts.index("--") + 1 :]
            from_commit = len(args.operands) - 1 > len(paths)
        else:
            from_commit = False
            if not any(word.text in (".", "*", "./", ":/") or word.glob for word in paths):
                walker.add("vcs-change", paths, place, reason="switches to {targets}", rule="vcs.checkout")
                return None, ""
    else:
        paths, from_commit = _restored(invocation.words[1:]), False
        letters = "".join(text[1:] for text in texts if re.fullmatch(r"-[SWqpm23]+", text))
        staged, files = args.has("--staged") or "S" in letters, args.has("--worktree") or "W" in letters
        if staged and not files:
            walker.add("vcs-change", paths, place, reason="unstages {targets}", rule="vcs.unstage")
            return None, ""
        from_commit = files
    whole = any(
        word.text in (".", "*", "./", ":/", "..") or word.glob or word.text.endswith("/") or not word.known
        for word in paths
    )
    if whole or len(paths) > 3 or args.has("--pathspec-from-file") or (from_commit and paths):
        walker.add("discard", paths, place)
    else:
        walker.add("discard-one", paths, place)
    return None, ""


def _restored(words: list[Word]) -> list[Word]:
    """The paths behind `restore`; its short options mean something else than those of other sub-commands."""
    index = next(index for index, word in enumerate(words) if word.text == "restore") + 1
    paths: list[Word] = []
    while index < len(words):
        text = words[index].text
        if text == "--":
            return [*paths, *words[index + 1 :]]
        if text in ("-s", "--source", "--conflict", "--pathspec-from-file"):
            index += 1
        elif not text.startswith("-"):
            paths.append(words[index])
        index += 1
    return paths
