"""Verdicts under whole policies: what tightens wins, what allows is narrow, mistakes close. Mostly as properties."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from agent.policy.deciding import consulted, decide, why_not_allowed
from agent.policy.model import OptionTest, Place, Policy, PolicyFile, Rule
from agent.protocol.decisions import Level, RiskContext, RiskReport, Verdict
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.tries import tries

HOME, WORK = "/home/you", "/home/you/project"
PLACE = Place(workspace=WORK, home=HOME, session="s1", now="2026-06-01T12:00:00+00:00")
CONTEXT = RiskContext(cwd=WORK, home=HOME, workspace=WORK)
ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "risk_corpus.jsonl").read_text(encoding="utf-8").splitlines()
    if line.strip()
]
CORPUS = [row["command"] for row in ROWS]
STRICTNESS = ("allow", "ask", "type", "refuse")

PUSH = Rule(
    name="push",
    action="allow",
    program=("git",),
    words=(("push",), ("origin",)),
    options=OptionTest(none=("--force", "-f")),
)
BUILD = Rule(name="build", action="allow", program=("rm",), paths=("./build",))
MAKE = Rule(name="make", action="allow", program=("make",), exact_words=True)
NO_FORCE = Rule(
    name="no-force", action="deny", program=("git",), words=(("push",),), options=OptionTest(any=("--force", "-f"))
)
NO_NC = Rule(name="no-nc", action="deny", program=("nc",), reason="never")
TYPE_MAKE = Rule(name="type-make", action="type", program=("make",))
ASK_LS = Rule(name="ask-ls", action="ask", program=("ls",))


def file(*rules: Rule, trust: str = "user", error: str = "") -> PolicyFile:
    return PolicyFile(path=f"/p/{trust}.toml", trust=trust, rules=rules, error=error)  # type: ignore[arg-type]


def rated(command: str) -> RiskReport:
    return classify(command, CONTEXT)


def verdict(command: str, *files: PolicyFile, place: Place = PLACE, **approval: object) -> Verdict:
    return decide(rated(command), Approval(**approval), policy=Policy(files=files, place=place))  # type: ignore[arg-type]


@pytest.mark.parametrize(("command", "mode"), [("git commit -m x", "low"), ("git add -A && git commit -m x", "medium")])
def test_what_a_mode_lets_run_is_held_to_nothing_where_a_rule_says_so(command: str, mode: str) -> None:
    rule = Rule(name="hooks", action="allow", program=("git",), words=(("add", "commit"),), confine="off", free=True)
    assert verdict(command, file(rule), mode=mode).rule == "user.toml:hooks"
    assert verdict(command, file(structs.replace(rule, free=False, confine="")), mode=mode).rule == f"approve-{mode}"
    assert verdict(command, file(rule, trust="project"), mode=mode).rule == f"approve-{mode}"
    assert verdict(f"{command}; ls", file(rule), mode=mode).rule == f"approve-{mode}"  # all of it has to be covered


def test_a_rule_allows_and_says_so() -> None:
    found = verdict("git push origin main", file(PUSH))
    assert (found.action, found.rule) == ("allow", "user.toml:push")
    assert found.reason


@each(
    ("command", "action"),
    [
        ("git push origin main && rm -rf build && make", "allow"),
        ("git push origin main; make x", "ask"),
        ("git push origin main > log", "ask"),
        ("git push upstream main", "ask"),
        ("git push origin \u200bmain", "type"),
        ("git push origin main; echo $(", "ask"),
        ("git push origin --force", "type"),
        ("ls", "ask"),  # nobody allowed it, and this mode asks for everything
        ("ls; make", "ask"),
    ],
)
def test_all_of_it_must_be_allowed(command: str, action: str) -> None:
    assert verdict(command, file(PUSH, BUILD, MAKE)).action == action


def test_what_the_mode_runs_needs_no_rule() -> None:
    assert verdict("ls; make", file(MAKE), mode="low").action == "allow"
    assert verdict("ls; make", file(MAKE), mode="low").rule == "user.toml:make"
    assert verdict("ls", file(MAKE), mode="low").rule == "approve-low"


@each("trust", ["user", "session", "site", "safety", "project"])
def test_every_file_may_tighten(trust: str) -> None:
    assert verdict("nc -l 9", file(NO_NC, trust=trust)).action == "refuse"
    assert verdict("nc -l 9", file(NO_NC, trust=trust), safety_off=True).action == "refuse"
    assert verdict("make", file(TYPE_MAKE, trust=trust), mode="medium").action == "type"
    assert verdict("make", file(TYPE_MAKE, trust=trust), safety_off=True).action == "type"
    found = verdict("ls", file(ASK_LS, trust=trust), mode="medium")
    assert (found.action, found.rule) == ("ask", "session:ask-ls" if trust == "session" else f"{trust}.toml:ask-ls")


@each("trust", ["site", "safety", "project"])
def test_only_the_persons_own_rules_loosen(trust: str) -> None:
    assert verdict("make", file(MAKE, trust=trust)).action == "ask"


def test_strictest_wins_whatever_the_order() -> None:
    loose, strict = file(MAKE), file(TYPE_MAKE, trust="project")
    assert verdict("make", loose, strict).action == verdict("make", strict, loose).action == "type"


def test_a_broken_file_runs_nothing_unasked() -> None:
    broken = file(NO_NC, error="/p/user.toml: rule x: mistake")
    found = verdict("ls", broken, mode="medium")
    assert (found.action, found.rule) == ("ask", "policy-error")
    assert "mistake" in found.reason
    assert verdict("make", file(MAKE), broken).action == "ask"
    assert verdict("nc -l 9", broken).action == "refuse"
    assert verdict("make", file(MAKE, error="broken")).action == "ask"


def test_what_cannot_be_known_is_asked_for() -> None:
    found = verdict("git push $flags", file(NO_FORCE), mode="medium")
    assert (found.action, found.rule) == ("ask", "user.toml:no-force")


def test_what_cannot_be_read_to_its_end_is_refused_where_something_is_forbidden() -> None:
    hidden = "; ".join(["true"] * 600) + "; nc -l 9"
    assert verdict(hidden, file(NO_NC), mode="medium").action == "refuse"
    assert verdict("cat <<A " * 200, file(NO_NC)).action == "refuse"
    assert verdict(hidden, file(MAKE), mode="medium").action != "refuse"


def test_limits_of_place_session_and_time() -> None:
    from msgspec.structs import replace

    limited = replace(MAKE, workspace=WORK, session="s1", until="2026-06-01T12:00:01Z")
    assert verdict("make", file(limited)).action == "allow"
    for place in (
        replace(PLACE, workspace="/srv/other"),
        replace(PLACE, session="s2"),
        replace(PLACE, now="2026-06-01T12:00:01+00:00"),
        replace(PLACE, now=""),
    ):
        assert verdict("make", file(limited), place=place).action == "ask"
    assert verdict("cd /srv && make", file(limited), mode="low").action == "ask"


@each(
    "command",
    [
        "PATH=/tmp:$PATH git push origin x", "CDPATH=/ cd tmp; git push origin x", "GIT_SSH=/tmp/x git push origin x",
        "export GIT_SSH=/tmp/x; git push origin x",
        "alias git=rm; git push origin x",
        "git() { rm -rf ~; }; git push origin x", "cd /tmp; ./git push origin x", "hash -p /tmp/x git; git push origin x",
        "read EDITOR; git push origin x",
        "for EDITOR in x; do git push origin x; done", "printf -v EDITOR x; git push origin x", "source ./x; git push origin x",
        "git -c core.sshCommand=x push origin x", "git push origin x 2>&1 | tee /etc/x", "git push origin x | sh",
        "trap 'make x' EXIT; git push origin x",
        "git push origin x <(make x)", "git push origin $(make x)", "enable -f ./x.so y; git push origin x",
    ],
)  # fmt: skip
def test_nothing_rides_along_on_an_allowed_command(command: str) -> None:
    assert verdict("git push origin x", file(PUSH), mode="low").action == "allow"
    assert verdict(command, file(PUSH), mode="low").action != "allow"


def test_the_account_names_rules_and_reasons() -> None:
    policy = Policy(files=(file(PUSH, NO_NC),), place=PLACE)
    told = consulted(rated("git push origin x; nc h 1"), policy)
    assert [(rule.rule, rule.action, rule.program, rule.says) for rule in told] == [
        ("no-nc", "deny", 1, "yes"),
        ("push", "allow", 0, "yes"),
    ]
    assert "make" in why_not_allowed(rated("git push origin x; make"), Approval(), policy)
    assert why_not_allowed(rated("make"), Approval(), Policy()) == ""


# --- properties ---

COMMANDS = st.sampled_from(CORPUS)
PREFIXES = st.sampled_from(["{}", "sudo {}", "env A=1 {}", "nice {}", "nohup {}", "timeout 5 {}", "command {}"])
WRAPS = st.sampled_from(
    [
        "{}",
        "time {}",
        "( {} )",
        "{}; ls",
        "ls; {}",
        "if true; then {}; fi",
        "! {}",
        "f() {{ {}; }}; f",
        "x | {}",
        "B=2 {}",
    ]
)
ALL_RULES = (PUSH, BUILD, MAKE, NO_FORCE, NO_NC, TYPE_MAKE, ASK_LS)
FILES = st.lists(
    st.builds(
        lambda rules, trust: file(*rules, trust=trust),
        st.lists(st.sampled_from(ALL_RULES), max_size=4, unique_by=lambda rule: rule.name),
        st.sampled_from(["user", "session", "site", "safety", "project"]),
    ),
    max_size=3,
)
MODES = st.sampled_from(["ask", "low", "medium"])


def rank(found: Verdict) -> int:
    return STRICTNESS.index(found.action)


@settings(max_examples=tries(50), deadline=None)
@given(
    COMMANDS | st.sampled_from(["make", "git push origin x", "nc h 1", "ls", "rm -rf build"]),
    FILES,
    FILES,
    MODES,
    st.booleans(),
)
def test_files_that_may_only_tighten_never_loosen(
    command: str, files: list[PolicyFile], more: list[PolicyFile], mode: str, safety_off: bool
) -> None:
    tightening = [one for one in more if one.trust not in ("user", "session")]
    before = verdict(command, *files, mode=mode, safety_off=safety_off)
    after = verdict(command, *files, *tightening, mode=mode, safety_off=safety_off)
    assert rank(after) >= rank(before)


@settings(max_examples=tries(50), deadline=None)
@given(COMMANDS, FILES, MODES)
def test_no_policy_lets_high_or_unread_run(command: str, files: list[PolicyFile], mode: str) -> None:
    report = rated(command)
    found = decide(report, Approval(mode=mode), policy=Policy(files=tuple(files), place=PLACE))  # type: ignore[arg-type]
    if report.level is Level.HIGH or report.parse != "ok":
        assert found.action != "allow"


@settings(max_examples=tries(100), deadline=None)
@given(
    st.sampled_from(["nc -l 9", "git push --force", "git -C x push -f origin"]),
    st.lists(PREFIXES, max_size=3),
    WRAPS,
    FILES,
    MODES,
)
def test_a_denied_command_stays_denied(
    command: str, prefixes: list[str], wrap: str, files: list[PolicyFile], mode: str
) -> None:
    for prefix in prefixes:
        command = prefix.format(command)
    command = wrap.format(command)
    assert verdict(command, file(NO_NC, NO_FORCE), *files, mode=mode).action == "refuse", command


@settings(max_examples=tries(80), deadline=None)
@given(st.data())
def test_quoting_does_not_hide_what_is_denied(data: st.DataObject) -> None:
    quoted = "".join(
        letter
        if letter == " "
        else data.draw(
            st.sampled_from([letter, f"'{letter}'", f'"{letter}"', f"\\{letter}", f"$'\\x{ord(letter):02x}'"])
        )
        for letter in "git push --force origin"
    )
    assert verdict(quoted, file(NO_FORCE)).action == "refuse", quoted


OF_MEDIUM_RISK = [
    row["command"]
    for row in ROWS
    if row["level"] == "medium" and len(row["command"]) < 80 and "\n" not in row["command"]
]


@settings(max_examples=tries(100, 12), deadline=None)
@given(
    st.sampled_from(OF_MEDIUM_RISK),
    st.sampled_from(["{a}; {b}", "{b}; {a}", "{a} && {b}", "{a} | {b}", "( {b} ); {a}", "{a} & {b}"]),
    st.sampled_from(["ask", "low"]),
)
def test_adding_what_is_not_allowed_takes_the_permission_away(other: str, shape: str, mode: str) -> None:
    allowed = "git push origin main"
    if verdict(other, file(PUSH, MAKE), mode=mode).action == "allow":
        return
    assert verdict(shape.format(a=allowed, b=other), file(PUSH, MAKE), mode=mode).action != "allow"


@each(
    ("command", "action"),
    [
        ("cp x ~/.config/agent-shell/policy.toml", "type"),
        ("cd ~/.config/agent-shell && echo x > policy.toml", "type"),
        ("echo x >> ~/.config/agent-shell/.env", "type"),
        ("mv ~/.config ~/old", "type"),
        ("rm .agent-shell-policy.toml", "type"),
        ("cat ~/.config/agent-shell/policy.toml", "allow"),
        ("echo x > notes.txt", "allow"),
        ("rm notes.txt", "allow"),
    ],
)
def test_no_mode_and_no_rule_lets_our_own_settings_be_changed(command: str, action: str) -> None:
    everything = Rule(name="all", action="allow", program=("cp", "mv", "rm"), paths=("/",))
    guarded = (f"{HOME}/.config/agent-shell", f"{WORK}/.agent-shell-policy.toml")
    policy = Policy(files=(file(everything),), place=PLACE, guarded=guarded)
    assert decide(rated(command), Approval(mode="medium"), policy=policy).action == action
