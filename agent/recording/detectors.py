"""The shapes of secrets: tokens of common services, keys, headers, URLs. Name-and-value pairs are in `named_values`.

Each detector has anchors, words of which one must be in the text before its pattern is tried at all: that is
what makes clean text cheap. Patterns use bounded or single-class repeats only, so that no text can make them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

_SCHEMES = "bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256"
_HEADER = r"(?i:authorization)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
# What `word` asks, asked before the rest is read: else a long run of such beginnings is read to its end from each of them.
_JWT = r"eyJ(?:(?<![A-Za-z0-9]eyJ)|(?<=\\[abefnrtv]eyJ)|(?<=[0-9;\[][mK]eyJ))"
# How seldom characters are in output of programs, roughly; only speed depends on it.
_RARE_FIRST = 'ZXQJKVYWUBGHFMPDLCNORSIATE$?"=_:/ -.qzjxkvwy7893645bfhg012pumdclnorsiate'


class Detector(Struct, frozen=True):
    """`kind` goes into the label. Where the pattern has a group, only that group is secret, else the whole match.

    `word`: it must not begin in the middle of a word. `any_case`: the anchors are lower-case and the case does not matter.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: str
    word: bool = False
    any_case: bool = False


class Hit(Struct, frozen=True):
    """A secret at `start:end` of the text that was searched."""

    start: int
    end: int
    kind: str


# A private key: its markers, and the lines of one whose end is missing (line ends may be escaped, as in JSON).
KEY_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_LINES = r"(?:(?:\s|\\[nr]){1,4}(?:[A-Za-z0-9+/]{16,200}={0,2}|[A-Za-z-]{4,20}: [^\n]{0,80})){0,400}"

