"""Options by which programs that are meant for something else run commands, load code or open shells.

One line a family: names, then `option:kind`. Kinds: `sh` shell text · `argv` a program and its words, split at blanks or
commas · `ex` a command of vi · `file` a file of code · `lib` a library · a language for the inline scanner · `shell` opens a
shell by itself. An option that ends in `=` is a beginning of an operand or of the option's value, as in `APT::X=`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from agent.risk.invocation import Invocation
from agent.risk.scopes import absolute
from agent.risk.words import UNKNOWN, Word

if TYPE_CHECKING:
    from agent.risk.walk import Walker

_TEXT = r"""
vim vi nvim gvim vimx rvim view rview vimdiff nvimdiff gvimdiff ex vim.basic vim.tiny vim.nox | -c:ex --cmd:ex +:ex -S:file
less more most pg zless | +!:sh
gcc g++ cc c++ c89 c99 clang clang++ gfortran tcc | -wrapper:argv -fplugin=:lib -specs=:file
tex latex pdftex pdflatex xetex xelatex luatex lualatex lualatex-dev etex dvips | :tex
latexmk | -e:perl -latex=:sh -pdflatex=:sh -r:file
m4 | :m4
rpm rpmbuild rpmquery rpmverify rpmdb rpmspec | --eval:rpm -E:rpm --load:file --pipe:sh --define:rpm -D:rpm
nmap | --interactive:shell --script=:nse --script:nse
lftp ftp sftp psftp ncftp smbclient tftp telnet | -c:bang -e:bang
mail mailx heirloom-mailx s-nail mutt | --exec=:bang --exec:bang
openvpn | --up:sh --down:sh --ipchange:sh --route-up:sh --tls-verify:sh --client-connect:sh --learn-address:sh --plugin:lib
split | --filter:sh --filter=:sh
wget | --use-askpass:file --use-askpass=:file
yt-dlp youtube-dl | --exec:sh --exec=:sh --exec-before-download:sh --external-downloader:argv --downloader:argv --netrc-cmd:sh
gem | -e:argv --editor:argv
pip pip2 pip3 easy_install | --editor:argv --python:argv
hg | --config:hg
apt apt-get aptitude apt-cache apt-mark | -o:apt -c:file --config-file=:file
dpkg | --pre-invoke=:sh --post-invoke=:sh --status-logger=:sh
man | -H:sh --html=:sh
bat batcat glow delta | --pager:sh --pager=:sh
enscript | -I:sh --filter=:sh
scrot maim | -e:sh --exec:sh --exec=:sh
certbot acme.sh | --pre-hook:sh --post-hook:sh --deploy-hook:sh --renew-hook:sh --manual-auth-hook:sh --reloadcmd:sh
borg | --rsh:argv --rsh=:argv
restic rclone | --password-command:sh --password-command=:sh --sftp-ssh:argv
scp sftp | -S:argv -D:argv
zip | -TT:sh --unzip-command:sh --unzip-command=:sh
tar gtar bsdtar cpio | --rsh-command:argv --rsh-command=:argv
sqlmap | --eval:python --eval=:python
exiftool | -if:perl
gimp | -b:python --batch:python
blender | --python-expr:python -P:file --python:file
ghc | -e:haskell
octave octave-cli | --eval:octave
clisp ecl | -x:lisp
slsh | -e:slang
emacs emacsclient | --eval:elisp -eval:elisp -e:elisp --execute:elisp
ssh slogin autossh scp sftp sshfs check_by_ssh | -o:ssh
tshark wireshark | -X:wlua
tcpdump | -z:argv
logrotate | --mail:argv -m:argv
start-stop-daemon | -x:argv --exec:argv --exec=:argv -a:argv --startas:argv --startas=:argv
run-parts | :runparts
service invoke-rc.d | :service
socket | -p:listen -svp:listen -qvp:listen -sp:listen -vp:listen
telnetd in.telnetd utelnetd | -l:listen -L:listen -debug:listen
busctl | --address=unixexec::unixexec
openssl | -engine:lib -provider-path:lib
curl | --engine:lib
ssh-agent ssh-add ssh-keygen | -D:lib -s:lib
node nodejs | -r:lib --require:lib --import:lib --loader:lib
redis-cli | --eval:file
mpv vlc | --script:file --script=:file
pidstat | -e:rest
xdotool | exec:rest
nsenter | -t:host --target:host --target=:host --mount=:host -m/proc/1/:host
capsh | :capsh
lxc lxd incus | security.privileged=:privileged source=:mounted
kubectl oc | --overrides:pod --overrides=:pod
jrunscript jjs irb jshell kotlinc scala-cli | -e:java --eval:java
jjs jrunscript jshell irb ghci tclsh wish | :typed
go rustc gcc cc g++ clang tcc | :typed
docker podman nerdctl | --security-opt:confine --security-opt=:confine
msfvenom | -p:payload --payload:payload
ansible | -a:sh
code codium code-insiders | tunnel:tunnel
ruby | -run:serve
csvtool | call:sh
julia | -e:julia
rake | -p:ruby -e:ruby
journalctl dmesg | --pager:sh
genie rc es elvish xonsh nu osh yash posh sash tmate pexec tmux | -c:inner
systemd-run | -S:opened --shell:opened
ed red ex vi vim ftp lftp sftp psftp ncftp smbclient telnet mail mailx ginsh tdbtool bconsole cpan top tasksh scanmem gdb | :typed-bangs
nano pico | -s:argv --speller:argv
cpan cpanm | :installs
knife | -E:ruby
nginx | -g:module
php | -d:setting
sqlite3 sqlite litecli | :read-first
csplit | -f:written --prefix=:written
uudecode | -o:written
screen | -Logfile:written
gdb lldb | -ex:gdb -iex:gdb -ex=:gdb --eval-command=:gdb --eval-command:gdb -o:gdb --one-line:gdb --batch:gdb -x:file
aria2c axel fetch lwp-download tftp ftp lftp smbget ncftpget | -o:saved -O:saved -r:saved -l:saved :saves
ztcp | :connects
getent | shadow:told gshadow:told
secret-tool keyring | search:told lookup:told get:told
nmcli | show-password:told --show-secrets:told
aws | aws_secret_access_key:told aws_session_token:told
apparmor_parser | -R:unprotect --remove:unprotect
grub-install grub2-install lilo extlinux | :boot
passwd | -l:account -u:account -d:account -e:account --lock:account --delete:account
7z 7za 7zr 7zz | -sdel:removes
xmrig minerd cpuminer ccminer ethminer cgminer bfgminer nbminer t-rex lolminer xmr-stak claymore phoenixminer srbminer | :mine
cowsay cowthink neofetch | -f:path --config:path
fzf | --bind:bind --bind=:bind
"""


@lru_cache(maxsize=1)
def _ways() -> dict[str, tuple[tuple[str, str], ...]]:
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for line in _TEXT.strip().splitlines():
        names, _, options = line.partition("|")
        pairs = tuple((option.rpartition(":")[0], option.rpartition(":")[2]) for option in options.split())
        for name in names.split():
            found[name] = found.get(name, ()) + pairs
    return found


def programs_with_ways() -> dict[str, list[str]]:
    """Every program that has a way out, with the options that lead there."""
    return {name: [option for option, _ in ways] for name, ways in _ways().items()}


def judge_ways_out(walker: Walker, name: str, invocation: Invocation) -> None:
    """Findings for what `name` is told to run, besides what its table and handler say."""
    ways = _ways().get(name)
    if ways is None:
        return
    for option, kind in ways:
        for word in _values(invocation.words, option):
            _take(walker, invocation, kind, word)


def _values(words: list[Word], option: str) -> list[Word]:
    """What `option` is given: the next word, or what follows it in the same one. No option: the program itself."""
    if not option:
        return words[:1]
    found: list[Word] = []
    for index, word in enumerate(words[1:], 1):
        text = word.text
        if text == option and not option.endswith("="):
            found.append(words[index + 1] if index + 1 < len(words) else word.part(""))
        elif (option.endswith(("=", "+", "!", ":")) or (len(option) == 2 and option[0] == "-")) and (
            text.startswith(option) and len(text) > len(option)
        ):
            found.append(word.part(text[len(option) :]))
    return found


def _take(walker: Walker, invocation: Invocation, kind: str, word: Word) -> None:
    before = len(walker.findings)
    _judge(walker, invocation, kind, word)
    if kind != "inner" and not walker.suspecting and any(f.rule == "run.shell" for f in walker.findings[before:]):
        name = invocation.words[0].text.rpartition("/")[2]
        reason = f"has {name} open a shell, in which nothing is checked"
        walker.add("shell-escape", [], invocation.place, reason=reason)


def _judge(walker: Walker, invocation: Invocation, kind: str, word: Word) -> None:
    judge = _KINDS.get(kind)
    if judge is not None:
        judge(walker, invocation, word)
    else:  # a language
        from agent.risk import inline_code

        inline_code.judge(walker, invocation, word.text, kind, word.taint)
        _runs(walker, invocation, word)


def _runs(walker: Walker, invocation: Invocation, word: Word) -> None:
    name = invocation.words[0].text.rpartition("/")[2]
    walker.add("run", [word], invocation.place, reason=f"has {name} run {{targets}}", rule="escape.run")


def _shell_text(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text.strip():
        walker.script(word.text, invocation.place, invocation)
        _runs(walker, invocation, word)


def _argv(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A program with its words; a plain `ssh` is what such options are for."""
    pieces = word.text.replace(",", " ").split()
    if not pieces or pieces[0].rpartition("/")[2] in ("ssh", "rsync", "vim", "vi", "nano", "gzip", "python3", "python"):
        return
    walker.script(word.text.replace(",", " "), invocation.place, invocation)
    _runs(walker, invocation, word)


