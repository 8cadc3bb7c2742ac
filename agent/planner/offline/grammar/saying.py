"""Recognize how a goal says what it wants: an order, a question, a condition, something reported, and the verbs that are orders in it."""

from __future__ import annotations

import re

from agent.text.lazy_pattern import LazyPattern

_QUOTED = LazyPattern(r"(?<!\w)(?:'[^'\n]*?'|\"[^\"\n]*\"|`[^`\n]*`|“[^”\n]*”|‘[^’\n]*’|«[^»\n]*»)(?!\w)")
_POLITE = LazyPattern(
    r"(?:\b(?:please|kindly|hey|hello|hi|ok|okay|now|first|firstly|just|so|well|then|and|also|quickly"
    r"|simply)\b[\s,:!.]*"
    r"|\b(?:can|could|would|will) (?:you|we|u)(?: please| kindly| just| also| maybe)?\b\s*"
    r"|\bwould you mind\b\s*|\b(?:i|we)(?:'d| would)? (?:want|need|like|have|wish)(?: you)? to\b\s*"
    r"|\bhelp me(?: to)?\b\s*|\blet(?:'s| us)\b\s*)+"
)
_QUESTION = LazyPattern(
    r"(?:what|what's|which|who|whose|why|when|where|whether|how|is|are|was|were|isn't|aren't|wasn't|does"
    r"|doesn't|did|didn't|has|hasn't"
    r"|have (?:i|you|we|they|all|any)|had|should|shouldn't|shall|may|might|must|can|can't|could|couldn't|would"
    r"|wouldn't|will|won't|am"
    r"|do (?:i|you|we|they|these|those|all|any|the)|any idea|i wonder|i'm wondering|wondering|suppose|assuming"
    r"|imagine)\b"
)
_TOLD_OF = LazyPattern(
    r"\b(?:accident(?:ally)?|by mistake|mistakenly|inadvertently|unintentionally|wonder(?:ing)?|not sure|unsure"
    r"|i think|i believe|i heard"
    r"|told|says? (?:that|to|i|we)|said (?:that|to|i|we|you)|asks? (?:me|us)|asked|want to know|need to know"
    r"|like to know|know (?:if|whether|what|how)"
    r"|would happen|will happen|happens (?:if|when)|would be|would look|maybe|perhaps|is it (?:safe|ok|okay"
    r"|possible|allowed)"
    r"|explain|commands? (?:to|for|that|which|i)|example of|how (?:to|do|can|would|could|should) |teach"
    r"|documentation|manual"
    r"|tutorial|pretend|simulate|dry[- ]run|hypothetically|someone|somebody|by accident|already)\b"
)
_RESTORES = LazyPattern(
    r"\b(?:undo|undelete|unremove|unrename|recover|bring back|get (?:it|them|that|my \w+) back)\b"
    r"|\b(?:deletion|removal|renaming)\b|\brestore\b.*\b(?:deleted|removed|lost)\b"
)
_CONDITION = LazyPattern(
    r"\b(?:if|unless|provided(?: that)?|in case|only when|whenever|as long as|until|otherwise|depending"
    r"|either)\b|\bwhen (?:it|they|there|the)\b"
)
# "do not contain" is about which lines or files, not about what is to be left alone.
_ABOUT_WHICH = (
    r"contain|include|have|has|end|start|begin|match|belong|mention|exist|own|need|say|hold|appear|occur|carry"
    r"|use|equal|be|follow"
    r"|descend|recurse|care|know|live|lie|already"
)
_FORBIDS = LazyPattern(
    rf"\b(?:don'?t|don’t|do not|never|must ?n[o']t|should ?n[o']?t|may not|cannot|can't|shouldn't|mustn't|won't"
    rf"|avoid|refrain from)\s+(?!(?:{_ABOUT_WHICH})\b)\w+"
    r"|\b(?:instead of|rather than|in place of)\b|\bno need to\b|\bnot (?:to )?(?:delet|remov|mov|renam|copy"
    r"|overwrit|chang|touch|modif|edit|commit|push)\w*"
    r"|\bwithout (?:delet|remov|mov|renam|copy|chang|touch|modif|edit|alter|commit|push|sav|writ|replac"
    r"|sort)\w*ing\b|\bleave\b.*\b(?:alone|untouched|unchanged|as)\b"
    r"|\bkeep(?:ing)? (?:the |all |my |its |their )?(?:original|file|source|rest|other)|\bonly\b.* (?:left|remains?)\b"
)
_NO_ORDER_BEFORE = frozenset([
    "the", "a", "an", "that", "which", "who", "whom", "can", "could", "should", "would", "will", "may", "might", "i",
    "we", "they", "he", "she", "you'd", "say", "says", "saying", "said", "by", "for", "before", "after", "of",
    "named", "called", "titled", "word", "words", "text", "string", "phrase", "with", "without", "not", "don't",
    "dont", "never", "my", "your", "his", "their", "its", "this", "these", "no", "or", "how", "what", "when",
    "whether", "if", "as", "than", "like", "be", "being", "been", "is", "are", "was", "were", "about", "command",
    "commands", "option", "via", "from", "\x01", "\x02",
])  # fmt: skip
_TO_AFTER = frozenset([
    "want", "need", "like", "have", "love", "wish", "trying", "try", "able", "going", "you", "me", "us", "possible",
    "mind", "how",
])  # fmt: skip
# Verbs by class; what does them is told by patterns over the command.
DOERS = {
    "move": ("move|moves|mv|relocate", r"\bmv\b|\bsed\b|\bawk\b|rsync|--remove-source"),
    "copy": (
        "copy|copies|cp",
        r"\bcp\b|--reference|ssh-copy-id|rsync|scp|install|pbcopy|xclip|\bcat\b|tee|\bdd\b|sed|docker",
    ),
    "push": (
        "push|pushes|upload|uploads|email|mail|send|sends|post|share",
        r"push|curl|scp|rsync|sftp|mail|nc "
        "|kill",
    ),
    "commit": ("commit", r"commit|git (?:revert|reset|stash|cherry|merge|am\b)"),
    "pack": (
        "zip|compress|gzip|archive|tar|pack",
        r"zip|tar|\bxz\b|7z|zst|gz|ffmpeg|\bgs\b|magick|convert|qpdf|optipng|jpegoptim|mogrify|gc\b",
    ),
    "unpack": (
        "unzip|extract|unpack|untar|decompress",
        r"tar|zip|zcat|\bxz\b|bz|7z|grep|sed|awk|cut|jq|zst|ffmpeg|openssl|pdf|magick|cpio|dpkg|exif|xmllint|perl|python|head|tail|find|sort|stat",
    ),
    "delete": (
        "delete|deletes|remove|removes|erase|erases|drop",
        r"\brm\b|delete|remove|sed|\btr\b|awk|grep|truncate|uninstall|purge|prune|cut|uniq|head|tail|rmdir|[#%]"
        r"| -d|branch|unset|unlink"
        r"|deluser|groupdel|delgroup|atrm|magick|qpdf|ffmpeg|exiftool|crontab|ssh-keygen|mogrify|DROP|flush|userdel|chmod|setfacl|jq|autoremove|zip|git|perl|sort|comm|\brev\b|shred|rmi|clean|DELETE|drop|-k",
    ),
    "merge": (
        "merge|combine|concatenate|join|unite",
        r"cat\b|paste|join|merge|pdfunite|qpdf|-m\b|concat|\bjq\b|ffmpeg|awk|\btr\b|gs\b|rebase|magick|csvstack|sed|git|xargs|python|sort|nmcli|\bls\b.*tr",
    ),
    "compare": ("compare|diff", r"diff|cmp|comm\b|sum\b|join|==|git|hash|-nt|uniq|stat|grep|tar -\w*d"),
    "mode": ("chmod|chown|chgrp", r"chmod|chown|chgrp|setfacl"),
    "stop": (
        "stop|stops|halt",
        r"stop|kill|down|cancel|abort|disable|suspend|mask|quit|pause|-STOP|exit|\brm -f|q\b|-9|nmcli|off\b|git",
    ),
    "tag": ("tag", r"\btag\b|exif|docker|id3|ctags"),
    "install": (
        "install|installs|reinstall",
        r"install|ssh-copy-id|\badd\b|npm|pip|cargo|brew|pacman|\bget\b|clone|curl|snap|make|dpkg|apk|sync|bundle|poetry|uv|go ",
    ),
    "update": (
        "update|updates|upgrade|upgrades",
        r"upgrade|update|install|pull|refresh|sed|edit|UPDATE|-u\b|\bup\b|touch|\bset\b|apk|-Syu|emerge|sync|fetch|npm|get|rustup|jq|tldr|freshclam",
    ),
    "build": (
        "build|builds|compile|rebuild",
        r"build|make|compile|\bcc\b|gcc|g\+\+|clang|cargo|npm|\bgo |mvn|gradle|tsc|javac|latex|sass|cmake|ninja|--build|rustc|docker",
    ),
    "revert": ("revert|reverts", r"revert|restore|checkout|reset|undo|rollback|-R\b"),
    "rename": ("rename|renames", r"\bmv\b|rename|sed|awk|git|docker|jq|hostname"),
}
_CLASSES = {name: re.compile(rf"(?:{verbs})\Z") for name, (verbs, _) in DOERS.items()}
_DONE_BY = {name: re.compile(pattern) for name, (_, pattern) in DOERS.items()}


