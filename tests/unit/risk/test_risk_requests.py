"""Requests that change a server, secrets that a reader shows by its options, and refspecs that force a branch."""

from __future__ import annotations

import itertools

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each

ASKING = ("GET", "HEAD", "OPTIONS", "PROPFIND")
CHANGING = ("PURGE", "MOVE", "COPY", "MKCOL", "PROPPATCH", "LOCK", "BAN", "NEWMETHOD")


@each("form", ["curl -X {} http://x.org", "curl --request={} http://x.org", "http {} x.org", "xh {} x.org"])
def test_a_method_that_does_not_only_ask_is_no_reading(form: str) -> None:
    assert [verb for verb in CHANGING if classify(form.format(verb)).level is Level.LOW] == []
    assert [verb for verb in ASKING if classify(form.format(verb)).level is not Level.LOW] == []


@each("scheme", ["gopher://h:6379/_{}", "gopher://h:6379/1{}", "dict://h:6379/{}", "telnet://h:6379/{}"])
def test_commands_in_an_address_are_read_in_every_spelling(scheme: str) -> None:
    for word, encoded in itertools.product(("flushall", "FLUSHDB", "shutdown", "flush_all"), (False, True)):
        path = "".join(f"%{ord(letter):02x}" for letter in word) if encoded else word
        assert classify(f"curl {scheme.format(path)}").level is Level.HIGH, (scheme, path)


@each("item", ["a=b", "a:=1", "a@f", "a=@f", "a:=@f", "a.b=c", "a-b=c=d"])
def test_items_make_a_request_a_post(item: str) -> None:
    assert classify(f"http x.org {item}").level is Level.MEDIUM
    assert classify(f"http x.org q==1 {item}").level is Level.MEDIUM


@each("verb", ["rsa", "ec", "dsa", "pkey", "pkcs8", "pkcs12"])
def test_keys_that_are_printed_are_secrets(verb: str) -> None:
    shown = ("", "-text", "-noout -text", "-nodes", "-passin pass:x")
    assert [more for more in shown if classify(f"openssl {verb} -in f {more}").level is Level.LOW] == []
    assert classify(f"openssl {verb} -in f -noout").level is Level.LOW


@each("target", ["refs/heads/*", "main", "refs/heads/main", "heads/main", "refs/*"])
def test_a_forced_refspec_of_a_local_branch_is_high(target: str) -> None:
    source = "refs/heads/*" if "*" in target else "main"
    for verb, (sign, force) in itertools.product(("fetch", "pull"), (("+", ""), ("", "--force "), ("+", "-u "))):
        assert classify(f"git {verb} {force}origin '{sign}{source}:{target}'").level is Level.HIGH
    assert classify(f"git fetch origin '+{source}:refs/remotes/origin/x'").level is Level.LOW
