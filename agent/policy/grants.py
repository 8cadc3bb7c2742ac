"""Hold what would be published (a push, a pull request) against what the run was granted: asked for in every mode without that. Pure."""

from __future__ import annotations

import os
import re
import shlex
from fnmatch import fnmatchcase

from agent.policy.rights import FILE_KINDS, folders_of, holds
from agent.protocol.confirmations import Proposal
from agent.protocol.decisions import Finding, Level, ProgramRun, RiskReport, Verdict
from agent.protocol.requests import NOT_GRANTED, Approval

OWN_BRANCH = re.compile(r"(?:agent|review)/task-[1-9][0-9]{0,8}")
"""The branches that a grant is for: those that work is done on, and those that show it for review."""
_REMOTE = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}")
_PUBLISHES = frozenset(("push", "force-push", "publish", "remote-change"))


def push_text(remote: str, branch: str) -> str:
    """Return the command that pushes a branch to the one of its name, never forced."""
    ref = f"refs/heads/{branch}"
    return f"git push --set-upstream -- {shlex.quote(remote)} {shlex.quote(f'{ref}:{ref}')}"


def is_own_push(text: str) -> bool:
    """Tell whether a command is to the letter a push that a grant is for."""
    words = text.split(" ")
    if len(words) != 6 or not _REMOTE.fullmatch(words[4]):
        return False
    branch = words[5].rpartition(":refs/heads/")[2]
    return OWN_BRANCH.fullmatch(branch) is not None and text == push_text(words[4], branch)


def with_grants(verdict: Verdict, report: RiskReport, proposal: Proposal, approval: Approval) -> Verdict:
    """Return the verdict as the grants leave it. They open nothing but a question that comes from the level alone."""
    in_run = approval.grants is not None
    published = any(each.effect and each.effect.kind in _PUBLISHES for each in report.findings)
    wanted = proposal.grant or ("push" if in_run and published else "")
    if not wanted:
        if in_run and verdict.action == "allow" and sets_git_up(report, proposal.within):
            reason = "a use of git that may publish something, change its settings or another repository is asked for in every mode"
            return Verdict(action="ask", rule=NOT_GRANTED, reason=reason, word=verdict.word)
        if (
            in_run
            and verdict.action == "allow"
            and changes_elsewhere(report, proposal.within, proposal.cwd or proposal.within)
        ):
            reason = "a change of files outside the folder of the task is asked for in every mode"
            return Verdict(action="ask", rule=NOT_GRANTED, reason=reason, word=verdict.word)
        return verdict
    fits = _fits(report, proposal)
    granted = wanted in (approval.grants or ()) and fits
    by_level = verdict.action in ("allow", "ask") and verdict.rule.startswith(("level-", "approve-"))
    if granted and by_level:
        return Verdict(action="allow", rule=f"grant-{wanted}", reason="this run was granted it", word=verdict.word)
    if (verdict.action == "allow" or by_level) and not granted:
        spared = f"; --grant {wanted} spares a run this question" if fits else ""
        reason = f"what is published is asked for in every mode{spared}"
        return Verdict(action="ask", rule=NOT_GRANTED, reason=reason, word=verdict.word)
    return verdict


def _fits(report: RiskReport, proposal: Proposal) -> bool:
    """Tell whether it is nothing else than what is granted under that name."""
    if report.level is Level.HIGH or report.parse != "ok" or report.cut or len(report.programs) != 1:
        return False
    run, text = report.programs[0], report.command
    if not run.whole or run.via or run.words != tuple(shlex.split(text)):
        return False
    if proposal.grant == "push":
        return proposal.command == text and is_own_push(text)
    return proposal.grant == "pull-request" and proposal.origin == "tool" and run.words[:1] == ("open_pull_request",)


def changes_elsewhere(report: RiskReport, within: str, cwd: str) -> bool:
    """Tell whether it changes a file outside the folder `within` ("" for any) that is no temporary one, as far as its rating names it."""
    for finding in report.findings if within else ():
        effect = finding.effect
        if effect is None or effect.kind not in FILE_KINDS or effect.scope in ("temp", "null"):
            continue
        for target in effect.targets:
            if target.startswith("~"):
                return True
            for folder in folders_of(finding, report, cwd):
                path = os.path.normpath(os.path.join(folder, target))
                if _UNKNOWN not in path and not holds(within, path):
                    return True
    return False


