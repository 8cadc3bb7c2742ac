"""Which programs a rule is about, told by examples that are run as a file's own examples are."""

from __future__ import annotations

from agent.policy.covering import failing_example
from agent.policy.matching import in_force
from agent.policy.model import OptionTest, Place, Rule
from agent.policy.reading import certain_path, lies_in, reading_of
from agent.policy.restrictive_match import touches
from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify
from tests.support.each import each

PUSH = Rule(
    name="push",
    action="allow",
    program=("git",),
    words=(("push",), ("origin", "upstream")),
    options=OptionTest(none=("--force", "-f")),
)
NO_FORCE = Rule(
    name="no-force", action="deny", program=("git",), words=(("push",),), options=OptionTest(any=("--force", "-f"))
)
CLEAN = Rule(name="clean", action="allow", program=("rm",), paths=("./build", "./out/*/tmp", "./deep/**/tmp"))
PHOTOS = Rule(name="photos", action="deny", program=("rm", "mv", "find", "shred"), paths=("~/photos",))
APT = Rule(name="apt", action="allow", program=("apt-get",), words=(("install",),), via=("sudo",))
TESTS = Rule(name="tests", action="allow", program=("./test.sh",))
ONLY = Rule(
    name="only",
    action="allow",
    program=("npm",),
    words=(("run",), ("test",)),
    exact_words=True,
    options=OptionTest(only=("--silent",)),
)
SYSTEM = Rule(name="system", action="type", program=("*",), scopes=("system",))
SECRETS = Rule(name="secrets", action="ask", program=("*",), scopes=("secrets",))
DELETING = Rule(name="deleting", action="ask", program=("*",), effects=("delete",))
PYTHON = Rule(name="python", action="deny", program=("python",))


@each(
    ("rule", "match", "not_match"),
    [
        (
            PUSH,
            ["git push origin main", "git status && git push upstream", "g'i't push origin",
             "/usr/bin/git push origin"],
            [
                "git push --force origin", "git push --forc origin", "git -C sub push origin", "git -c a.b=c push origin",
                "git push -uf origin", "git push evil", "git push",
                 "sudo git push origin",
                "git push origin > log", "git push origin; make", "./git push origin", "/tmp/git push origin", "git push origin $x",
                "git push $x", "bash -c 'git push origin'", "echo x | xargs git push origin", "GIT_SSH=/tmp/x git push origin",
                "git push origin & curl x | sh", "git push origin \u202e", "eval git push origin", "ssh h git push origin",
                 "git push origin `id`",
            ],
        ),
        (
            NO_FORCE,
            [
                "git push --force", "git -C x push -f", "sudo git push --force", "env A=1 git push -uf x", "bash -c 'git push --force'",
                "/opt/x/git push --force", "g''it push --forc", "python3 -c 'import os; os.system(\"git push -f\")'", "x=push; git $x -f",
                "ls && (git push -f)", "if true; then git push -f; fi", "time nice git push -f", "find . -exec git push -f ';'",
                "f() { git push -f; }; f", "echo 'git push -f' | sh", "git --no-pager push --force", "GIT push -f",
            ],
            ["git push", "git status -f", "echo git push --force", "git commit -m 'git push --force'", "git pull --force",
             "grep 'push --force' git"],
        ),
        (
            CLEAN,
            ["rm -rf build", "rm build/x", "rm -r ./build/*", "rm -rf out/a/tmp/x", "rm deep/a/b/tmp/x", "cd build && rm x",
             "rm -- build/x"],
            [
                "rm -rf .", "rm build/../x", "rm -rf build src", "rm -rf /home/you/x", "rm out/a/x", "rm build/*/../../x", "rm",
                 "rm -rf build*",
                "cd .. && rm -rf build", "find build -name x -exec rm {} +", "rm -rf build/.*", "rm buildx", "rm ~/build/x",
                 "rm build/$x", "rm ${X:-build}/x", "rm -rf $TMPDIR/../build", "rm -", "rm @x", "rm {build,src}/x",
            ],
        ),
        (
            PHOTOS,
            [
                "rm ~/photos/a", "rm -rf ~", "cd ~ && rm -rf photos", "mv ~/photos x", "find ~ -name x -delete", "sudo rm $HOME/photos/x",
                "rm -rf ~/*", "rm ../photos/x", "shred ~/photos/../photos/x",
            ],
            ["rm x", "ls ~/photos", "find ~ -name x", "mv x y", "rm ~/photos2/x"],
        ),
        (
            APT,
            ["sudo apt-get install jq", "sudo -n apt-get install -y jq"],
            ["sudo apt-get remove x", "sudo apt-get install jq; sudo make", "sudo bash -c 'apt-get install x'",
             "sudo env A=1 apt-get install x"],
        ),
        (TESTS, ["./test.sh", "./test.sh -v x", "bash -n x; ./test.sh", "sub/../test.sh"], ["test.sh", "/tmp/test.sh",
         "cd sub && ./test.sh", "sudo ./test.sh"]),
        (ONLY, ["npm run test", "npm run test --silent"], ["npm run test -- --watch", "npm run test --prefix /x",
         "npm run deploy", "npm run"]),
        (SYSTEM, ["echo x > /etc/foo", "cat /etc/hosts", "sudo rm /etc/x", "cd /etc && cat hosts"], ["ls", "cat x", "echo /etc/foo"]),
        (SECRETS, ["cat .env", "cat ~/.ssh/id_rsa", "bash -c 'cat .env'"], ["cat x", "ls"]),
        (DELETING, ["rm x", "find . -name x -delete", "python3 -c 'import os; os.remove(\"x\")'"], ["ls", "echo rm x"]),
        (PYTHON, ["python x.py", "python3 x.py", "python3.11 x.py", "/usr/bin/python3 -c 1", "env python x"], ["pythonic x",
         "ipython", "ls python"]),
    ],
    ids=lambda value: value.name if isinstance(value, Rule) else "",
)  # fmt: skip
def test_rules_by_example(rule: Rule, match: list[str], not_match: list[str]) -> None:
    from msgspec.structs import replace

    for example in match:
        assert failing_example(replace(rule, match=(example,))) == "", example
    for example in not_match:
        assert failing_example(replace(rule, not_match=(example,))) == "", example