def masked(goal: str) -> str:
    """A goal in lower case, with what is quoted as one sign, and names of files as another."""
    text = _QUOTED.sub(" \x01 ", goal.replace("’", "'")).lower()
    text = re.sub(r"(?<!\S)[~/.]?[\w*?+@%-]*[./][\w*?/.+@%-]*[\w*/](?=[\s,;:!?.]|\Z)", " \x02 ", text)
    return " ".join(text.split())


def literals(goal: str) -> list[str]:
    """List what stands in quotes in a goal."""
    return [found[0][1:-1] for found in _QUOTED.finditer(goal.replace("’", "'"))]


def no_order(said: str) -> str:
    """Say why a masked goal orders nothing, or not without a doubt; "" for a plain order."""
    start = _POLITE.match(said)
    rest = said[start.end() :] if start else said
    if _QUESTION.match(rest) or (said.endswith("?") and not (start and _ASKED_OF_YOU.match(said))):
        return "is a question"
    for pattern, why in (
        (_RESTORES, "is about undoing something"),
        (_TOLD_OF, "reads like a report or a question"),
        (_CONDITION, "has a condition"),
        (_FORBIDS, "says what not to do"),
    ):
        if pattern.search(said):
            return why
    return ""


_ASKED_OF_YOU = LazyPattern(r".{0,30}\b(?:can|could|would|will) (?:you|we|u)\b|.{0,20}please")