_UNKNOWN = "…"
_PLAIN = frozenset(
    """
    add am annotate apply archive bisect blame bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout
    checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree count-objects describe diff diff-files diff-index
    diff-tree difftool fast-export fast-import fetch filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc
    get-tar-commit-id grep hash-object help index-pack init interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit merge
    merge-base merge-file merge-index merge-one-file merge-tree mergetool mktag mktree mv name-rev notes pack-objects pack-refs patch-id
    prune prune-packed pull range-diff read-tree rebase reflog repack replace rerere reset restore rev-list rev-parse revert rm shortlog
    show show-branch show-index show-ref stage stash status stripspace switch symbolic-ref tag unpack-file unpack-objects update-index
    update-ref var verify-commit verify-pack verify-tag version worktree write-tree
    """.split()
)
"""Commands that every git has built in, so that no alias can take their names."""
_READS = frozenset(
    """
    annotate archive blame cat-file check-attr check-ignore check-ref-format cherry count-objects describe diff diff-files diff-index
    diff-tree for-each-ref format-patch fsck grep help log ls-files ls-remote ls-tree merge-base name-rev range-diff rev-list rev-parse
    shortlog show show-branch show-ref status var verify-commit verify-tag version
    """.split()
)
"""Commands that leave every repository as it is: another one may take in what it fetches, and so have it published."""
_TAKES_IN = frozenset("am bundle fast-import fetch index-pack pull unpack-objects update-ref".split())
"""Commands that bring in what is elsewhere; in a folder of the repository a link may lead to another one."""
_PLACES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
)  # fmt: skip
_PARTS = {
    "remote": ("", "show", "get-url", "prune", "update"),
    "submodule": ("", "status", "summary", "foreach"),
    "sparse-checkout": ("list", "check-rules"),
    "subtree": ("add", "merge", "pull", "split"),
    "lfs": ("env", "fetch", "logs", "ls-files", "pointer", "pull", "status", "version"),
}
"""Commands of which only these parts are plain."""
_READS_CONFIG = frozenset("--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list -l".split())
_WHOSE_CONFIG = frozenset(
    "--global --system --local --worktree --show-origin --show-scope --name-only -z --null --includes --bool --int --path".split()
)
_BRANCH_CONFIG = ("-u", "--se", "--uns", "--ed")  # -u, --set-upstream-to, --unset-upstream, --edit-description
_VALUES = ("-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source")
_PLACED = ("--git-dir=", "--work-tree=", "--namespace=", "--super-prefix=", "--bare")
_HARMLESS = (
    *("advice.*", "author.*", "color.*", "column.*", "committer.*", "commit.gpgsign", "core.editor", "core.pager", "core.quotepath"),
    *("diff.*", "init.defaultbranch", "log.*", "merge.*", "pager.*", "rebase.*", "sequence.editor", "status.*", "tag.gpgsign", "user.*"),
)  # fmt: skip
"""Settings for one command that change neither where it goes nor what its name is; of those that run programs there are findings."""
_RULES = frozenset(("git.alias", "git.config-run", "git.exec-path", "git.transport"))


def sets_git_up(report: RiskReport, within: str = "") -> bool:
    """Tell whether git is used in a way that may publish something, or that changes its settings, or that nobody knows.

    `within`: the folder whose repository it may change, "" for any.
    """
    if any(each.rule in _RULES or _leads_git(each) for each in report.findings):
        return True
    return any(_is_other(each, within) for each in report.programs)


def _leads_git(finding: Finding) -> bool:
    """Tell whether an earlier command of the session has led git elsewhere."""
    targets = finding.effect.targets if finding.effect is not None else ()
    return finding.rule == "session.variable" and "git" in targets


def _is_other(run: ProgramRun, within: str) -> bool:
    name = run.words[0].rpartition("/")[2].lower().removesuffix(".exe")
    if name == "scalar":
        return True
    if not name.startswith("git-") and name != "git":
        return False
    words, folder = [*filter(None, [name[4:]]), *run.words[1:]], run.cwd
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "-c" and words:
            setting = words.pop(0).partition("=")[0].lower()
            if _UNKNOWN in setting or not any(fnmatchcase(setting, each) for each in _HARMLESS):
                return True
        elif option.startswith(("--config-env", "--exec-path=")) or (option.startswith("-c") and option != "-c"):
            return True
        elif option == "-C" and words:
            folder = os.path.normpath(os.path.join(folder, words.pop(0)))
        elif option in _VALUES:
            folder = _UNKNOWN
            del words[:1]
        elif option.startswith(_PLACED):
            folder = _UNKNOWN
    if not words:
        return not run.whole
    if not set(_PLACES).isdisjoint(run.environment):
        folder = _UNKNOWN
    return _is_elsewhere(words[0], folder, within) or not _is_plain(words[0], tuple(words[1:]), run.whole)


def _is_elsewhere(verb: str, folder: str, within: str) -> bool:
    """Tell whether a command of git in that folder may change another repository than that of `within`."""
    if not within or folder == within or verb in _READS:
        return False
    return verb in _TAKES_IN or not folder.startswith(f"{within}/")


def _is_plain(verb: str, words: tuple[str, ...], whole: bool) -> bool:
    if _UNKNOWN in verb:
        return False
    if verb in _PLAIN:
        return True
    if not whole or any(_UNKNOWN in each for each in words):
        return False
    options = {each.partition("=")[0] for each in words if each.startswith("-")}
    operands = [each for each in words if not each.startswith("-")]
    if verb == "branch":
        return not any(each.startswith(_BRANCH_CONFIG) for each in options)
    if verb == "config":
        if options - _READS_CONFIG - _WHOSE_CONFIG - {"--type", "--default", "--all", "--regexp"}:
            return False
        only_named = len(operands) == 1 and "." in operands[0]  # the value of which git then prints
        return bool(options & _READS_CONFIG) or operands[:1] in (["get"], ["list"]) or only_named
    return (operands or [""])[0] in _PARTS.get(verb, ())
