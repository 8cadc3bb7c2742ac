"""Judge programs over files whose options are a language of their own: tar, dd, install, setfacl, chmod, rsync, rm, mv, split."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocations.endless import ENDLESS, VAST, judge_endless, size_of
from agent.risk.invocations.leaks import is_kept
from agent.risk.paths.absolute import absolute
from agent.risk.paths.secret_paths import names_secret
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word, runs_only
from agent.risk.tables.options import Args, spelled_out, split_args
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_TAR_RUNS = (
    "--to-command -I --use-compress-program --rsh-command --rmt-command -F --info-script --new-volume-script".split()
)


def tar(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """tar: list, create, extract; and the options that run programs."""
    bundle = spelled_out(table.name, [word.text for word in invocation.words[1:]])
    if bundle is not None:
        args = split_args([invocation.words[index + 1].part(text) for text, index in bundle], table)
    operands = list(args.operands)
    modes = "".join(name[1:] for name in args.names if re.fullmatch(r"-[a-zA-Z]", name))
    archive = args.value("-f", "--file")
    for word in args.values(*_TAR_RUNS):
        walker.script(word.text, invocation.place_of(word), invocation)
    for word in args.values("--checkpoint-action"):
        if word.text.startswith("exec="):
            walker.add("run", [word], invocation.place, reason="has tar run another program", rule="tar.execute")
            walker.script(word.text[5:], invocation.place, invocation)
    place = invocation.place
    if "x" in modes or args.has("--extract", "--get"):
        if args.has("-O", "--to-stdout") or "O" in modes:
            return None
        target = args.value("-C", "--directory") or Word(".", *place)
        walker.add("extract", [target], place, invocation=invocation)
        if args.has("-P", "--absolute-names"):
            walker.add(
                "extract", [Word("/", *place)], place, level=Level.HIGH, reason="unpacks to wherever the archive says"
            )
    elif "c" in modes or args.has("--create"):
        return _pack(walker, invocation, args, operands)
    elif re.search("[ruA]", modes) or args.has("--append", "--update", "--delete", "--concatenate"):
        walker.add("modify", [archive] if archive is not None else [], place, invocation=invocation)
    return None


def _pack(walker: Walker, invocation: Invocation, args: Args, operands: list[Word]) -> Output | None:
    """tar c: what it reads, writes and takes away, and that keys and passwords lie in home, /etc or everything."""
    archive, folder, place = args.value("-f", "--file"), args.value("-C", "--directory"), invocation.place
    to_file = archive is not None and archive.text != "-"
    if archive is not None and to_file:
        walker.add("write", [archive], place, invocation=invocation)
    for word in operands:
        walker.add("read", [word], place, invocation=invocation)
    if args.has("--remove-files"):
        gone = [word.part(f"{folder.text}/{word.text}") for word in operands] if folder is not None else operands
        walker.add("delete", gone, place, recursive=True, invocation=invocation)
    start = absolute(folder.text, invocation.cwd) if folder is not None else invocation.cwd
    whole = any(walker.rater.scopes.of(word, start, recursive=True) in _HOLDERS for word in operands)
    if to_file or not (whole or any(absolute(word.text, start) in _OF_SYSTEM for word in operands)):
        return None
    named = any(names_secret(word, start) for word in operands)
    return None, "file credential secret" if named else "file credential"


_HOLDERS = ("home-all", "everything", "users")
_OF_SYSTEM = ("/etc", "/root", "/var", "/var/lib", "/run/secrets")


def dd(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """dd: key=value operands."""
    source: Output = invocation.stdin or (None, "")
    into: list[Word] = []
    sizes = dict(word.text.partition("=")[::2] for word in invocation.words[1:])
    for word in invocation.words[1:]:
        key, _, value = word.text.partition("=")
        part = word.part(value)
        if key == "of":
            into.append(part)
            scope = walker.rater.scopes.of(part, invocation.cwd)
            device = scope == "device" or _stands_for_device(walker, part)
            walker.add("device-write" if device else "write", [part], invocation.place, invocation=invocation)
        elif key == "if":
            scope = walker.rater.scopes.of(part, invocation.cwd)
            known = walker.files.read(part, invocation.cwd)
            source = known or (
                None,
                "file secret" if scope == "secrets" or names_secret(part, invocation.cwd) else "file",
            )
            if value in ENDLESS:
                source = None, "file endless"
            walker.add("read", [part], invocation.place, invocation=invocation)
    bytes_copied = size_of(sizes.get("count", "")) * size_of(sizes.get("bs", "512"))
    if "count" in sizes and bytes_copied < VAST:
        source = source[0], source[1].replace("endless", "").strip()
    judge_endless(walker, invocation, into, source[1])
    walker.reads = not into
    return (None, "") if into else source


def reserve(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """fallocate -l SIZE FILE, mkfile SIZE FILE: more than there is leaves nothing for anyone else."""
    if any(size_of(word.text.removeprefix("--length=")) >= VAST for word in invocation.words[1:]):
        judge_endless(walker, invocation, args.operands[-1:], "endless")
    return None


_DEVICE = lazily(r"of=[\"']?\$\{?\w*?(?:disk|dev|drive|usb|card|stick)", re.I)


def _stands_for_device(walker: Walker, word: Word) -> bool:
    """Tell whether a target that is not known is most likely a device: another command names it, or a variable called after one."""
    if not word.text.startswith(UNKNOWN):
        return False
    return (
        not {"cmd", "every"}.isdisjoint(word.taint.split())
        or _DEVICE.search(walker.text, word.start, word.end) is not None
    )


def lends_rights(mode: str) -> bool:
    """Tell whether a mode lets everyone who runs the file have its owner's or group's rights."""
    if mode.isdigit():
        digits = mode.lstrip("0")
        return len(digits) == 4 and digits[0] in "24567"
    return re.search(r"(?:^|,)[ugoa]*[+=][rwxX]*s", mode) is not None and not mode.startswith("g+s")


_KEPT = ("secrets", "account-secret")


def opens_reading(mode: str) -> bool:
    """Tell whether a mode lets the group or everyone read."""
    if mode.isdigit():
        return any(digit in "4567" for digit in mode[-2:]) and len(mode) > 1
    return re.search(r"(?:^|,)(?:[ugoa]*[goa][ugoa]*|)[+=][wxXst]*r", mode) is not None


def install(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """install -m MODE: the rights that the copy gets."""
    mode = args.value("-m", "--mode")
    if mode is not None and not args.has("-d", "--directory") and lends_rights(mode.text):
        walker.add("setuid", args.operands[-1:], invocation.place)
    return None


_FOR_OTHERS = lazily(r"(?:^|,)(?:d(?:efault)?:)?(?:o(?:ther)?:{1,2}|[ug](?:ser|roup)?:[^:,]+:)([rwxX0-7-]+)")


def setfacl(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """setfacl -m: reading for others, or for somebody by name, as chmod gives it."""
    given = "".join(
        found[1] for word in args.values("-m", "--modify", "--set") for found in _FOR_OTHERS.finditer(word.text)
    )
    if re.search(r"[r4567]", given):
        kept = [word for word in args.operands if walker.rater.scopes.of(word, invocation.cwd) in _KEPT]
        if kept:
            walker.add(
                "permission-wide", kept, invocation.place, reason="lets others read {targets}", invocation=invocation
            )
    return None


def chmod(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """chmod: the mode says whether it opens, closes, or lets others run as the owner."""
    recursive = args.has("-R", "--recursive")
    operands = list(args.operands)
    mode = ""
    given = [w.text for w in invocation.words[1:] if re.fullmatch(r"-[rwxXst]+", w.text)]
    if args.has("--reference"):
        pass
    elif given and not [w for w in operands if re.fullmatch(r"[0-7]{1,5}|[ugoa]*[-+=].*", w.text)]:
        mode = given[0]
    elif operands:
        mode, operands = operands[0].text, operands[1:]
    place = invocation.place
    digits = mode if mode.isdigit() else ""
    if lends_rights(mode):
        walker.add("setuid", operands, place)
    wide = bool(digits and digits[-1] in "2367") or (
        bool(re.search(r"(?:^|,)(?:[ugo]*[oa][ugoa]*|)[+=][rxXst]*w", mode)) and "u+w" not in mode
    )
    if UNKNOWN in mode:
        wide = False
    if wide and operands:
        walker.add(
            "permission-wide",
            operands,
            place,
            recursive=recursive,
            invocation=invocation,
            level=Level.HIGH if recursive else None,
        )
    if opens_reading(mode):
        kept = [word for word in operands if walker.rater.scopes.of(word, invocation.cwd, recursive=recursive) in _KEPT]
        if kept:
            walker.add("permission-wide", kept, place, reason="lets others read {targets}", invocation=invocation)
    if digits in ("000", "0000", "0") and recursive:
        walker.add("chmod", operands, place, level=Level.HIGH, reason="locks everyone out of {targets}")
    walker.add("chmod", operands, place, recursive=recursive, invocation=invocation)
    return None, ""


_SSH_RUNS = lazily(
    r"command|include|pkcs11|securitykey|match|\s-[A-Za-z0-9]*(?-i:[FI])", re.I
)  # in any case of letters


def rsync(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """rsync: where to, and whether it deletes."""
    for word in args.values("-e", "--rsh", "--rsync-path"):
        if not runs_only(word.text, ("ssh",)) or _SSH_RUNS.search(word.text):
            walker.script(word.text, invocation.place, invocation)
    sent = [word for word in args.values("--early-input") if is_kept(walker, invocation, word)]
    if sent:
        walker.add("send-secret", sent, invocation.place, invocation=invocation)
    if not args.names.isdisjoint(table.dry) or len(args.operands) < 2:
        return None, ""
    target = args.operands[-1]
    place = invocation.place
    names = args.names
    if any(name.startswith("--del") for name in names):
        reason = "deletes from {targets} whatever the source does not have"
        walker.add("delete", [target], place, level=Level.HIGH, reason=reason, rule="delete.sync")
    if args.has("--remove-source-files", "--remove-sent-files"):
        reason = "deletes the source files after copying"
        walker.add("delete", args.operands[:-1], place, level=Level.HIGH, reason=reason, rule="delete.source")
    for word in args.operands[:-1]:
        walker.add("read", [word], place, invocation=invocation)
    if re.match(r"(?:[\w.-]+@)?[\w.-]+:", target.text) or target.text.startswith("rsync://"):
        secret = any(walker.rater.scopes.of(w, invocation.cwd) in (*_KEPT, "history") for w in args.operands[:-1])
        walker.add("send-secret" if secret else "send", [target], place)
        from agent.risk.programs.network import judge_far_copy

        judge_far_copy(walker, invocation, target)
    else:
        walker.add("copy-to", [target], place, invocation=invocation)
    return None, ""


def remove(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """rm and friends: deletes its operands; what they are decides."""
    if args.has("--no-preserve-root"):
        walker.add("delete", [Word("/", *invocation.place)], invocation.place, recursive=True, rule="delete.root")
    if not args.operands and invocation.words[0].text.rpartition("/")[2] == "rm" and args.has("-r", "-R", "-f"):
        walker.add("delete", [], invocation.place, level=Level.MEDIUM, rule="delete.nothing")
    return None


def move(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """mv: onto a device that swallows everything, it replaces that for the whole system, or fails."""
    over = [word for word in args.operands[1:][-1:] if walker.rater.scopes.of(word, invocation.cwd) == "null"]
    if over:
        walker.add(
            "device-write", over, invocation.place, reason="puts a file in the place of {targets}", rule="move.device"
        )
    return None


def split(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """split FILE [PREFIX], csplit -f PREFIX FILE …: writes files whose names begin with the prefix."""
    own = invocation.words[0].text.rpartition("/")[2] != "csplit"
    prefix = args.operands[1] if own and len(args.operands) > 1 else args.value("-f", "--prefix")
    walker.add("write", [prefix or Word("x", *invocation.place)], invocation.place, invocation=invocation)
    return None
