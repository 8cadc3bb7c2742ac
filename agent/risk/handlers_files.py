"""Programs over files whose options are a language of their own: find, sed, awk, tar, dd, rsync, chmod, zip."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocation import Invocation, Output
from agent.risk.knowledge_store import Program
from agent.risk.options import Args
from agent.risk.words import UNKNOWN, Word

if TYPE_CHECKING:
    from agent.risk.walk import Walker

_FIND_FILTERS = (
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin",
    "-size", "-newer", "-user", "-group", "-perm", "-inum", "-samefile", "-links", "-uid", "-gid", "-nouser", "-nogroup", "-lname",
    "-newermt", "-newerat", "-newerct", "-empty", "-executable", "-used",
)  # fmt: skip


def find(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """find: roots, then tests and actions in order."""
    words = invocation.words[1:]
    index = 0
    while index < len(words) and words[index].text in ("-H", "-L", "-P"):
        index += 1
    start = index
    while index < len(words) and words[index].text[:1] not in ("-", "(", "!"):
        index += 1
    roots = words[start:index] or [Word(".", *invocation.place)]
    narrowed = False
    while index < len(words):
        text = words[index].text
        if text in _FIND_FILTERS:
            value = words[index + 1].text if index + 1 < len(words) else ""
            narrowed = narrowed or value not in ("*", "*.*", ".*")
        elif text in ("-exec", "-execdir", "-ok", "-okdir"):
            index = _find_exec(walker, invocation, words, index, roots, narrowed)
            continue
        elif text == "-delete":
            _find_delete(walker, invocation, roots, narrowed)
        elif text in ("-fprint", "-fls", "-fprint0", "-fprintf") and index + 1 < len(words):
            walker.add("write", [words[index + 1]], invocation.place, invocation=invocation)
        index += 1
    return None


def _found_in(roots: list[Word], narrowed: bool) -> list[Word]:
    """The names find hands on, as words."""
    if not narrowed:
        return roots
    return [Word(f"{root.text.rstrip('/')}/{UNKNOWN}", root.start, root.end, taint="found") for root in roots]


def _find_delete(walker: Walker, invocation: Invocation, roots: list[Word], narrowed: bool) -> None:
    walker.add("delete", _found_in(roots, narrowed), invocation.place, recursive=True, invocation=invocation)


def _find_exec(
    walker: Walker, invocation: Invocation, words: list[Word], index: int, roots: list[Word], narrowed: bool
) -> int:
    end = index + 1
    while end < len(words) and words[end].text != ";" and not (words[end].text == "+" and words[end - 1].text == "{}"):
        end += 1
    targets = _found_in(roots, narrowed)
    command: list[Word] = []
    for word in words[index + 1 : end]:
        if word.text == "{}":
            command.extend(targets)
        elif "{}" in word.text:
            part = word.part(word.text.replace("{}", targets[0].text))
            part.taint = "found"
            command.append(part)
        else:
            command.append(word)
    if command:
        inner = invocation.inner(command, "find")
        inner.stdin = ("", "")
        walker.dispatch(inner)
    return end + 1


def fd(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """fd -x: like find -exec."""
    words = invocation.words[1:]
    for index, word in enumerate(words):
        if word.text in ("-x", "--exec", "-X", "--exec-batch"):
            found = Word(f"./{UNKNOWN}", *invocation.place, taint="found")
            command = [found if w.text == "{}" else w for w in words[index + 1 :] if w.text != ";"]
            if command:
                if not any(w.text == "{}" for w in words[index + 1 :]):
                    command.append(found)
                walker.dispatch(invocation.inner(command, "fd"))
            break
    return None


_SED_WRITE = re.compile(r"(?:^|[;{}\n/\d$!IiGgMmp\s])w\s+(\S+)")
_SED_EXEC = re.compile(
    r"(?:^|[;{}\n])\s*(?:\d+|\$|/[^/]*/)?(?:,(?:\d+|\$|/[^/]*/))?\s*!?\s*e(?:\s+([^\n;}]+)|\s*(?:$|[;}\n]))"
)
_SED_EXEC_FLAG = re.compile(
    r"^\s*(?:\d+|\$|/[^/]*/)?(?:,(?:\d+|\$|/[^/]*/))?\s*s(?P<d>[^\w\s\\])(?:\\.|(?!(?P=d)).)*(?P=d)(?:\\.|(?!(?P=d)).)*(?P=d)[gpimMI\d]*e",
    re.S | re.M,
)


def sed(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """sed: -i changes files; w writes, e runs."""
    scripts = [word for name, word in args.options if name in ("-e", "--expression") and word is not None]
    operands = args.operands
    if not scripts and not args.has("-f", "--file") and operands:
        scripts, operands = operands[:1], operands[1:]
    in_place = any(name.startswith("-i") or name.startswith("--in-place") for name in args.names) or args.has("-I")
    for script in scripts:
        text = script.text
        for match in _SED_EXEC.finditer(text):
            if match.group(1):
                walker.script(match.group(1), invocation.place, invocation)
            walker.add(
                "run-opaque",
                [script],
                invocation.place,
                reason="has sed run commands",
                rule="sed.execute",
                level=Level.MEDIUM,
            )
        if _SED_EXEC_FLAG.search(text):
            walker.add(
                "run-opaque",
                [script],
                invocation.place,
                reason="has sed run what it makes of its input",
                rule="sed.execute",
            )
        if re.search(r"w\s", text):
            for match in _SED_WRITE.finditer(_strip_sed(text)):
                if match.group(1) not in ("/dev/stdout", "/dev/stderr"):
                    walker.add(
                        "write",
                        [script.part(match.group(1))],
                        invocation.place,
                        invocation=invocation,
                        rule="sed.write",
                    )
    if in_place:
        walker.add("modify", operands, invocation.place, invocation=invocation)
    else:
        for word in operands:
            walker.add("read", [word], invocation.place, invocation=invocation)
    return None


def _strip_sed(text: str) -> str:
    """A sed script with the insides of s/…/…/ taken out, so that text is not read as commands."""
    return re.sub(r"s([^\w\s\\])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1", "/", text)


_AWK_SYSTEM = re.compile(r"\bsystem\s*\(([^;{}]*)\)")
_AWK_STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
_AWK_PIPE = re.compile(
    r'(?:"((?:\\.|[^"\\])*)"|([A-Za-z_$][\w$\[\]"]*))\s*\|&?\s*getline|\|&?\s*(?:"((?:\\.|[^"\\])*)"|([A-Za-z_]\w*))'
)
_AWK_REDIRECT = re.compile(r'(?:printf?\b[^;{}|]*?)(>>?)\s*("(?:\\.|[^"\\])*"|[A-Za-z_$][\w$]*(?:\s*"[^"]*")?)')


def awk(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """awk: system(), pipes and redirections inside the program."""
    operands = args.operands
    programs = args.values("-e", "--source")
    if not programs and not args.has("-f", "--file", "-E") and operands:
        programs, operands = operands[:1], operands[1:]
    for program in programs:
        _awk_program(walker, invocation, program)
    if args.has("-i") and any(word.text == "inplace" for word in args.values("-i", "--include")):
        walker.add("modify", operands, invocation.place, invocation=invocation)
    for word in operands:
        if "=" not in word.text:
            walker.add("read", [word], invocation.place, invocation=invocation)
    return None


def _awk_program(walker: Walker, invocation: Invocation, program: Word) -> None:
    text = program.text
    bare = _AWK_STRING.sub('""', re.sub(r"#[^\n]*", "", text))
    for match in _AWK_SYSTEM.finditer(text):
        strings = _AWK_STRING.findall(match.group(1))
        rest = _AWK_STRING.sub("", match.group(1)).strip()
        joined = (UNKNOWN if rest and rest[0] not in '"' and match.group(1).strip()[:1] != '"' else "") + "".join(
            strings
        )
        walker.script(_unescape(joined) + (UNKNOWN if rest else ""), invocation.place, invocation)
        walker.add("run", [program], invocation.place, reason="has awk run other programs", rule="awk.system")
    if "|" in bare.replace("||", "") and re.search(r"\|\s*(?:getline|\"\"|[A-Za-z_])", bare.replace("||", "")):
        for match in _AWK_PIPE.finditer(text.replace("||", "  ")):
            command = match.group(1) or match.group(3)
            if command:
                walker.script(_unescape(command), invocation.place, invocation)
            else:
                walker.add(
                    "run-opaque", [program], invocation.place, reason="has awk run what it computes", level=Level.MEDIUM
                )
    if ">" in bare and "print" in bare:
        for match in _AWK_REDIRECT.finditer(text):
            target = match.group(2)
            name = target.strip('"') if target.startswith('"') and target.endswith('"') else UNKNOWN
            if name.startswith(("/dev/std", "/inet")) and not name.startswith("/inet"):
                continue
            if match.group(0).count("(") > match.group(0).count(")") or (
                name == UNKNOWN and '"' in match.group(0)[: match.start(2)][-1:]
            ):
                continue
            kind = "append" if match.group(1) == ">>" else "write"
            word = program.part(name)
            walker.add(
                kind,
                [word],
                invocation.place,
                invocation=invocation,
                rule="awk.write",
                level=Level.MEDIUM if name == UNKNOWN else None,
            )
    if "/inet/" in text:
        walker.add("send", [program], invocation.place)
        if re.search(r"\|&?\s*getline|system", text):
            walker.add("reverse-shell", [], invocation.place)


def _unescape(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\").replace("\\n", "\n")


def tar(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """tar: list, create, extract; and the options that run programs."""
    operands = list(args.operands)
    modes = "".join(name[1:] for name in args.names if re.fullmatch(r"-[a-zA-Z]", name))
    archive = args.value("-f", "--file")
    if (
        operands
        and not modes.strip("vzjJC")
        and re.fullmatch(r"[A-Za-z]+", operands[0].text)
        and re.search("[cxtruA]", operands[0].text)
    ):
        modes += operands[0].text
        operands = operands[1:]
        if "f" in modes and operands and archive is None:
            archive, operands = operands[0], operands[1:]
    for word in args.values(
        "--to-command", "-I", "--use-compress-program", "--rsh-command", "-F", "--info-script", "--new-volume-script"
    ):
        walker.script(word.text, word_place(word, invocation), invocation)
    for word in args.values("--checkpoint-action"):
        if word.text.startswith("exec="):
            walker.add("run", [word], invocation.place, reason="has tar run another program", rule="tar.execute")
            walker.script(word.text[5:], invocation.place, invocation)
    place = invocation.place
    if "x" in modes or args.has("--extract", "--get"):
        if args.has("-O", "--to-stdout"):
            return None
        target = args.value("-C", "--directory") or Word(".", *place)
        walker.add("extract", [target], place, invocation=invocation)
        if args.has("-P", "--absolute-names"):
            walker.add(
                "extract", [Word("/", *place)], place, level=Level.HIGH, reason="unpacks to wherever the archive says"
            )
    elif "c" in modes or args.has("--create"):
        if archive is not None and archive.text != "-":
            walker.add("write", [archive], place, invocation=invocation)
        for word in operands:
            walker.add("read", [word], place, invocation=invocation)
        if args.has("--remove-files"):
            walker.add("delete", operands, place, recursive=True, invocation=invocation)
    elif re.search("[ruA]", modes) or args.has("--append", "--update", "--delete", "--concatenate"):
        walker.add("modify", [archive] if archive is not None else [], place, invocation=invocation)
    return None


def word_place(word: Word, invocation: Invocation) -> tuple[int, int]:
    return (word.start, word.end) if word.end > word.start else invocation.place


def dd(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """dd: key=value operands."""
    taint = ""
    for word in invocation.words[1:]:
        key, _, value = word.text.partition("=")
        part = word.part(value)
        if key == "of":
            scope = walker.rater.scopes.of(part, invocation.cwd)
            walker.add(
                "device-write" if scope == "device" else "write", [part], invocation.place, invocation=invocation
            )
        elif key == "if":
            scope = walker.rater.scopes.of(part, invocation.cwd)
            if scope == "secrets":
                taint = "secret"
            walker.add("read", [part], invocation.place, invocation=invocation)
    return None, taint or "file"


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
    if (
        digits
        and len(digits.lstrip("0") or "0") == 4
        and digits.lstrip("0")[0] in "2467"
        and digits.lstrip("0")[0] != "1"
    ):
        walker.add("setuid", operands, place)
    elif re.search(r"(?:^|,)[ugoa]*[+=][rwxX]*s", mode) and not mode.startswith("g+s"):
        walker.add("setuid", operands, place)
    wide = (
        bool(digits and digits[-1] in "2367")
        or bool(re.search(r"(?:^|,)(?:[ugo]*[oa][ugoa]*|)[+=][rxXst]*w", mode))
        and "u+w" not in mode
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
    if digits in ("000", "0000", "0") and recursive:
        walker.add("chmod", operands, place, level=Level.HIGH, reason="locks everyone out of {targets}")
    walker.add("chmod", operands, place, recursive=recursive, invocation=invocation)
    return None, ""


def rsync(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """rsync: where to, and whether it deletes."""
    for word in args.values("-e", "--rsh", "--rsync-path"):
        if not re.match(r"\S*ssh\b", word.text) or re.search(r"ProxyCommand|sh -c", word.text):
            walker.script(word.text, invocation.place, invocation)
    if args.has("-n", "--dry-run", "--list-only") or len(args.operands) < 2:
        return None, ""
    target = args.operands[-1]
    place = invocation.place
    names = args.names
    if any(name.startswith("--del") for name in names):
        walker.add(
            "delete",
            [target],
            place,
            level=Level.HIGH,
            reason="deletes what is not in the source from {targets}",
            rule="delete.sync",
        )
    if args.has("--remove-source-files", "--remove-sent-files"):
        walker.add(
            "delete",
            args.operands[:-1],
            place,
            level=Level.HIGH,
            reason="deletes the source files after copying",
            rule="delete.source",
        )
    for word in args.operands[:-1]:
        walker.add("read", [word], place, invocation=invocation)
    if re.match(r"(?:[\w.-]+@)?[\w.-]+:", target.text) or target.text.startswith("rsync://"):
        secret = any(walker.rater.scopes.of(w, invocation.cwd) in ("secrets", "account") for w in args.operands[:-1])
        walker.add("send-secret" if secret else "send", [target], place)
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


def crypt(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """openssl: decoding, network clients, secrets."""
    verb = args.operands[0].text if args.operands else invocation.words[1].text if len(invocation.words) > 1 else ""
    place = invocation.place
    output = args.value("-out", "-o")
    if output is not None:
        walker.add("write", [output], place, invocation=invocation)
    if verb in ("s_client", "s_server"):
        walker.add(
            "send" if invocation.stdin and invocation.stdin[0] != "" else "receive",
            [],
            place,
            level=None if invocation.stdin else Level.LOW,
        )
        return None, "net"
    if args.has("-d", "-decode"):
        return None, "opaque"
    return None, (invocation.stdin or (None, ""))[1]


def editor(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """vim, ex, emacs: opening is fine; commands on the line may run or write."""
    commands = args.values("-c", "--cmd", "--eval", "-e", "--execute", "-S") if table.name != "nano" else []
    commands += [word.part(word.text[1:]) for word in args.operands if word.text.startswith("+")]
    for word in commands:
        match = re.search(r"(?:^|[:|])\s*(?:[%\d,$.]*)?(?:r|w|read|write)?\s*!\s*(.+)", word.text)
        if match:
            walker.script(match.group(1), invocation.place, invocation)
            walker.add("run", [word], invocation.place, reason="has the editor run a command", rule="editor.execute")
        elif re.search(r"system\(|call-process|shell-command|py3?\b|lua\b|:?(?:w|wq|x)\b", word.text):
            walker.add(
                "modify",
                args.operands,
                invocation.place,
                reason="runs editor commands that can write or run",
                rule="editor.command",
            )
    for word in args.operands:
        if not word.text.startswith("+"):
            walker.add("read", [word], invocation.place, invocation=invocation)
    if invocation.elevated and any(
        walker.rater.scopes.of(w, invocation.cwd) in ("system", "account", "schedule") for w in args.operands
    ):
        walker.add("modify", args.operands, invocation.place, level=Level.MEDIUM, invocation=invocation)
    return None, ""
