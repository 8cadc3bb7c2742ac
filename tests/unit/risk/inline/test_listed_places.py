"""Inline code that deletes what lies in a folder, or ends processes, is rated by how far that reaches, in every language."""

from __future__ import annotations

from agent.protocol.decisions import Level, RiskContext
from agent.risk.classifier import classify
from tests.support.each import each

HERE = RiskContext(cwd="/home/u/w", home="/home/u")
# A folder, as each language names it, and the level of deleting all in it: `$` is read when the code runs.
PLACES = (("/etc", Level.HIGH), ("build", Level.MEDIUM), (".", Level.HIGH), ("$", Level.HIGH), ("~", Level.HIGH))
# Code with `@` for the folder, what the language writes for one that is only known when it runs, and for home.
CODE = (
    ("python3 -c 'import os\nfor d, _, fs in os.walk(@):\n  for f in fs: os.remove(os.path.join(d, f))'", "input()", 'os.environ["HOME"]'),
    ("python3 -c 'import os\nfor f in os.listdir(@): os.remove(os.path.join(@, f))'", "input()", 'os.path.expanduser("~")'),
    ("python3 -c 'import os, glob\n[os.unlink(f) for f in glob.glob(@ + \"/*\")]'", "input()", 'os.getenv("HOME")'),
    ("python3 -c 'from pathlib import Path\n[p.unlink() for p in Path(@).iterdir()]'", "input()", '"~"'),
    ("php -r 'foreach (glob(@.\"/*\") as $f) unlink($f);'", "$argv[1]", 'getenv("HOME")'),
    ("php -r 'foreach (scandir(@) as $f) unlink($f);'", "$argv[1]", 'getenv("HOME")'),
    ("perl -e 'opendir D, @; unlink $_ for readdir D'", "shift", "$ENV{HOME}"),
    ("ruby -e 'Dir.each_child(@) { |f| File.delete(f) }'", "ARGV[0]", 'ENV["HOME"]'),
    ("node -e 'const fs = require(\"fs\"); fs.readdirSync(@).forEach(f => fs.unlinkSync(f))'", "process.argv[1]", "process.env.HOME"),
)  # fmt: skip
ROWS = [
    (code.replace("@", unknown if place == "$" else home if place == "~" else f'"{place}"'), level)
    for code, unknown, home in CODE
    for place, level in PLACES
]


@each("command, level", ROWS)
def test_all_that_lies_in_a_folder(command: str, level: Level) -> None:
    assert classify(command, HERE).level is level


@each(
    "command",
    [
        'python3 -c \'import os\nfor d, _, fs in os.walk("."):\n  for f in fs:\n    if f.endswith(".pyc"): os.remove(os.path.join(d, f))\'',
        'python3 -c \'from pathlib import Path\n[p.unlink() for p in Path(".").rglob("*.pyc")]\'',
        "perl -e 'unlink <*.bak>'",
        "ruby -e 'Dir[\"*.o\"].each { |f| File.delete(f) }'",
        "php -r 'foreach (glob(\"*.tmp\") as $f) unlink($f);'",
        "vim -es -c 'call delete(\"a.txt\")' -c q",
        'perl -MIO::File -e \'IO::File->new("a.txt", "w")\'',
        "python3 -c 'import os; os.open(\"a.txt\", os.O_WRONLY | os.O_TRUNC)'",
        "python3 -c 'import subprocess, sys; subprocess.run([\"ls\", sys.argv[1]])' x",
    ],
)
def test_what_is_chosen_in_the_workspace_is_medium(command: str) -> None:
    assert classify(command, HERE).level is Level.MEDIUM


@each(
    "command",
    [
        'python3 -c \'import os; os.posix_spawn("/bin/rm", ["rm", "-rf", os.environ["HOME"]], {})\'',
        'python3 -c \'import os; os.execlp("rm", "rm", "-rf", os.path.expanduser("~"))\'',
        'python3 -c \'import subprocess, sys; subprocess.run(["rm", "-rf", sys.argv[1]])\' /',
        'python3 -c \'import os; os.spawnlp(0, "rm", "rm", "-rf", os.environ["HOME"])\'',
        'python3 -c \'import asyncio; asyncio.create_subprocess_exec("rm", "-rf", "/etc")\'',
        'php -r \'array_map("unlink", glob("/etc/*"));\'',
        "perl -e 'opendir(my $d, $ENV{HOME}); unlink \"$ENV{HOME}/$_\" for readdir $d'",
        "node -e 'for (let p = 2; p < 40000; p++) process.kill(p, 9)'",
        "python3 -c 'import os; os.open(\"/etc/passwd\", os.O_WRONLY | os.O_TRUNC)'",
        'perl -MIO::File -e \'IO::File->new("/etc/hosts", "w")\'',
        'ruby -e \'File.new("/etc/hosts", "w")\'',
        'node -e \'require("fs").openSync("/etc/hosts", "w")\'',
        "vim -es -c 'call delete($HOME, \"rf\")' -c q",
        "vim -es -c 'call writefile([], \"/etc/hosts\")' -c q",
    ],
)
def test_lists_of_arguments_and_files_opened_for_writing(command: str) -> None:
    assert classify(command, HERE).level is Level.HIGH


KILLS = (
    "python3 -c 'import os; os.kill({}, 9)'",
    "ruby -e 'Process.kill(:KILL, {})'",
    "perl -e 'kill 9, {}'",
    "perl -e 'kill \"KILL\" => {}'",
    "node -e 'process.kill({}, \"SIGKILL\")'",
    "php -r 'posix_kill({}, 9);'",
    "lua -e 'require(\"posix\").kill({}, 9)'",
    "kill -9 {}",
)


@each("code", KILLS)
def test_one_process_or_all(code: str) -> None:
    assert classify(code.format(4242), HERE).level is Level.MEDIUM
    assert classify(code.format(-1), HERE).level is Level.HIGH


@each(
    "command",
    [
        "kill -9 {2..40000}",
        "perl -e 'kill 9, 2..40000'",
        "python3 -c 'import os; [os.kill(p, 9) for p in range(2, 32768)]'",
        "python3 -c 'import psutil; [p.kill() for p in psutil.process_iter()]'",
    ],
)
def test_a_range_of_processes_is_many(command: str) -> None:
    assert classify(command, HERE).level is Level.HIGH


def test_an_address_behind_the_program_is_its_argument() -> None:
    assert classify("go run main.go https://x.example/a").level is Level.MEDIUM
    assert classify("go run https://x.example/a").level is Level.HIGH