def _rest(walker: Walker, invocation: Invocation, word: Word) -> None:
    texts = [other.text for other in invocation.words]
    rest = invocation.words[texts.index(word.text) :] if word.text in texts else []
    while rest and rest[0].text.startswith("-"):
        rest = rest[1:]
    if rest:
        walker.dispatch(invocation.inner(rest, invocation.words[0].text))
        _runs(walker, invocation, rest[0])


def _file(walker: Walker, invocation: Invocation, word: Word) -> None:
    from agent.risk.interpreters import program_file

    if word.text and word.text not in ("NONE", "/dev/null"):
        program_file(walker, invocation, word)


def _path(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A name is one of the program's own; a path is a file of code."""
    if "/" in word.text or not word.known:
        _file(walker, invocation, word)


def _library(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Machine code or a module from a file; a bare name is looked up where such things are installed."""
    if "/" in word.text or word.text.endswith((".so", ".dylib")) or not word.known:
        walker.add("environment", [word], invocation.place, reason="loads code from {targets}", rule="escape.library")


def _shell(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("shell-escape", [], invocation.place)


def _bang(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Commands of ftp and its like: `!command` runs it here."""
    for command in word.text.replace(";", "\n").splitlines():
        if command.strip().startswith("!"):
            _shell_text(walker, invocation, word.part(command.strip()[1:]))


def _hg(walker: Walker, invocation: Invocation, word: Word) -> None:
    name, _, value = word.text.partition("=")
    if value.startswith("!") or name.startswith(
        ("hooks.", "extensions.", "ui.editor", "ui.ssh", "merge-tools.", "pager.")
    ):
        _shell_text(walker, invocation, word.part(value.lstrip("!")))


def _apt(walker: Walker, invocation: Invocation, word: Word) -> None:
    found = re.match(r"(?:APT|DPkg|Dir::Bin|Acquire)::[\w:-]*(?:Invoke\w*|Pager|Pkgs|ProxyAutoDetect|Tools|Options|Bin[\w:]*)[:]*=(.*)",
                     word.text, re.I | re.S)  # fmt: skip
    if found or word.text.lower().startswith("dir::bin"):
        _shell_text(walker, invocation, word.part(word.text.partition("=")[2]))


def _ssh(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`-o ProxyCommand=…` and the like, for the programs whose handlers do not look at them."""
    found = re.match(
        r"\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand|ssh_command|PKCS11Provider)[\s=]+(.*)",
        word.text,
        re.I | re.S,
    )
    if found and found.group(1).strip().lower() != "none":
        _shell_text(walker, invocation, word.part(found.group(1).lstrip(";& ")))


def _unixexec(walker: Walker, invocation: Invocation, word: Word) -> None:
    fields = [part.partition("=")[2] for part in word.text.split(",")]
    words = [word.part(field) for field in fields if field]
    if words:
        walker.dispatch(invocation.inner(words, "busctl"))
        _runs(walker, invocation, word)


def _rpm(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Macros: `%(command)` and `%{lua:code}`."""
    from agent.risk import inline_code

    for found in re.finditer(r"%\((.*)\)|%\{lua:(.*)\}", word.text, re.S):
        if found.group(1):
            _shell_text(walker, invocation, word.part(found.group(1)))
        elif found.group(2):
            inline_code.judge(walker, invocation, found.group(2), "lua", word.taint)


def _tex(walker: Walker, invocation: Invocation, word: Word) -> None:
    """TeX on the command line: \\write18, \\input|, \\directlua, and what allows them."""
    from agent.risk import inline_code

    for other in invocation.words[1:]:
        if re.fullmatch(r"--?(?:shell-escape|enable-write18|shell-restricted=no)", other.text):
            reason = "lets the document run any command"
            walker.add("run", [other], invocation.place, reason=reason, rule="escape.document")
        for found in re.finditer(
            r"\\write18\s*\{([^}]*)\}|\\input\s*\|\s*\"?([^\"}]*)|psfile=[\"'`]+([^\"']*)", other.text
        ):
            _shell_text(walker, invocation, other.part(next(group for group in found.groups() if group is not None)))
        for found in re.finditer(r"\\directlua\s*\{(.*)\}", other.text, re.S):
            inline_code.judge(walker, invocation, found.group(1), "lua", other.taint)


def _m4(walker: Walker, invocation: Invocation, word: Word) -> None:
    text = (invocation.stdin[0] if invocation.stdin else "") or ""
    for found in re.finditer(r"e?syscmd\((.*)\)", text):
        _shell_text(walker, invocation, word.part(found.group(1).strip("`'\" ")))


def _nse(walker: Walker, invocation: Invocation, word: Word) -> None:
    if re.search(r"[/$\0]|\.nse\b|tmp", word.text):
        _file(walker, invocation, word)
    if "exec" in word.text or "http-put" in word.text:
        walker.add("send", [word], invocation.place)


def _wireshark(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text.startswith("lua_script"):
        _file(walker, invocation, word.part(word.text.partition(":")[2]))


def _run_parts(walker: Walker, invocation: Invocation, word: Word) -> None:
    if any("regex" in other.text for other in invocation.words) or any(
        walker.rater.scopes.of(other, invocation.cwd) != "system" for other in invocation.words[-1:]
    ):
        _runs(walker, invocation, invocation.words[-1])
    if any(re.search(r"\b(?:ba|da|z|k)?sh\b", other.text) for other in invocation.words[1:]):
        _shell(walker, invocation, word)


def _service(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`service ../../bin/sh`: a name with a slash leaves the folder of services."""
    for other in invocation.words[1:2]:
        if "/" in other.text:
            path = other.part("/" + other.text.rpartition("..")[2].lstrip("/")) if ".." in other.text else other
            walker.dispatch(invocation.inner([path, *invocation.words[2:]], "service"))
            _runs(walker, invocation, other)


def _listen(walker: Walker, invocation: Invocation, word: Word) -> None:
    reason = "gives a shell or program on this machine to the network"
    walker.add("reverse-shell", [word], invocation.place, reason=reason, rule="reverse-shell.program")


def _bind(walker: Walker, invocation: Invocation, word: Word) -> None:
    for found in re.finditer(
        r"(?:execute|reload|become|preview|transform)\w*[(:\[{]+([^)\]}]*)",
        word.text.replace("execute-silent", "execute"),
    ):
        if UNKNOWN in found.group(1):
            _runs(walker, invocation, word)


def _host(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text == "1" or word.text.startswith(("/proc/1/", "ns/")) or "/proc/1/" in word.text:
        reason = "enters the namespaces of the host's first process"
        walker.add("container-host", [], invocation.place, reason=reason, rule="container.host-namespace")


def _capsh(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`capsh … -- words` gives the words to a shell."""
    texts = [other.text for other in invocation.words]
    cut = next((texts.index(mark) for mark in ("--", "==") if mark in texts), -1)
    if cut < 0:
        return
    if cut + 1 < len(texts):
        walker.dispatch(invocation.inner([word.part("bash"), *invocation.words[cut + 1 :]], "capsh"))
    else:
        walker.add("elevate-shell", [], invocation.place, reason="opens a shell with the rights it was told to keep")


def _privileged(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text.strip() not in ("false", "0"):
        walker.add("container-host", [], invocation.place, rule="container.privileged")


def _mounted(walker: Walker, invocation: Invocation, word: Word) -> None:
    from agent.risk.handlers_containers import gives_host

    if gives_host(word.text):
        walker.add("container-host", [word], invocation.place, rule="container.mount")


def _pod(walker: Walker, invocation: Invocation, word: Word) -> None:
    if re.search(
        r'"(?:privileged|hostPID|hostNetwork|hostIPC|allowPrivilegeEscalation)"\s*:\s*true|"hostPath"', word.text
    ):
        walker.add("container-host", [], invocation.place, rule="container.privileged")


def _confine(walker: Walker, invocation: Invocation, word: Word) -> None:
    if re.search(r"unconfined|label[:=]disable|systempaths", word.text):
        walker.add(
            "container-host",
            [word],
            invocation.place,
            reason="takes the confinement from a container",
            rule="container.confinement",
        )


def _payload(walker: Walker, invocation: Invocation, word: Word) -> None:
    if re.search(r"reverse|bind|meterpreter|shell", word.text):
        reason = "makes a program that gives a shell to the network"
        walker.add("reverse-shell", [word], invocation.place, reason=reason, rule="reverse-shell.made")


def _tunnel(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("tunnel", [], invocation.place)


def _serve(walker: Walker, invocation: Invocation, word: Word) -> None:
    if any("httpd" in other.text for other in invocation.words):
        walker.add("serve", [], invocation.place)


def _mine(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("miner", [], invocation.place)


def _typed(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Code on standard input of something that compiles or interprets it."""
    text, taint = invocation.stdin or ("", "")
    if text and text.strip(UNKNOWN + " \n"):
        from agent.risk import inline_code

        inline_code.judge(walker, invocation, text, word.text.rpartition("/")[2], taint)


def _gdb(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Commands of a debugger: a shell's, or Python's."""
    from agent.risk import inline_code

    text = word.text.strip()
    shell = re.match(r"(?:!|shell\s+|platform shell\s+|make\s+)(.+)|(?:shell|sh)$", text, re.S)
    if shell:
        _shell_text(walker, invocation, word.part(shell.group(1) or "sh"))
    elif code := re.match(r"(?:python|py|script|python-interactive|pi)\s+(.*)", text, re.S):
        inline_code.judge(walker, invocation, code.group(1), "python", word.taint)
        _runs(walker, invocation, word)
    for called in re.finditer(r"\b(?:system|execl?p?)\s*\(\s*\"([^\"]*)\"", text):
        _shell_text(walker, invocation, word.part(called.group(1)))


def _saved(walker: Walker, invocation: Invocation, word: Word) -> None:
    if word.text:
        walker.downloads.add(absolute(word.text, invocation.cwd))


def _saves(walker: Walker, invocation: Invocation, word: Word) -> None:
    """The names under which a downloader keeps what it fetches."""
    for other in invocation.words[1:]:
        if not other.text.startswith("-"):
            name = other.text.partition("?")[0].rstrip("/")
            walker.downloads.add(absolute(name.rpartition("/")[2] if "://" in name else name, invocation.cwd))


def _connects(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("send", invocation.words[1:], invocation.place, rule="network.device")


def _told(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("secret", [], invocation.place, rule="secret.shown")


def _unprotect(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("security-off", [word], invocation.place)


def _boot(walker: Walker, invocation: Invocation, word: Word) -> None:
    if not any(other.text in ("--version", "--help", "-V") for other in invocation.words):
        walker.add(
            "device-write",
            invocation.words[1:],
            invocation.place,
            reason="writes the boot loader",
            rule="device-write.boot",
        )


def _account(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("account", invocation.words[1:], invocation.place)


def _removes(walker: Walker, invocation: Invocation, word: Word) -> None:
    operands = [other for other in invocation.words[2:] if not other.text.startswith("-")]
    walker.add("delete", operands[1:], invocation.place, recursive=True, invocation=invocation)


def _opened(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("run", [], invocation.place, reason="opens a shell of its own", rule="run.shell")


def _typed_bangs(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Lines on standard input of programs that run `!command`; in those of an editor, `w file` writes."""
    text, _ = invocation.stdin or ("", "")
    for line in (text or "").splitlines()[:200]:
        found = re.match(r"\s*[:%\d,$.]*\s*(?:r|w|e|read|write|shell|platform shell)?\s*!\s*(\S.*)", line)
        if found:
            _shell_text(walker, invocation, word.part(found.group(1)))
        elif (saved := re.match(r"\s*[:%\d,$.]*\s*w[q!]?\s+([/~.\w][^\s!]*)\s*$", line)) and word.text.rpartition("/")[
            2
        ] in ("ed", "red", "ex"):
            walker.add(
                "write", [word.part(saved.group(1))], invocation.place, invocation=invocation, rule="editor.write"
            )


def _installs(walker: Walker, invocation: Invocation, word: Word) -> None:
    asks = re.compile(r"-[ACDJLOVXahlrv]$|--(?:info|look|version|help|details)")
    if any(not other.text.startswith("-") for other in invocation.words[1:]) and not any(
        asks.match(other.text) for other in invocation.words[1:]
    ):
        walker.add("package-install", invocation.words[1:], invocation.place)


def _module(walker: Walker, invocation: Invocation, word: Word) -> None:
    for found in re.finditer(r"load_module\s+([^;\s]+)", word.text):
        _library(walker, invocation, word.part(found.group(1)))


def _setting(walker: Walker, invocation: Invocation, word: Word) -> None:
    name, _, value = word.text.partition("=")
    if name in ("extension", "zend_extension"):
        _library(walker, invocation, word.part(value))
    elif name in ("auto_prepend_file", "auto_append_file") and value:
        _file(walker, invocation, word.part(value))


def _read_first(walker: Walker, invocation: Invocation, word: Word) -> None:
    operands = [other for other in invocation.words[1:] if not other.text.startswith("-")]
    walker.add("read", operands[:1], invocation.place, invocation=invocation)


def _written(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("write", [word], invocation.place, invocation=invocation)


def _ex(walker: Walker, invocation: Invocation, word: Word) -> None:
    from agent.risk.ex_commands import judge_ex

    judge_ex(walker, invocation, word)


_KINDS = {
    "sh": _shell_text, "argv": _argv, "rest": _rest, "file": _file, "path": _path, "lib": _library, "shell": _shell, "bang": _bang,
    "hg": _hg, "apt": _apt, "ssh": _ssh, "unixexec": _unixexec, "rpm": _rpm, "tex": _tex, "m4": _m4, "nse": _nse, "wlua": _wireshark,
    "runparts": _run_parts, "service": _service, "listen": _listen, "host": _host,
    "capsh": _capsh, "privileged": _privileged, "mounted": _mounted, "pod": _pod, "confine": _confine,
    "gdb": _gdb, "saved": _saved, "saves": _saves, "connects": _connects, "told": _told, "unprotect": _unprotect, "boot": _boot,
    "account": _account, "removes": _removes,
    "inner": _shell_text, "opened": _opened, "typed-bangs": _typed_bangs, "installs": _installs, "module": _module,
    "setting": _setting, "written": _written, "read-first": _read_first,
    "payload": _payload, "tunnel": _tunnel, "serve": _serve, "mine": _mine, "typed": _typed, "bind": _bind, "ex": _ex,
}  # fmt: skip
