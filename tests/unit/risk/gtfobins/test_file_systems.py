"""A console that works in a file system does to the file that is open what its commands say, wherever they come from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.tables.names import members
from tests.support.each import each

WRITES = sorted(members("file_systems.writes")["xfs_io"])
FORMS = (
    "xfs_io -c '{}' {}",
    "xfs_io -fc '{}' {}",
    "xfs_io -c stat -c '{}' {}",
    "xfs_io -C '{}' {}",
    "echo '{}' | xfs_io -f {}",
    "xfs_io {1} <<< '{0}'",
)


@each("form", FORMS)
def test_a_write_counts_as_one_to_the_file(form: str) -> None:
    for verb in WRITES:
        assert classify(form.format(f"{verb} 0 1m", "/etc/passwd")).level is Level.HIGH, verb
        assert classify(form.format(f"{verb} 0 1m", "a.img")).level is Level.MEDIUM, verb


@each("program", ["xfs_io", "xfs_db", "debugfs"])
def test_what_only_reads(program: str) -> None:
    option = "-R" if program == "debugfs" else "-c"
    for verb in sorted(members("file_systems.reads")[program] - {"?"}):
        assert classify(f"{program} {option} {verb} a.img").level is Level.LOW, verb


@given(st.sampled_from(("xfs_io", "xfs_db", "debugfs")), st.from_regex(r"[a-z]{1,8}_[a-z]{9}", fullmatch=True))
def test_a_command_that_is_not_known_is_never_low(program: str, verb: str) -> None:
    option = "-R" if program == "debugfs" else "-c"
    assert classify(f"{program} {option} '{verb} 0' a.img").level is not Level.LOW
    assert classify(f"echo {verb} | {program} a.img").level is not Level.LOW


@each(
    "command",
    [
        "xfs_io -c '!rm -rf /' a.img",
        "xfs_io -c 'open -f /etc/passwd' -c 'pwrite 0 1m'",
        "xfs_io -x -c 'shutdown -f' /mnt",
        "xfs_io -c freeze /mnt",
        "xfs_db -x -c 'write x 0' /dev/sda1",
        "debugfs -R 'open -w /dev/sda1'",
        "debugfs -R 'dump /x /etc/passwd' /dev/sda1",
        "debugfs -w -R 'rm /x' /dev/sda1",
    ],
)
def test_what_harms(command: str) -> None:
    assert classify(command).level is Level.HIGH


@each("command", ['debugfs -R "$X" /dev/sda1', "cat cmds | xfs_io a.img", "xfs_io -c 'pread -v 0 100' /etc/shadow"])
def test_what_cannot_be_seen_or_is_secret(command: str) -> None:
    assert classify(command).level is Level.MEDIUM


@each("console", ["xfs_io f", "debugfs -w f", "redis-cli", "nft -i", "virsh", "birdc"])
def test_a_line_counts_however_many_stand_before_it(console: str) -> None:
    shown, done = {
        "xfs_io f": ("stat", "truncate 0"),
        "debugfs -w f": ("stat a", "rm a"),
        "redis-cli": ("get x", "flushall"),
        "nft -i": ("list ruleset", "flush ruleset"),
        "virsh": ("list", "undefine x"),
        "birdc": ("show protocols", "disable all"),
    }[console]
    for count in (1, 60, 250):
        lines = "\n".join((*[shown] * count, done))
        assert classify(f"{console} <<'E'\n{lines}\nE").level is not Level.LOW, count


def test_what_debugfs_takes_out_by_an_option_is_written() -> None:
    assert classify("debugfs -R 'ea_get -f /etc/passwd f a' a.img").level is Level.HIGH
    assert classify("debugfs -R 'ea_get -f out f a' a.img").level is Level.MEDIUM
    assert classify("debugfs -R 'ea_get f a' a.img").level is Level.LOW


@each("program", ["xfs_io0", "debugfs1.2", "xfs_db-6"])
def test_a_version_in_the_name_is_read(program: str) -> None:
    for line in (f"{program} f", f"echo stat | {program} f", f"{program} -c stat f"):
        assert "could not be rated" not in " ".join(one.reason for one in classify(line).findings), line
