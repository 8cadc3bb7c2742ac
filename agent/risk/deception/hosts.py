"""Find addresses that are made to be misread: another host in front of an `@`, look-alike host names, numbers written oddly."""

from __future__ import annotations

import functools
import re

from agent.protocol.decisions import Finding, Level, ProgramRun
from agent.risk.deception.findings import DIALLERS, finding
from agent.risk.tables.names import names
from agent.text.lazy_pattern import lazily
from agent.text.visible import mixed_letters, skeleton, spelled, without_accents

_KNOWN = names("hosts.known")
_SPEAKERS = frozenset("echo printf grep egrep fgrep rg ag ack sed awk jq yq : true test [ [[".split())
_GIT_SPEAKS = frozenset(("commit", "log", "tag", "notes", "grep", "show", "diff", "blame"))
_FILE_ENDS = frozenset(
    "html htm txt json xml yaml yml csv md zip gz tgz tar xz bz2 deb rpm iso img sh py js pem crt cer key pub log har "
    "pdf bak conf git asc sig toml warc".split()
)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^/?#\s]*)")
_USER_IS_HOST = re.compile(
    r"(?:[\w-]+\.)+(?:com|org|net|io|dev|sh|edu|gov|co|app|ai|me|info|biz|xyz|rs|land|[a-z]{2}\.[a-z]{2})|[0-9.]+\.[0-9.]+",
    re.I,
)
_NUMBERS = re.compile(r"(?:0x[0-9a-f]+|[0-9]+)(?:\.(?:0x[0-9a-f]+|[0-9]+)){0,3}", re.I)
_QUAD = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}")
_OTHER_HOST = "the address looks like another host: "
_MAX_PROGRAMS, _MAX_WORDS = 100, 100
_IMITATING = lazily("[015]|rn|vv")


def host_findings(programs: tuple[ProgramRun, ...]) -> list[Finding]:
    """Findings about the addresses that the programs are given."""
    found: list[Finding] = []
    for index, run in enumerate(programs[:_MAX_PROGRAMS]):
        words = run.words
        if len(words) < 2 or words[0] in _SPEAKERS:
            continue
        name = words[0].rpartition("/")[2]
        if name in _SPEAKERS or (name == "git" and words[1] in _GIT_SPEAKS):
            continue
        dials = name in DIALLERS
        for word in words[1:_MAX_WORDS]:
            if "://" not in word and not (dials and ("." in word or word[:2] in ("0x", "0X"))):
                continue
            judged = _judge(word, dials=dials)
            if judged is not None:
                found.append(finding(judged[0], judged[1], judged[2], run.span, index))
                break
    return found


def _judge(word: str, *, dials: bool) -> tuple[str, Level, str] | None:
    """Rule, level and sentence for the address in one word, None for an honest one or none at all."""
    if "\n" in word or " " in word:
        return None
    found = _URL.search(word)
    if found is not None:
        return _judge_authority(found.group(1), in_url=True)
    if not dials or word.startswith(("-", "/", "./", "../", "~", "@", "+")):
        return None
    return _judge_authority(re.split("[/?#]", word, maxsplit=1)[0], in_url=False)


def _judge_authority(authority: str, *, in_url: bool) -> tuple[str, Level, str] | None:
    user, at, rest = authority.rpartition("@")
    shown = spelled(authority)[:100]
    if in_url and "\\" in authority:
        return "url", Level.HIGH, f"{_OTHER_HOST}{shown}, with a backslash that programs read in different ways"
    if at:
        user = user.replace("…", "")  # what is not known before it runs
        name = user.partition(":")[0].replace("%2e", ".").replace("%2E", ".")
        if _USER_IS_HOST.fullmatch(name.rpartition("@")[2]) or not user.isascii():
            return (
                "url",
                Level.HIGH,
                f"{_OTHER_HOST}{shown} goes to {spelled(rest)[:80]}, what is before the @ is a user name",
            )
    host = rest if rest.startswith("[") else rest.partition(":")[0]
    return _judge_host(host, in_url=in_url)


