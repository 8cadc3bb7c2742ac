"""The home that code takes from the environment is the person's: writing a start-up file or a key below it is high."""

from __future__ import annotations

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each

FILES = (".bashrc", ".ssh/authorized_keys")


@each(
    "template",
    [
        'awk \'{{print > (ENVIRON["HOME"] "/{0}")}}\' a',
        'awk \'BEGIN{{h=ENVIRON["HOME"]; f=h "/{0}"; print "x" > f}}\'',
        'python3 -c \'import os; open(os.environ["HOME"]+"/{0}","w").write("x")\'',
        'python3 -c \'import os; open("%s/{0}" % os.environ["HOME"],"w").write("x")\'',
        'ruby -e \'File.write(ENV["HOME"]+"/{0}","x")\'',
        'node -e \'require("fs").appendFileSync(require("path").join(process.env.HOME,"{0}"),"x")\'',
        'perl -e \'open(F,">",$ENV{{HOME}}."/{0}"); print F "x"\'',
        'php -r \'file_put_contents(getenv("HOME")."/{0}","x");\'',
        'lua -e \'io.open(os.getenv("HOME").."/{0}","w"):write("x")\'',
    ],
)
def test_a_file_that_starts_something_or_lets_in_is_high(template: str) -> None:
    for file in FILES:
        assert classify(template.format(file)).level is Level.HIGH, file
    assert classify(template.format("notes.txt")).level is not Level.HIGH


def test_reading_it_is_not_writing_it() -> None:
    for command in (
        'python3 -c \'import os; print(open(os.environ["HOME"]+"/.bashrc").read())\'',
        'awk \'BEGIN{print ENVIRON["HOME"] "/.bashrc"}\'',
    ):
        assert classify(command).level is Level.LOW, command
