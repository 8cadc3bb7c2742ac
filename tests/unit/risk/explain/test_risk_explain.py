"""The explanation for people."""

from __future__ import annotations

from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify
from agent.risk.explain.report import explain
from tests.support.each import each


def test_a_tree_under_the_text() -> None:
    text = explain(classify("ls && rm -rf ~/old"))
    lines = text.split("\n")
    assert lines[0] == "high risk"
    assert lines[1] == "  ls && rm -rf ~/old"
    assert lines[2] == "        ~~~~~~~~~~~~"
    assert lines[3].strip().startswith("‼ high: deletes ")
    assert "taken back" not in text and "undone" not in text, "that is not for a rating to say"
    told = explain(classify("ls && rm -rf ~/old"), undo="cannot be undone: that is too much to keep")
    assert "\n  cannot be undone: that is too much to keep\n" in told
    assert "safer: " in text
    assert "part by part" in lines
    assert any(line.split()[:1] == ["rm"] for line in lines[lines.index("part by part") :])


def test_reading_is_said_to_be_reading() -> None:
    assert "read-only" in explain(classify("ls -la"))


def test_long_and_hostile_texts_stay_readable() -> None:
    text = explain(classify("ls " + "x" * 5_000 + "; rm -rf /etc\x1b[2K"))
    assert "\x1b" not in text
    assert all(len(line) < 300 for line in text.split("\n"))
    assert "partial" in explain(classify("ls; if"))


def test_many_findings_are_cut() -> None:
    text = explain(classify("; ".join(f"rm -rf /srv/{i}" for i in range(50))))
    assert "and 38 more" in text


@each(
    ("command", "reason"),
    [
        ("rm -rf ~", "deletes ~ with everything below"),
        ("rm -rf ~/x", "deletes ~/x with everything below"),
        ("find . -name '*.tmp' -delete", "deletes what find matches under ."),
        ("find /var/log -mtime +9 -delete", "deletes what find matches under /var/log"),
        ("find . -name '*.o' | xargs rm", "deletes what find matches under ."),
        ("find . -delete", "deletes all that lies below ."),
        ('rm "$FILE"', "deletes something only known when it runs"),
        ("ls | xargs rm -rf", "deletes something only known when it runs, with everything below"),
        ("cd /etc && rm x", "deletes /etc/x"),
        ("git reset --hard", "throws away uncommitted work"),
        ("mv a b", "may replace what is at b"),
        ("ln -s a b", "makes the link b"),
        ("rmdir empty", "removes the folder empty if it is empty"),
        ("chmod -R 700 x", "changes the permissions of x with everything below"),
        ("sudo apt-get update", "runs apt-get with another user's rights, usually root's"),
        ("docker run -it ubuntu bash", "opens a shell of its own"),
        ("make", "runs code that nobody has checked"),
        ("gpg --delete-keys x", "changes files, settings or data; which ones is unknown"),
        ("if true; then ls", "is not a complete command: fi is missing"),
    ],
)
def test_reasons_say_what_was_written(command: str, reason: str) -> None:
    assert reason in [finding.reason for finding in classify(command).findings]


def test_a_known_home_is_named() -> None:
    (finding,) = classify("rm -rf ~", RiskContext(cwd="/home/me/p", home="/home/me")).findings
    assert finding.reason == "deletes /home/me with everything below"


@each("command", ["ls > /dev/null", "make 2> /dev/null", "mkfs.ext4 /dev/sdb1", "tar xf a.tar"])
def test_nothing_untrue_is_added(command: str) -> None:
    reasons = " ".join(finding.reason for finding in classify(command).findings)
    assert "/dev/null" not in reasons
    assert "what that changes is not known" not in reasons


@each(
    "command",
    ["rm 'a\x1b[2Jb'", "rm 'a\nb'", "rm $'a\\rb'", "x\x07y", "f\x1b() { f | f & }; f", "cp a 'b\tc'", "rm '\u202eb'"],
)
def test_reasons_quote_no_control_characters(command: str) -> None:
    for finding in classify(command).findings:
        assert finding.reason.isprintable(), finding


@each(
    ("command", "hint"),
    [
        ("git stash drop", "git stash show -p"),
        ("git clean -fd", "add -n first"),
        ("git reset --hard", "git stash first"),
        ("rsync -a --delete a/ b/", "--dry-run"),
        ("crontab -r", "crontab -l > "),
        ("chmod 600 a", "note the old permissions first"),
        ("chmod -R 600 a", "instead of a whole tree"),
        ("tar czf a.tgz b", "a new name, or keep a copy"),
    ],
)
def test_what_would_be_safer_fits_the_command(command: str, hint: str) -> None:
    assert hint in classify(command).findings[0].safer


@each(
    ("command", "option", "meaning"),
    [
        ("sed -i.bak s/a/b/ f", "-i.bak", "changes the files themselves"),
        ("sed -Ei.bak s/a/b/ f", "-i.bak", "changes the files themselves"),
        ("perl -pi.orig -e s/a/b/ f", "-i.orig", "changes the files themselves"),
        ("gcc -O2 a.c", "-O2", "how hard"),
        ("gcc -Wall a.c", "-Wall", "warns about more"),
        ("tar -9czf a b", "-9", "the number 9"),
        ("ls -1a", "-1", "one to a line"),
        ("curl -sSL x", "-S", "shows errors"),
    ],
)
def test_an_option_with_something_attached_is_one(command: str, option: str, meaning: str) -> None:
    rows = [line.split(None, 1) for line in explain(classify(command)).split("part by part")[1].strip().split("\n")]
    (told,) = [row[1] for row in rows if row[0] == option]
    assert told.startswith(meaning)


@each(("command", "name"), [('rm -rf "$DIR"/', "DIR"), ("rm -rf ${out}/*", "out"), ("sudo rm -rf $A/b", "A")])
def test_a_deletion_names_the_variable_it_hangs_on(command: str, name: str) -> None:
    finding = next(f for f in classify(command).findings if f.rule.startswith("delete"))
    assert f"${name} may be empty" in finding.reason
    assert f"${{{name}:?}}" in finding.safer


def test_a_variable_of_inner_code_is_not_looked_for_in_the_outer_text() -> None:
    assert "may be empty" not in classify('bash -c "$X; rm -rf a"').findings[0].reason


def test_what_runs_in_two_ways_is_told_once() -> None:
    told = explain(classify("tar -xf a.tar --to-command=sh"))
    assert told.count("‼ a shell") == 1
