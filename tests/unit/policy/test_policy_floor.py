"""The floor: what no file and no mode opens, and what only looks like it."""

from __future__ import annotations

import itertools
import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.policy.deciding import breach, decide
from agent.policy.model import Policy, PolicyFile, Rule
from agent.protocol.decisions import RiskContext, RiskReport
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.tries import tries

HOME = "/home/you"
WORK = f"{HOME}/work"


def rated(command: str, facts: dict[str, tuple[str, ...]] | None = None) -> RiskReport:
    return classify(command, RiskContext(cwd=WORK, home=HOME, workspace=WORK, facts=facts or {}))


def floor_of(command: str, facts: dict[str, tuple[str, ...]] | None = None) -> str:
    found = breach(rated(command, facts))
    return found[0] if found is not None else ""


HELD = [
    ("home", "rm -rf ~"),
    ("home", "rm -rf ~/"),
    ("home", "rm -rf ~/*"),
    ("home", "rm ~/*"),
    ("home", "rm -rf $HOME ./x"),
    ("home", "rm -rf ./build /etc/foo ~"),
    ("home", "cd ~ && rm -rf *"),
    ("home", "cd; rm -rf ."),
    ("home", "rm -rf .."),
    ("home", "rm -rf /home"),
    ("home", "rm -rf /home/*"),
    ("home", "rm -rf /home/bob"),
    ("home", "find ~ -delete"),
    ("home", "find ~ -type f -exec rm {} +"),
    ("home", "for f in ~/*; do rm -rf \"$f\"; done"),
    ("home", "rsync -a --delete empty/ ~/"),
    ("home", "cd ~ && git clean -fdx"),
    ("home", "git -C ~ clean -fdx"),
    ("home", "mv ~ /tmp/x"),
    ("home", "mv ~/* /tmp/x"),
    ("home", "chmod -R 777 ~"),
    ("home", "chown -R nobody ~"),
    ("home", "perl -e 'system(\"rm -rf ~\")'"),
    ("everything", "rm -rf /"),
    ("everything", "rm -rf --no-preserve-root /"),
    ("everything", "rm -rf /*"),
    ("everything", "find / -delete"),
    ("everything", "chown -R me /"),
    ("everything", "ssh host 'rm -rf /'"),
    ("system", "rm -rf /etc"),
    ("system", "rm -rf /usr/*"),
    ("system", "chmod -R 755 /var"),
    ("system", "mv /usr/lib /tmp"),
    ("mount", "rm -rf /mnt/disk"),
    ("mount", "rm -rf /media/you/stick/*"),
    ("mount", "rm -rf /Volumes/Backup"),
    ("disk", "dd if=/dev/zero of=/dev/sda"),
    ("disk", "dd if=x of=/dev/nvme0n1p2 bs=4M"),
    ("disk", "mkfs.ext4 /dev/sdb1"),
    ("disk", "wipefs -a /dev/sdc"),
    ("disk", "blkdiscard /dev/nvme0n1"),
    ("disk", "shred /dev/sda"),
    ("disk", "cat image > /dev/sda"),
    ("disk", "cat image | sudo tee /dev/sda"),
    ("disk", "cp image /dev/mmcblk0"),
    ("disk", "cat image > /dev/disk/by-id/x"),
]  # fmt: skip

FREE = [
    "rm -rf build", "rm -rf ~/work/build", "rm -rf ~/.cache", "rm -rf *", "rm -rf .", "rm ~/notes.txt", "rm ~/*.log",
    "rm -rf /etc/foo", "rm -rf /mnt/disk/old",
    "rm -rf /media/you/stick/old", "rm -rf /home/bob/x", "rm -rf /tmp/*", "find ~ -name '*.pyc' -delete", "find . -delete",
    "rsync -a --delete a/ b/",
    "git clean -fdx", "mv ~/a ~/b", "mv x ~", "chmod 700 ~", "chmod -R 755 ~/work", "chown me /", "ls -R /", "du -sh ~",
    "tar czf x.tgz ~",
    "dd if=/dev/sda of=image", "dd if=/dev/zero of=image bs=1M count=9", "mkfs.ext4 disk.img", "cat x > /dev/null",
    "echo x > /dev/ttyUSB0",
    "shred notes.txt", "echo 'rm -rf ~'", "git commit -m 'rm -rf /'", "grep -r 'rm -rf /' .", "cp ~/x /tmp", "head -c 9 /dev/sda",
    "cat x > /dev/stderr",
]  # fmt: skip


@each(("name", "command"), HELD)
def test_the_floor_holds(name: str, command: str) -> None:
    assert floor_of(command) == name


@each("command", FREE)
def test_what_the_floor_does_not_stop(command: str) -> None:
    assert floor_of(command) == ""


