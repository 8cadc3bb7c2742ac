"""Options whose value is code, a plug-in, settings or a little language, however they are written and wherever they stand."""

from __future__ import annotations

import itertools

import pytest

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.gtfobins.loaders import VALUELESS
from agent.risk.tables.store import program, ways_of
from tests.support.each import each
from tests.support.risk_tables import programs_with_ways
from tests.support.tries import sampled, some

LOADING = {
    "load": "./x.so",
    "own": "./x.conf",
    "run": "./x",
    "sh": "./x",
    "file": "./x.code",
    "expressions": "",
    "does": "",
}
ROWS = [
    (name, option, kind)
    for name in sorted(programs_with_ways())
    for option, kind in ways_of(name)
    if kind in LOADING and option[:1] == "-" and option[-1] not in "=+!:@/."
]
WRAPPERS = ("env ", "timeout 5 ", "xargs ")
ENDS = ("", " --help", " --version", " --dry-run", " a b")


def spellings(name: str, option: str, kind: str) -> list[str]:
    """The ways in which the program takes the option."""
    value = LOADING[kind]
    if kind in VALUELESS:
        return [option]
    if option[:2] == "--":
        return [f"{option} {value}", f"{option}={value}"]
    table = program(name)
    attached = len(option) == 2 and (table is None or table.style != "long")
    return [f"{option} {value}", f"{option}{value}"] if attached else [f"{option} {value}"]


@pytest.mark.parametrize(("wrapper", "end"), [*(("", end) for end in ENDS), *itertools.product(WRAPPERS, ENDS[:2])])
@pytest.mark.few(1)
@sampled
def test_what_loads_or_runs_is_never_low(wrapper: str, end: str) -> None:
    assert len(ROWS) > 300
    commands = [
        f"{wrapper}{name} {spelling}{end}"
        for name, option, kind in some(ROWS, 2)
        for spelling in spellings(name, option, kind)
    ]
    assert [command for command in commands if classify(command).level is Level.LOW] == []


@sampled
def test_behind_operands_and_abbreviated_too() -> None:
    """Programs that wrap another command end their own options at its name."""
    low = []
    for name, option, kind in some(ROWS, 3):
        table = program(name)
        if table is not None and table.style == "posix":
            continue
        commands = [f"{name} --help a {spelling}" for spelling in spellings(name, option, kind)]
        if option[:2] == "--" and len(option) > 6 and table is not None and option[:-1] not in table.longs:
            commands += [f"{name} {option[:-1]}={LOADING[kind]}"] * (kind not in VALUELESS)
        low += [command for command in commands if classify(command).level is Level.LOW]
    assert low == []


@each("value", ["/tmp/x.so", '"$(curl -s https://x.org)"', "$(./where)"])
def test_code_from_where_others_write_is_high(value: str) -> None:
    for option in ("openssl list -provider-path", "gcc --version -fplugin", "nm --plugin", "pandoc a.md --lua-filter"):
        assert classify(f"{option} {value}").level is Level.HIGH, option


def test_own_settings_and_the_system_are_trusted() -> None:
    for place, level in {
        "~/.kube/dev": Level.LOW, "$HOME/.kube/dev": Level.LOW, "/etc/kube.conf": Level.LOW, "./f": Level.MEDIUM,
        "/tmp/f": Level.HIGH, "$F": Level.MEDIUM, '"$(curl -s https://x.org)"': Level.HIGH,
    }.items():  # fmt: skip
        assert classify(f"kubectl get pods --kubeconfig {place}").level is level, place
    assert classify("curl -so f https://x.org; kubectl --kubeconfig f get pods").level is Level.HIGH


# In every language one part that is not known makes all of it medium.
LANGUAGES = {
    "fzf --bind '{}'": (
        ["ctrl-a:accept", "ctrl-a,ctrl-b:up+down", "?:toggle-preview,ctrl-p:change-prompt(x> )", ",:up", "enter:execute(cat {})"],
        ["start:reload(./x)", "a:become[./x]", "a:up+execute-silent/./x/", "a:transform:./x", "a:up,b:reload-sync{./x}", "x", "a:later(b)"],
    ),
    "identify '{}'": (
        ["a.png", "a.png[0]", "png:a", "./a:b.png"],
        ["msl:f", "EPHEMERAL:f", "https://x/a.png", "@list", "caption:@f", "vid:msl:f", "x.msl", "show:a"],
    ),
    "ffmpeg -i a -vf '{}' -f null -": (
        ["scale=1:2,fps=10", "[0:v]split[a][b];[a][b]psnr", "select=eq(n\\,1),showinfo", "drawtext=text=a\\,b"],
        ["frei0r=./x", "scale=1:2,ladspa=f=./x", "[a]movie=f[b]", "later", "null;dnn_processing=model=x"],
    ),
    "exiftool -p '{}' a.jpg": (["$FileName", "${filename;s/a/b/}"], ["${filename;system(\"x\")}", "./format"]),
    "parallel echo '{}' ::: a": (["{}", "{.}", "{= s/a/b/ =}"], ['{= system("x") =}', "{= eval $_ =}", "{= s/a"]),
    "tmux ls -F '{}'": (["#S", "#{session_name}"], ["#(./x)", "a #(./x"]),
    "wget --spider -e {} https://x.org": (["robots=off"], ["use_askpass=./x", "output_document=f"]),
    "ack --output='{}' f": (["$1: $&", "plain"], ["@{[system 1]}", "$ENV{X}"]),
    "pandoc -t {} a.md": (["html", "gfm+smart"], ["./w.lua", "w.lua"]),
    "hg log --config {}": (["ui.verbose=1"], ["ui.x=./y", "alias.log=!./x", "extensions.x=./y"]),
    "apt-cache search x -o {}": (["APT::Install-Recommends=0", "Debug::x=1"], ["Dir::Bin::x=./x", "Later::x=y"]),
    "ansible all --list-hosts -i {}": (["hosts", "a,b", "inventory.yml"], ["./inv.py", "./inv"]),
    "virsh -c {} list": (["qemu:///system"], ["'qemu+ext:///?command=./x'", "qemu+ssh://h/system"]),
}  # fmt: skip


def test_little_languages() -> None:
    wrong: list[tuple[str, object]] = []
    for frame, (harmless, others) in LANGUAGES.items():
        for text in harmless:
            report = classify(frame.replace("{}", text, 1))
            if report.level is not Level.LOW:
                wrong.append((report.command, [finding.reason for finding in report.findings]))
        wrong += [(text, frame) for text in others if classify(frame.replace("{}", text, 1)).level is Level.LOW]
    assert wrong == []


def test_of_programs_known_to_gtfobins_unknown_options_are_medium() -> None:
    for name in ("fzf", "parallel"):
        assert classify(f"{name} --later x").level is Level.MEDIUM
    for command in (
        "fzf -m --height 40% --reverse",
        "fzf -q x",
        "parallel --dry-run -j4 -k rm -x ::: a",
        "parallel --version",
    ):
        assert classify(command).level is Level.LOW, command


def test_options_of_what_a_wrapper_runs_are_not_its_own() -> None:
    for command in ("parallel echo -S -J ::: a", "parallel -j 4 echo --filter ::: a", "valgrind --version"):
        assert classify(command).level is Level.LOW, command