def _judge_host(host: str, *, in_url: bool) -> tuple[str, Level, str] | None:
    if not host or "…" in host or "$" in host or host.startswith("["):
        return None
    shown = spelled(host)[:100]
    if in_url and "%" in host:
        return "host", Level.HIGH, f"the host name {shown} is written with percent signs, which hide it"
    lowered = host.lower()
    if _NUMBERS.fullmatch(lowered):
        return _judge_number(lowered, in_url=in_url)
    if not in_url and "." not in host:
        return None
    readable = _decoded(lowered)
    if readable is None:
        return "host", Level.HIGH, f"the host name {shown} is no valid name in another alphabet"
    real = _imitated(readable)
    if real:
        instead = "" if real == readable else f" and looks like {spelled(real)[:60]}"
        return "host", Level.HIGH, f"the host name {shown} is written to look like another{instead}"
    if in_url and lowered.endswith("."):
        return "host", Level.MEDIUM, f"the host name {shown} ends with a dot, which some programs take for another host"
    if not in_url and lowered.rpartition(".")[2] in _FILE_ENDS:
        return None
    claimed = _claims(lowered)
    if claimed:
        return "host", Level.HIGH, f"the host {shown} is not {claimed}, although its name begins like it"
    return None


def _judge_number(host: str, *, in_url: bool) -> tuple[str, Level, str] | None:
    """Addresses of four plain numbers are honest; hexadecimal, octal and single numbers are not."""
    if _QUAD.fullmatch(host):
        return None
    octal = any(len(part) > 1 and part.startswith("0") for part in host.split("."))
    if "x" in host or (octal and "." in host) or (in_url and "." not in host and len(host) >= 8):
        return "host", Level.HIGH, f"the address {host} is written in an unusual notation, which hides it"
    if in_url and "." in host:
        return "host", Level.MEDIUM, f"the address {host} is written in a short notation"
    return None


def _decoded(host: str) -> str | None:
    """`host` with punycode labels written in their own letters; None for an invalid label."""
    if "xn--" not in host:
        return host
    labels = []
    for label in host.split("."):
        if label.startswith("xn--"):
            try:
                label = label[4:].encode("ascii").decode("punycode")  # noqa: PLW2901
            except (UnicodeError, ValueError):
                return None
        labels.append(label)
    return ".".join(labels)


def _imitated(host: str) -> str:
    """The host in ASCII that `host` looks like, itself where letters are mixed, "" for an honest name."""
    if host.isascii():
        return _with_digits(host)
    if any(char in "。．｡․" for char in host):
        return skeleton(host)
    if mixed_letters(host):
        return skeleton(host)
    for label in host.split("."):
        if not label.isascii() and skeleton(label).isascii():
            return skeleton(host)
    plain = without_accents(skeleton(host))
    return plain if plain.isascii() and _is_known(plain) else ""


def _with_digits(host: str) -> str:
    """The known host that `host` imitates with digits and pairs of letters (g1thub, rnicrosoft), "" for none."""
    if _is_known(host) or not _IMITATING.search(host):
        return ""
    pairs = host.replace("rn", "m").replace("vv", "w").replace("0", "o")
    for guess in (pairs.replace("1", "l"), pairs.replace("1", "i"), pairs.replace("5", "s")):
        if guess != host and _is_known(guess):
            return guess
    return ""


@functools.lru_cache(maxsize=1)
def _known_ends() -> tuple[str, ...]:
    return tuple("." + name for name in _KNOWN)


def _is_known(host: str) -> bool:
    return ("." + host.rstrip(".")).endswith(_known_ends())


@functools.lru_cache(maxsize=1)
def _front() -> re.Pattern[str]:
    return re.compile("(?:^|[.-])(" + "|".join(re.escape(name) for name in sorted(_KNOWN)) + ")([.-].+)")


def _claims(host: str) -> str:
    """The known host that stands in front of another one (`github.com.evil.example`), "" for none."""
    if _is_known(host):
        return ""
    found = _front().search(host)
    if found is None:
        return ""
    if re.fullmatch(r"\.[a-z]{2}\.?", found[2]) and found[1].endswith(".com"):
        return ""  # google.com.br: the registry's own second level
    return found[1]