DETECTORS: tuple[Detector, ...] = (
    Detector("private-key", ("-----BEGIN",), rf"{KEY_BEGIN}(?:(?s:.){{0,8000}}?{KEY_END}|{KEY_LINES}(?:\s[A-Za-z0-9+/]{{1,15}}={{1,2}})?)"),
    Detector("age-key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[0-9A-Za-z]{20,}"),
    Detector("aws-key-id", ("AKIA", "ASIA", "AROA", "ABIA", "ACCA"), r"(?:AKIA|ASIA|AROA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])", word=True),
    Detector("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{16,}"),
    Detector("github-token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{20,}"),
    Detector("gitlab-token", ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-"), r"gl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_-]{16,}"),
    Detector("slack-token", ("xox", "xapp-"), r"(?:xox[a-z]-|xoxe\.xox[bp]-|xapp-)[A-Za-z0-9-]{10,}"),
    Detector("slack-webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{10,})"),
    Detector("discord-webhook", ("/api/webhooks/",), r"discord(?:app)?\.com/api/webhooks/(\d{5,}/[A-Za-z0-9_-]{20,})"),
    Detector("telegram-token", (":AA",), r"\d{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])", word=True),
    Detector("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{16,}"),
    Detector("openrouter-key", ("sk-or-",), r"sk-or-[A-Za-z0-9_-]{16,}"),
    Detector("openai-key", ("sk-",), r"sk-(?:proj-|svcacct-|admin-|None-)[A-Za-z0-9_-]{16,}"),
    Detector("openai-key", ("sk-",), r"sk-(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9]{20,}", word=True),
    Detector("stripe-key", ("_live_", "_test_"), r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}"),
    Detector("webhook-secret", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{16,}", word=True),
    Detector("google-key", ("AIza",), r"AIza[A-Za-z0-9_-]{30,}"),
    Detector("google-token", ("ya29.", "GOCSPX-"), r"(?:ya29\.|GOCSPX-)[A-Za-z0-9_.-]{20,}", word=True),
    Detector("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{30,}"),
    Detector("pypi-token", ("pypi-Ag",), r"pypi-Ag[A-Za-z0-9_-]{20,}"),
    Detector("cargo-token", ("cio",), r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", word=True),
    Detector("rubygems-token", ("rubygems_",), r"rubygems_[a-f0-9]{40,}", word=True),
    Detector("huggingface-token", ("hf_", "api_org_"), r"(?:hf_|api_org_)[A-Za-z0-9]{30,}", word=True),
    Detector("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{20,}", word=True),
    Detector("xai-key", ("xai-",), r"xai-[A-Za-z0-9]{40,}", word=True),
    Detector("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{30,}", word=True),
    Detector("digitalocean-token", ("_v1_",), r"do[opr]_v1_[a-f0-9]{40,}"),
    Detector("docker-token", ("dckr_pat_", "dckr_oat_"), r"dckr_[po]at_[A-Za-z0-9_-]{20,}"),
    Detector("vault-token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{20,}", word=True),
    Detector("doppler-token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{20,}", word=True),
    Detector("linear-key", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}", word=True),
    Detector("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{30,}", word=True),
    Detector("atlassian-token", ("ATATT3", "ATCTT3"), r"AT[AC]TT3[A-Za-z0-9_=.-]{20,}", word=True),
    Detector("shopify-token", ("shp",), r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", word=True),
    Detector("sendgrid-key", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", word=True),
    Detector("mailgun-key", ("key-",), r"key-[a-f0-9]{32}(?![A-Za-z0-9])", word=True),
    Detector("twilio-key", ("SK",), r"SK[a-f0-9]{32}(?![A-Za-z0-9])", word=True),
    Detector("newrelic-key", ("NRAK-",), r"NRAK-[A-Z0-9]{20,}", word=True),
    Detector("grafana-token", ("glc_", "glsa_"), r"gl(?:c|sa)_[A-Za-z0-9_+/=]{20,}", word=True),
    Detector("sentry-token", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9_+/=]{20,}", word=True),
    Detector("databricks-token", ("dapi",), r"dapi[a-f0-9]{32}", word=True),
    Detector("pulumi-token", ("pul-",), r"pul-[a-f0-9]{40}", word=True),
    Detector("tailscale-key", ("tskey-",), r"tskey-[a-z]{2,10}-[A-Za-z0-9-]{12,}", word=True),
    Detector("fly-token", ("fm1", "fm2"), r"fm[12][ar]?_[A-Za-z0-9+/=_-]{40,}", word=True),
    Detector("azure-key", ("accountkey=", "sharedaccesskey="), r"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{20,})", any_case=True),
    Detector("azure-signature", ("sig=",), r"[?&]sig=([A-Za-z0-9%+/=_-]{30,})"),
    Detector("aws-signature", ("x-amz-",), r"(?i:X-Amz-(?:Signature|Security-Token))=([A-Za-z0-9%+/=_-]{16,})", any_case=True),
    Detector("jwt", ("eyJ",), _JWT + r"[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?(?:\.[A-Za-z0-9_-]+){0,2}", word=True),
    Detector("url-password", ("://",), r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@'\"<>]{0,200}:([^\s/@'\"<>]{1,500})@(?=[A-Za-z0-9\[])"),
    Detector("url-token", ("://",), r"[A-Za-z][A-Za-z0-9+.-]{0,30}://([A-Za-z0-9_-]{20,})@(?=[A-Za-z0-9])"),
    Detector("authorization", ("authorization",), rf"{_HEADER}(?i:{_SCHEMES})\s{{1,4}}([^\s\"',;\\][^\"'\r\n\\]{{2,2000}})", any_case=True),
    Detector("authorization", ("authorization",), rf"{_HEADER}(?!(?i:{_SCHEMES})\b)([A-Za-z0-9_.+/=-]{{16,}})", any_case=True),
    Detector("bearer-token", ("bearer ",), r"(?i:\bbearer) {1,4}([A-Za-z0-9_.+/~=-]*\d[A-Za-z0-9_.+/~=-]*)(?<=.{20})", any_case=True),
    Detector("cookie", ("cookie",), r"(?i:\b(?:set-)?cookie) {0,2}: {0,4}([^\r\n\"']{1,4000})", any_case=True),
    Detector("netrc", ("login",), r"(?i:\blogin)\s{1,20}\S{1,200}\s{1,20}(?i:password)\s{1,20}(\S{1,500})", any_case=True),
    Detector("curl-user", ("curl", "wget", "http"),
             r"(?:^|\s)(?:-u|--user|--proxy-user)(?:\s{1,4}|=)[\"']?[^\s:\"']{1,100}:([^\s\"']{1,500})"),
    Detector("sshpass", ("sshpass",), r"\bsshpass\s{1,4}-p\s{0,4}[\"']?([^\s\"']{1,500})"),
    Detector("mysql-password", ("mysql", "mariadb"),
             r"\b(?:mysql|mariadb)[a-z_-]{0,12}(?:\s{1,4}(?!-p)\S{1,200}){0,8}\s{1,4}-p[\"']?([^\s\"']{3,500})"),
    Detector("docker-auth", ("\"auth\"",), r"\"auth\"\s{0,4}:\s{0,4}\"([A-Za-z0-9+/=]{8,})\""),
    Detector("password-hash", ("$1$", "$2", "$5$", "$6$", "$7$", "$y$", "$gy$", "$argon2"),
             r"\$(?:1|2[abxy]|5|6|7|y|gy|argon2(?:id|i|d))\$[A-Za-z0-9./$=,+-]{20,}"),
)  # fmt: skip


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # re's own cache may evict; compiling waits until an anchor was seen, as start-up cannot afford it
    return re.compile(pattern)


Groups = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


@cache
def _anchored(any_case: bool) -> Groups:
    """Anchors with their detector's place, grouped by their rarest character: without that none of them needs a search."""
    groups: dict[str, list[tuple[str, int]]] = {}
    for place, detector in enumerate(DETECTORS):
        for anchor in detector.anchors if detector.any_case is any_case else ():
            rarest = min(anchor, key=_RARE_FIRST.index)
            groups.setdefault(rarest, []).append((anchor, place))
    return tuple((rarest, tuple(anchors)) for rarest, anchors in groups.items())


@cache
def _begins_word() -> re.Pattern[str]:
    # Before it: nothing of a word, an escaped character as in JSON (`\\n`), or the end of a colour sequence.
    return re.compile(r"(?<![A-Za-z0-9])|(?<=\\[abefnrtv])|(?<=[0-9;\[][mK])")


def find_tokens(text: str, lowered: str) -> list[Hit]:
    """Every hit of every detector in `text`, detector by detector; hits may overlap. `lowered` is `text.lower()`."""
    places = {*_worth_trying(text, _anchored(False)), *_worth_trying(lowered, _anchored(True))}
    return [hit for place in sorted(places) for hit in _hits(DETECTORS[place], text)]


def _worth_trying(text: str, groups: Groups) -> set[int]:
    return {place for rarest, anchors in groups if rarest in text for anchor, place in anchors if anchor in text}


def _hits(detector: Detector, text: str) -> Iterator[Hit]:
    pattern = _compiled(detector.pattern)
    group = 1 if pattern.groups else 0
    for match in pattern.finditer(text):
        start, end = match.span(group)
        if end > start and (not detector.word or _begins_word().match(text, start)):
            yield Hit(start, end, detector.kind)
