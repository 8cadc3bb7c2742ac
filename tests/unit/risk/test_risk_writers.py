"""Readers that can write or run: each option that does is found in every spelling, and judged by where it leads."""

from __future__ import annotations

from functools import cache

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.invocations.option_names import told_by
from agent.risk.tables.options import complete
from agent.risk.tables.store import Program, program, program_names
from tests.support.each import each

WRITES = ("write", "create", "append", "copy-to")
RUNS = ("run", "run-opaque", "run-remote")
UNHEARD = (
    "--some-log-file",
    "--save-as",
    "--outfile",
    "--output-path",
    "--writeTo",
    "--some-pager",
    "--exec-with",
    "--new-plugin",
    "--rcfile",
)


def spellings(option: str, value: str, table: Program) -> list[str]:
    if option.startswith("--"):
        short = [option[:-1]] if len(option) > 7 and complete(option[:-1], table.longs) == option else []
        return [f"{name}{sign}{value}" for name in (option, *short) for sign in ("=", " ")]
    if len(option) == 2 and table.style != "long":
        return [f"{option} {value}", f"{option}{value}"]
    return [f"{option} {value}"]


@cache
def readers() -> dict[str, list[Program]]:
    """Tables of programs that are low with a plain operand and have options that write or run, by the first letter of their names."""
    found: dict[str, list[Program]] = {}
    for name in sorted({table.name for known in program_names() if (table := program(known)) is not None}):
        table = program(name)
        if (
            table is not None
            and not table.wrap
            and set(table.roles.values()) & {*WRITES, *RUNS}
            and classify(f"{name} x").level is Level.LOW
        ):
            found.setdefault(name[0], []).append(table)
    return found


LETTERS = sorted({name[0] for name in program_names()})


def test_there_are_such_readers() -> None:
    assert sum(map(len, readers().values())) > 50


@each("letter", LETTERS)
def test_options_of_readers_are_judged_in_every_spelling(letter: str) -> None:
    low: list[str] = []
    for table in readers().get(letter, ()):
        for option, role in table.roles.items():
            if role not in (*WRITES, *RUNS):
                continue
            for text in spellings(option, "./other", table):
                low += [f"{table.name} {text} x"] if classify(f"{table.name} {text} x").level is Level.LOW else []
            for text in spellings(option, "/etc/motd", table) if role in WRITES else []:
                low += [f"{table.name} {text} x"] if classify(f"{table.name} {text} x").level is not Level.HIGH else []
    assert low == []


@each("letter", LETTERS)
def test_options_that_no_table_knows_are_judged_by_their_names(letter: str) -> None:
    for table in readers().get(letter, ()):
        if table.style == "none" or table.handler.startswith("programs.find"):
            continue
        for option in UNHEARD:
            for sign in ("=", " "):
                command = f"{table.name} {option}{sign}./other x"
                assert classify(command).level is not Level.LOW, command
            if told_by(option) == "write":
                assert classify(f"{table.name} {option}=/etc/motd").level is Level.HIGH


@each(
    "option",
    ["--output-format", "--log-level", "--no-config", "--save-only", "--output-width", "--exec-timeout", "--color"],
)
def test_what_is_about_the_manner_names_no_file(option: str) -> None:
    assert told_by(option) == ""
    assert classify(f"lscpu {option} x").level is Level.LOW


@each("value", ["json", "yaml", "table", "jsonpath={.x}", "NAME,SIZE", "-"])
def test_a_form_is_no_file(value: str) -> None:
    assert classify(f"lscpu --output {value}").level is Level.LOW


TWO_OPERANDS = ("uniq", "xxd", "pdftotext", "ps2pdf", "convert", "editcap", "python3 -m json.tool")


@each("program", TWO_OPERANDS)
def test_a_second_operand_that_is_written(program: str) -> None:
    assert classify(f"{program} a ./b").level is Level.MEDIUM
    assert classify(f"{program} a /etc/motd").level is Level.HIGH


BESIDE = (
    "curl -D {0} https://e.org", "curl -c{0} https://e.org", "curl --trace {0} https://e.org", "curl --stderr={0} https://e.org",
    "tree -o {0}", "curl -w '%output{{{0}}}x' https://e.org", "wget -O- -o {0} https://e.org", "gcc -MM -MF {0} a.c",
    "gcc -M -o {0} a.c", "cc -E -o {0} a.c", "strace -o {0} ls", "ltrace -o {0} ls", "/usr/bin/time -o {0} ls", "perf record -o {0} ls",
    "sort -uo{0} f", "iconv -o{0} f", "dot -o {0} f", "base64 -i f -o {0}", "openssl rand -out {0} 9", "gpg -o {0} -d f",
    "nmap -oN {0} h", "tcpdump -nw {0}", "script -q {0}", "git log --output={0}", "git diff --output {0}", "git shortlog --output={0}",
    "git archive -o {0} HEAD", "history -a {0}", "csplit -f{0} f 9", "identify -write {0} a", "rsync -n --log-file={0} a b",
    "varnishlog -w {0}", "gdu -o {0}", "ffprobe -o {0} a", "journalctl --cursor-file={0}", "gpgtar -o {0} a",
)  # fmt: skip


@each("command", BESIDE)
def test_files_that_are_written_by_the_way(command: str) -> None:
    assert classify(command.format("out")).level is not Level.LOW
    assert classify(command.format("/etc/motd")).level is Level.HIGH
