"""Find the calls in inline code that end processes, and tell those that end all of them from those that end one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.reader.invocation import Invocation
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_CALL = LazyPattern(
    r"\b(?:os\.kill(?:pg)?|[Pp]rocess\.kill|posix_kill|posix\.kill|signal\.kill|syscall\.Kill)\b\s*\(?(?P<given>[^;\n]{0,200})"
    r"|\)\.kill\b\s*\(?(?P<method>[^;\n]{0,200})|\b\w+\.(?:kill|terminate)\s*\(\s*\)"
    r"|(?<![\w.$@%-])kill\b\s*[(\s]\s*(?P<other>(?:['\":]?(?:-?\d|SIG|[A-Z]{3,5}\b)|q\(|\$|['\"]-)[^;\n]{0,200})"
)
_SIGNAL_FIRST = ("perl", "ruby", "irb")
_ALL = LazyPattern(  # all that may be ended, or the first of all
    r"[\s\"'({\[]*(?:-\s*)?1\s*(?:[\"')\]}]|$|\s+(?:if|for|unless|while)\b)"
)
_RANGE = LazyPattern(
    r"(?:\brange\s*\(\s*(?:\d+\s*,\s*)?|\b\d+\s*\.{2,3}\s*|\.upto\s*\(?\s*|\bfor\s*\([^;\n]{0,60};[^;<\n]{0,60}<=?\s*)(\d+)"
)
_LISTS = LazyPattern(r"/proc\b|\bpsutil\b|\bpgrep\b|\bps\s+-?\w*[aex]|\bprocess_iter\b")
_NAMED = LazyPattern(r"\bcomm\b|cmdline|status|\.name\b|==|=~|\bin\b\s+\w+\.(?:name|info)|grep")
_MANY = 40


def judge_kills(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    """One finding for all the calls: as bad as the worst of them."""
    calls = [found["given"] or found["method"] or found["other"] or "" for found in _CALL.finditer(code)]
    if not calls:
        return
    wide = any(_reaches_all(given, language) for given in calls)
    ranged = any(int(found[1][:9]) > _MANY for found in _RANGE.finditer(code))
    listed = _LISTS.search(code) is not None and _NAMED.search(code) is None
    walker.add("kill-wide" if wide or ranged or listed else "kill", [], invocation.place)


def _reaches_all(given: str, language: str) -> bool:
    """Whether what is ended, as far as it is written out, is `-1`: the first argument, or all behind the signal."""
    arguments = re.split(r",|=>", given)
    targets = arguments[1:] if language in _SIGNAL_FIRST else arguments[:1]
    return any(_ALL.match(target) for target in targets)