def test_facts_say_what_is_mounted_and_which_disk_is_in_use() -> None:
    assert floor_of("rm -rf /srv/data") == ""
    assert floor_of("rm -rf /srv/data", {"/srv/data": ("dir", "mount")}) == "mount"
    for command in ("rm -rf /srv/data/*", "cd /srv/data && rm -rf *", "mv /srv/data/* .", "find /srv/data -delete"):
        assert floor_of(command, {"/srv/data": ("dir", "mount")}) == "mount", command
    assert floor_of("rm -rf /srv/data/x*", {"/srv/data": ("dir", "mount")}) == ""


MAKERS = [
    "mkfs.ext4", "sudo mkfs -t xfs", "wipefs -a", "shred", "mkswap", "env -i blkdiscard", "cat image | sudo tee", "cp image",
    "bash -c 'wipefs -a \"$1\"' x",
]  # fmt: skip


@each("command", MAKERS)
@each("place", ["/dev/sdb1", "/dev/disk/by-id/x", "/dev/mapper/vg-lv"])
def test_a_disk_that_is_known_to_be_free_asks_for_the_word(command: str, place: str) -> None:
    """Nothing there, or nothing that uses it; what is in use, or cannot be told, is refused, and so is another machine's."""
    line = f"{command} {place}"
    for free in (("missing",), ("other", "device", "unused"), ("link", "to=/dev/sdz", "device", "unused")):
        facts = {place: free, "/dev/sdz": ("other", "device", "unused")}
        verdict = decide(rated(line, facts), Approval(mode="ask", interactive=True), policy=Policy())
        assert verdict.action == "type", free
        for elsewhere in ("ssh host", "docker run --privileged box", "sudo chroot /mnt/x", "nsenter -t 1 -m"):
            assert floor_of(f"{elsewhere} bash -c {shlex.quote(line)}", facts) == "disk", elsewhere
    for doubtful in (
        (),
        ("other",),
        ("other", "device"),
        ("link", "to=/dev/sdz"),
        ("other", "device", "in-use", "used=/srv"),
    ):
        assert floor_of(line, {place: doubtful}) == "disk", doubtful


def test_nothing_but_safety_off_opens_it() -> None:
    wide = Rule(name="all", action="allow", program=("rm",), paths=("/",))
    policy = Policy(files=(PolicyFile(path="/p/policy.toml", trust="user", rules=(wide,)),))
    for mode, interactive in itertools.product(("ask", "low", "medium"), (True, False)):
        approval = Approval(mode=mode, interactive=interactive)  # type: ignore[arg-type]
        verdict = decide(rated("rm -rf ~"), approval, policy=policy)
        assert (verdict.action, verdict.rule) == ("refuse", "floor.home")
        assert "--safety-off" in verdict.reason
    assert decide(rated("rm -rf ~"), Approval(safety_off=True), policy=policy).action == "ask"
    assert decide(rated("rm -rf ~"), Approval(safety_off=True, interactive=False)).action == "refuse"


def test_no_number_of_other_findings_hides_it() -> None:
    filler = "; ".join(f"rm -rf /etc/a{index}" for index in range(300))
    assert floor_of(f"{filler}; rm -rf ~") == "home"
    assert floor_of(f"rm -rf ~; {filler}") == "home"
    many = " ".join(f"./x{index}" for index in range(500))
    assert floor_of(f"rm -rf {many} ~") == "home"


WRAPS = [
    "{}", "sudo {}", "env A=1 {}", "nohup {} &", "time {}", "( {} )", "true && {}", "if true; then {}; fi", "ls | {}", "eval '{}'",
    "bash -c '{}'",
    "sh -c \"bash -c '{}'\"", "f() {{ {}; }}; f", "timeout 9 {}", "xargs -n1 {}", "x=1; {}", "echo '{}' | sh", "nice -n 5 sudo {}",
    "! {}",
]  # fmt: skip


@settings(max_examples=tries(90), deadline=None)
@given(
    st.sampled_from(["rm -rf ~", "rm -rf /", "find / -delete", "dd if=x of=/dev/sda", "chmod -R 777 /etc"]),
    st.lists(st.sampled_from(WRAPS[:10]), max_size=2),
    st.sampled_from(WRAPS),
)
def test_wrapping_does_not_walk_around_it(command: str, inner: list[str], outer: str) -> None:
    for wrap in inner:
        if "'" in wrap or "'" in command:
            continue
        command = wrap.format(command)
    assert floor_of(outer.format(command)), outer.format(command)


@settings(max_examples=tries(100), deadline=None)
@given(st.sampled_from(["rm -rf ~", "rm -rf /etc", "wipefs -a /dev/sda"]), st.data())
def test_quoting_does_not_walk_around_it(command: str, data: st.DataObject) -> None:
    quoted = "".join(
        letter
        if letter in " ~/" or not data.draw(st.booleans())
        else data.draw(st.sampled_from([f"'{letter}'", f'"{letter}"', f"\\{letter}"]))
        for letter in command
    )
    assert floor_of(quoted), quoted