def says(rule: Rule, command: str) -> set[str]:
    context = RiskContext(cwd="/home/you/project", home="/home/you", workspace="/home/you/project")
    report = classify(command, context)
    place = Place(workspace="/home/you/project", home="/home/you")
    return {touches(rule, index, report, place).says for index in range(len(report.programs))}


@each(
    ("rule", "command"),
    [
        (NO_FORCE, "git push $flags"),
        (NO_FORCE, "git $x --force"),
        (NO_FORCE, "git --unheard-of value push --force"),
        (NO_FORCE, "$program push --force"),
        (PHOTOS, "rm $x"),
        (NO_FORCE, "mystery git push --force"),
        (Rule(name="frob", action="deny", program=("frobnicate",)), "mystery -x frobnicate now"),
    ],
)
def test_what_cannot_be_known_may_be_meant(rule: Rule, command: str) -> None:
    assert "maybe" in says(rule, command)


def test_what_the_loader_is_given_is_meant() -> None:
    assert "yes" in says(
        Rule(name="frob", action="deny", program=("frobnicate",)), "/lib/ld-linux.so.2 /opt/frobnicate"
    )


def test_what_is_mentioned_is_not_meant() -> None:
    assert says(NO_FORCE, "echo git push --force") == {"no"}
    assert says(PHOTOS, "echo rm ~/photos") == {"no"}


def test_limits() -> None:
    rule = Rule(name="x", action="allow", program=("x",), workspace="/w", session="s", until="2030-01-01T00:00:00Z")
    here = Place(workspace="/w", session="s", now="2029-12-31T23:59:59+00:00")
    assert in_force(rule, here) == "yes"
    assert in_force(rule, Place(workspace="/w", session="s", now="2030-01-01T01:00:00+01:00")) == "no"
    assert in_force(rule, Place(workspace="/w", session="other", now=here.now)) == "no"
    assert in_force(rule, Place(workspace="/wx", session="s", now=here.now)) == "no"
    assert in_force(rule, Place(workspace="/w", session="s")) == "maybe"
    assert in_force(rule, Place(session="s", now=here.now)) == "maybe"


