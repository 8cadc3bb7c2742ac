"""Questions to git that say exactly which commits, files and branches are meant."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said

_REV = re.compile(r"[\w][\w./+-]*\Z")
_SPAN = re.compile(r"(?:HEAD|[0-9a-f]{7,40})(?:[~^]\d*)*\Z|[\w][\w./+-]*\Z")
_REPO = r"(?: (?:in|of|from|to) (?:this|the|my) (?:git )?(?:repository|repo|project|history))?"
_IS_FORMAT = {"hash": "%H", "hashes": "%H", "short hash": "%h", "short hashes": "%h", "subject": "%s", "subjects": "%s", "message": "%s", "messages": "%s", "titles": "%s", "title": "%s", "author": "%an", "authors": "%an", "date": "%ad", "dates": "%ad", "email": "%ae"}  # fmt: skip


def _message(heard: Heard, add: str = "") -> str | None:
    text = heard.text("message")
    return f"{add}git commit -m {shlex.quote(text)}" if text else None


def _fields(heard: Heard) -> str | None:
    words = [heard.low("what")] + ([heard.low("and")] if heard.has("and") else [])
    letters = [_IS_FORMAT[word] for word in words if word in _IS_FORMAT]
    if len(letters) != len(words):
        return None
    if heard.has("last") and "hash" in words[0]:
        return None
    number = f" -n {heard.number('n')}" if heard.has("n") else " -n 1" if heard.has("last") else ""
    return f"git log{number} --format={shlex.quote(' '.join(letters))}"


def _count(heard: Heard) -> str | None:
    who = heard.text("who") if heard.has("who") else ""
    branch = heard.text("branch") if heard.has("branch") else "HEAD"
    if not _SPAN.match(branch):
        return None
    by = f" --author={shlex.quote(who)}" if who else ""
    return f"git rev-list --count{by} {branch}"


RULES = [
    Said("git repository repo", r"(?:ignore|make git ignore|let git ignore|have git ignore) (?:all )?(?:the )?(?P<glob>\*\.[\w]+)(?: files)?(?: in (?:this|the|my) (?:git )?(?:repository|repo)| in git)?", lambda h: f"echo '{h.text('glob')}' >> .gitignore", "let git ignore files"),
    Said("commit", r"commit (?:the |my )?(?:staged )?(?:changes|files)?,? ?(?:with|using|and use) (?:the |a )?(?:commit )?message:? (?P<message>'[^']+'|\"[^\"]+\"|[^'\"]+)", _message, "commit what is staged"),
    Said("commit", r"commit (?:all|every|all of) (?:the |my )?(?:local )?(?:changes|changed files|files|edits|modifications)?,? ?(?:with|using|and use) (?:the |a )?(?:commit )?message:? (?P<message>'[^']+'|\"[^\"]+\"|[^'\"]+)", lambda h: _message(h, "git add -A && "), "commit everything"),
    Said("commit commits", r"(?:how many|{ASK}number of|count(?: the)?(?: number of)?) commits (?:(?:there )?are (?:there )?|were made |have been made |made |did |has |does )?(?:on|in) (?:the )?(?:branch )?<branch:word>(?: branch)?(?: have| has)?", lambda h: None if h.low("branch") in ("total", "all", "this", "the", "repository", "repo", "git", "history") else _count(h), "how many commits a branch has"),
    Said("commit commits", r"(?:how many commits (?:did|has|were made by|are by|are from)|{ASK}number of commits (?:by|of|from|made by)|count (?:the )?commits (?:by|of|from|made by)) (?:the )?(?:author |user )?(?P<who>'[^']+'|\"[^\"]+\"|[\w.@-]+(?: (?!make|made|do|done|have)[\w.-]+)?)(?: make| made| do| done| have)?", _count, "how many commits somebody made"),
    Said("commit commits", rf"{{ASK}}(?:only )?(?P<what>short hash(?:es)?|hash(?:es)?|subjects?|messages?|titles?|authors?|dates?|email)(?: and (?:the )?(?P<and>short hash(?:es)?|hash(?:es)?|subjects?|messages?|titles?|authors?|dates?))?(?: only)? (?:of|for) (?:the |all |all the |every )*(?:(?:last|latest|newest|most recent) (?:<n:int> commits|(?P<last>commit))|commits){_REPO}", _fields, "facts of commits"),
    Said("commits commit", r"{ASK}commits(?: (?:from|in|of))? oldest first(?:,? (?:on )?one line each)?", lambda h: "git log --reverse --oneline", "commits in order of time"),
    Said("branch", r"rename (?:the )?(?:git )?(?:current |this )?branch (?:<a:word> )?(?:to|into|as) <b:word>", lambda h: (f"git branch -m {(shlex.quote(h.text('a')) + ' ') if h.has('a') else ''}{shlex.quote(h.text('b'))}" if _REV.match(h.text("b")) and (not h.has("a") or _REV.match(h.text("a"))) else None), "rename a branch"),
    Said("staged", r"{ASK}(?:only )?(?:the )?names of (?:the )?(?:files that are )?staged(?: files)?(?: for commit)?", lambda h: "git diff --staged --name-only", "names of staged files"),
    Said("commit repository repo git branch", rf"(?:{{ASK}}|which )(?:only )?(?:the )?(?:names of (?:the )?)?(?:files that (?:are|were|have been) |files )?(?:modified|changed|not staged|unstaged)(?: files)?(?: (?:that are|but) not (?:yet )?(?:staged|committed))(?: yet)?{_REPO}", lambda h: "git diff --name-only", "names of changed files"),
    Said("git repository repo", r"{ASK}(?:my )?(?:git )?(?:user )?(?P<what>email|name)(?: address)? (?:configured (?:in|for)|that git uses|git uses|set in|of the) ?(?:git|user|this repository|the repository)?(?: config(?:uration)?| for commits)?", lambda h: f"git config user.{h.low('what')}", "who git says we are"),
]  # fmt: skip
