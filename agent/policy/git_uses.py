"""Tell which uses of git neither publish anything nor change how git is set up. All others count as doing so. Pure."""

from __future__ import annotations

from fnmatch import fnmatchcase

from agent.protocol.decisions import ProgramRun, RiskReport

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
_HARMLESS = (
    *("advice.*", "author.*", "color.*", "column.*", "committer.*", "commit.gpgsign", "core.editor", "core.pager", "core.quotepath"),
    *("diff.*", "init.defaultbranch", "log.*", "merge.*", "pager.*", "rebase.*", "sequence.editor", "status.*", "tag.gpgsign", "user.*"),
)  # fmt: skip
"""Settings for one command that change neither where it goes nor what its name is; of those that run programs there are findings."""
_RULES = frozenset(("git.alias", "git.config-run", "git.exec-path", "git.transport"))


def sets_git_up(report: RiskReport) -> bool:
    """Tell whether git is used in a way that may publish something, or that changes its settings, or that nobody knows."""
    return any(each.rule in _RULES for each in report.findings) or any(map(_is_other, report.programs))


def _is_other(run: ProgramRun) -> bool:
    name = run.words[0].rpartition("/")[2].lower().removesuffix(".exe")
    if name == "scalar":
        return True
    if name.startswith("git-"):
        return not _is_plain(name.removeprefix("git-"), run.words[1:], run.whole)
    if name != "git":
        return False
    words = list(run.words[1:])
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "-c" and words:
            setting = words.pop(0).partition("=")[0].lower()
            if _UNKNOWN in setting or not any(fnmatchcase(setting, each) for each in _HARMLESS):
                return True
        elif option.startswith(("--config-env", "--exec-path=")) or (option.startswith("-c") and option != "-c"):
            return True
        elif option in _VALUES:
            del words[:1]
    if not words:
        return not run.whole
    return not _is_plain(words[0], tuple(words[1:]), run.whole)


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
        return bool(options & _READS_CONFIG) or operands[:1] in (["get"], ["list"]) or _is_name(operands)
    return (operands or [""])[0] in _PARTS.get(verb, ())


def _is_name(operands: list[str]) -> bool:
    """Tell whether it is only the name of a setting, which git then prints."""
    return len(operands) == 1 and "." in operands[0]