def orders(said: str) -> list[str]:
    """The words of a masked goal that may be orders: not a noun, a participle, or part of "the command to ..."."""
    words = re.findall(r"[\w'-]+|[,;:.!?()]|\x01|\x02", said)
    found = []
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if before == "to" and (at < 2 or words[at - 2] not in _TO_AFTER):
            continue
        if before not in _NO_ORDER_BEFORE or (before in ("\x01", "\x02") and at == 1):
            found.append(word)
    return found


_STARTS_AN_ORDER = frozenset([
    "and", "then", "please", "also", "to", "finally", "afterwards", "next", "or", "me", "you", "it", "them", "first",
    "just", ",", ";", ".", ":", "!", ")", "\x01", "\x02",
])  # fmt: skip


def letters_of(text: str) -> str:
    """The letters and digits of a text, in lower case."""
    return re.sub(r"[^\w]", "", text).lower()


def _plain_orders(said: str) -> list[str]:
    """Of the orders those that stand where only an order can: "the last commit" has none."""
    words = re.findall(r"[\w'-]+|[,;:.!?()]|\x01|\x02", said)
    likely = set(orders(said))
    return [
        word
        for at, word in enumerate(words)
        if word in likely and (at == 0 or words[at - 1] in _STARTS_AN_ORDER or words[at - 1].endswith("ly"))
    ]


def undone(said: str, command: str) -> str:
    """An order of a masked goal that its command does nothing about; "" for none."""
    for word in _plain_orders(said):
        for name, verbs in _CLASSES.items():
            if verbs.match(word) and not _DONE_BY[name].search(command):
                return word
    return ""
