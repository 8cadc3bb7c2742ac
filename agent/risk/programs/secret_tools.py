"""Judge tools of keys and secrets: what openssl and gpg read, write, serve and show, and what sops and stores give to a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocations.endless import VAST, judge_endless, size_of
from agent.risk.invocations.leaks import judge_left
from agent.risk.reader.words import Invocation, Output, Word
from agent.risk.tables.names import names
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_KEYS = names("openssl.keys")
_DATA = names("openssl.data")
_PUBLIC = names("openssl.public")
_ENDS = frozenset(("", "Q"))  # what is typed at the other end, only to leave it
_WRITTEN = names("openssl.written")


def openssl(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """openssl: decoding, network clients and servers, keys."""
    verb = args.operands[0].text if args.operands else invocation.words[1].text if len(invocation.words) > 1 else ""
    place = invocation.place
    outputs = [word for word in args.values(*_WRITTEN) if word.text not in ("-", "/dev/stdout")]
    outputs = [word for word in outputs if not (verb == "dgst" and word in args.values("-signer", "-sigfile"))]
    if outputs:
        walker.add("write", outputs, place, invocation=invocation)
    _writes_unasked(walker, invocation, args, verb)
    if verb in _DATA:  # the others read certificates
        walker.add("read", args.values("-in"), place, invocation=invocation)
    if verb in _KEYS and _shows_key(args, verb):
        walker.add("secret", args.values("-in") or args.operands[1:], place, rule="secret.key")
    if verb == "engine" and len(args.operands) > 1:
        walker.add("run", args.operands[1:2], place, reason="loads the engine {targets}", rule="openssl.engine")
    if verb == "s_server" or (verb == "ocsp" and args.has("-port")) or (verb == "cmp" and args.has("-port")):
        walker.add("serve", [], place)
    if verb in ("s_client", "s_server"):
        text = "" if invocation.stdin is None else invocation.stdin[0]
        typed = text is None or text.strip() not in _ENDS
        walker.add("send" if typed else "receive", [], place, level=None if typed else Level.LOW)
        return None, "net"
    if verb == "rand" and any(size_of(word.text) >= VAST for word in args.operands):
        judge_endless(walker, invocation, outputs, "endless")
        return None, "endless"
    if args.has("-d", "-decode"):
        return None, "opaque"
    return None, (invocation.stdin or (None, ""))[1]


def _shows_key(args: Args, verb: str) -> bool:
    """Tell whether a private key is printed; `-text` prints it also with `-noout`."""
    if args.has("-out", "-o", "-help") or (args.has(*_PUBLIC) and not args.has("-text")):
        return False
    if verb == "storeutl":
        return args.has("-keys") or (args.has("-text") and not args.has("-certs", "-crls"))
    return args.has("-text") or not args.has("-noout")


def _writes_unasked(walker: Walker, invocation: Invocation, args: Args, verb: str) -> None:
    """Files that openssl writes without `-out`: a new key, a serial number, the list of an authority."""
    place = invocation.place
    if verb == "req" and args.has("-new", "-newkey", "-x509") and not args.has("-key", "-keyout", "-in"):
        named = [Word("privkey.pem", *place)]
        walker.add("write", named, place, invocation=invocation, level=Level.MEDIUM)
    elif verb in ("ca", "rehash", "srp", "fipsinstall", "tsget") or (verb == "ts" and args.has("-reply")):
        reason = "changes the files that its settings or folders name"
        walker.add("change", [], place, reason=reason, rule=f"openssl.{verb}")
    elif verb == "x509" and args.has("-CAcreateserial"):
        walker.add(
            "create", args.values("-CA"), place, level=Level.MEDIUM, reason="writes the serial number beside {targets}"
        )


_GPG_TELLS = names("gpg.tells")
_SHORTEST = 3  # what is longer may be short for another option


def gpg(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """gpg: without a word for what to do, it decrypts a file into another, or takes keys that are in it."""
    told = {option for rule in table.flags for group in rule.options for option in group}
    for name in sorted(args.names - told - _GPG_TELLS):
        meant = min((option for option in told if option.startswith(name)), key=len, default="")
        if meant and len(name) > _SHORTEST and not any(option.startswith(name) for option in _GPG_TELLS):
            args.add(meant)
    done = args.names & told
    if done and all(
        name.startswith("--export-secret") for name in done
    ):  # only seen where shown, given away where kept
        walker.add("secret", args.operands, invocation.place, invocation=invocation, rule="secret.gpg")
        for word in args.values("-o", "--output"):
            if word.text not in ("-", "/dev/null"):
                walker.add("write", [word], invocation.place, invocation=invocation)
                judge_left(walker, invocation, word, "secret")
        return None, "secret"
    if args.operands and not done and args.names.isdisjoint(_GPG_TELLS):
        reason = "decrypts {targets}, or does whatever else is in it"
        walker.add("secret", args.operands, invocation.place, reason=reason, rule="secret.guessed")
    return None


def secret_store(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`op run -- command`, `doppler run -- command`: the command runs with secrets in its environment."""
    texts = [word.text for word in invocation.words]
    if "--" in texts and any(verb in texts[1 : texts.index("--")] for verb in ("run", "exec")):
        command = invocation.words[texts.index("--") + 1 :]
        if command:
            walker.add("secret", [], invocation.place, reason="gives secrets to a program", rule="secret.run")
            walker.dispatch(invocation.inner(command, table.name))
            return None, ""
    return None


def sops(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`sops exec-env FILE COMMAND`: the command runs with the decrypted secrets."""
    verbs = [word.text for word in args.operands[:1]]
    if verbs and verbs[0] in ("exec-env", "exec-file") and len(args.operands) > 2:
        walker.add(
            "secret", args.operands[1:2], invocation.place, reason="gives secrets to a program", rule="secret.run"
        )
        for word in args.operands[2:]:
            walker.script(word.text, invocation.place, invocation)
        return None, ""
    return None