def test_options_are_read_as_the_program_reads_them() -> None:
    reading = reading_of(("git", "-C", "sub", "push", "-uf", "--force-with-lease=x", "--", "--force"))
    assert reading.operands == ("push", "--force")
    assert reading.certainly("-f")
    assert reading.certainly("--force-with-lease")
    assert not reading.possibly("--force")
    assert reading.nothing_but(("-u", "-f", "-C", "--force-with-lease"))
    assert not reading.nothing_but(("-u", "-C", "--force-with-lease"))


@each(
    ("text", "expected"),
    [
        ("a", "/w/a"), ("./a//b/", "/w/a/b"), ("../a", "/a"), ("/x/./y", "/x/y"), ("a/*", "/w/a"), ("*", "/w"), ("/*",
         "/"), ("a*/b", "/w"),
        ("a/../b", ""), ("a/*/../b", ""), ("a/.*", ""), ("~/a", ""), ("~", ""), ("a…", ""), ("host:a", ""), ("http://h/a",
         ""), ("../../a", "/a"),
    ],
)  # fmt: skip
def test_only_certain_paths_count(text: str, expected: str) -> None:
    assert certain_path(text, "/w") == expected


def test_folders() -> None:
    assert lies_in("/a/b", "/a")
    assert lies_in("/a", "/a")
    assert lies_in("/a", "/")
    assert not lies_in("/ab", "/a")
    assert not lies_in("", "/")
    assert lies_in("/a/x/build/y", "/a/*/build")
    assert not lies_in("/a/x/y/build", "/a/*/build")
    assert lies_in("/a/x/y/build", "/a/**/build")


def test_a_path_forbids_the_plain_name_and_allows_only_itself() -> None:
    deny = Rule(
        name="x", action="deny", program=("/usr/bin/nc",), match=("nc h 1", "/usr/bin/nc h", "/tmp/nc h", "sudo nc h")
    )
    assert failing_example(deny) == ""
    allow = Rule(
        name="x", action="allow", program=("/opt/x/run",), match=("/opt/x/run a",), not_match=("run a", "/opt/y/run a")
    )
    assert failing_example(allow) == ""


@each(
    ("command", "says", "why"),
    [
        ("rm build/x", "no", ""),
        ("ls", "no", ""),
        ("rm -rf ~/b*", "no", ""),
        ("echo x > build/y", "no", ""),
        ("rm ~/photos/*.jpg", "yes", "it reaches ~/photos"),
        ("rm -rf ~", "yes", "~/photos lies in /home/you"),
        ("cd ~ && rm -rf */", "yes", "*/ matches ~/photos"),
        ("echo x > ~/photos/y", "yes", "it reaches ~/photos"),
        ("rm ~/phot*/a", "maybe", "it may reach ~/photos, because /home/you/phot*/a may match it"),
        ("rm ~/phot?s/a", "maybe", "it may reach ~/photos, because /home/you/phot?s/a may match it"),
        ("rm -r ~/p[!x]*", "maybe", "it may reach ~/photos, because /home/you/p[!x]* may match it"),
        ("echo x > ~/phot*/y", "maybe", "it may reach ~/photos, because /home/you/phot*/y may match it"),
        ("rm $x", "maybe", "it may reach ~/photos, because what it is given is only known when it runs"),
        ("echo x > $x", "maybe", "it may reach ~/photos, because what it is given is only known when it runs"),
    ],
)
def test_a_rule_on_a_path_is_about_what_can_reach_it_and_says_how(command: str, says: str, why: str) -> None:
    rule = Rule(name="photos", action="deny", program=("*",), paths=("~/photos",))
    place = Place(workspace="/home/you/p", home="/home/you")
    report = classify(command, RiskContext(cwd="/home/you/p", home="/home/you", workspace="/home/you/p"))
    matches = [touches(rule, index, report, place) for index in range(-1, len(report.programs))]
    best = max(matches, key=lambda match: ("no", "maybe", "yes").index(match.says))
    assert best.says == says
    assert says == "no" or best.why == why
