"""Options by which programs that are meant for something else run commands, load code or open shells.

One line a family: names, then `option:kind`. Kinds: `sh` shell text · `argv` a program and its words, split at blanks or
commas · `file` a file of code · `lib` a library · a language for the inline scanner · `shell` opens a
shell by itself. An option that ends in `=` is a beginning of an operand or of the option's value, as in `APT::X=`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from agent.risk.invocation import Invocation
from agent.risk.knowledge_store import Program
from agent.risk.knowledge_store import program as find_program
from agent.risk.words import Word

if TYPE_CHECKING:
    from agent.risk.walk import Walker
    from agent.risk.ways_general import Kind

_TEXT = r"""
less more most pg zless | +!:sh
gcc g++ cc c++ c89 c99 clang clang++ gfortran tcc | -wrapper:argv -fplugin=:lib -specs=:file
tex latex pdftex pdflatex xetex xelatex luatex lualatex lualatex-dev etex dvips | :tex
latexmk | -e:perl -latex=:sh -pdflatex=:sh -r:file
m4 | :m4
rpm rpmbuild rpmquery rpmverify rpmdb rpmspec | --eval:rpm -E:rpm --load:file --pipe:sh --define:rpm -D:rpm
nmap | --interactive:shell --script:nse
lftp ftp sftp psftp ncftp smbclient tftp telnet | -c:bang -e:bang
mail mailx heirloom-mailx s-nail mutt | --exec:bang
openvpn | --up:sh --down:sh --ipchange:sh --route-up:sh --tls-verify:sh --client-connect:sh --learn-address:sh --plugin:lib
split | --filter:sh
wget | --use-askpass:file
yt-dlp youtube-dl | --exec:sh --exec-before-download:sh --external-downloader:argv --downloader:argv --netrc-cmd:sh
gem | -e:argv --editor:argv
pip pip2 pip3 easy_install | --editor:argv --python:argv
hg | --config:hg
apt apt-get aptitude apt-cache apt-mark | -o:apt -c:file --config-file:file
dpkg | --pre-invoke:sh --post-invoke:sh --status-logger:sh
man | -H:sh --html:sh
bat batcat glow delta | --pager:sh
enscript | -I:sh --filter:sh
scrot maim | -e:sh --exec:sh
certbot acme.sh | --pre-hook:sh --post-hook:sh --deploy-hook:sh --renew-hook:sh --manual-auth-hook:sh --reloadcmd:sh
borg | --rsh:argv
restic rclone | --password-command:sh --sftp-ssh:argv
scp sftp | -S:argv -D:argv
zip | -TT:sh --unzip-command:sh
tar gtar bsdtar cpio | --rsh-command:argv
sqlmap | --eval:python
exiftool | -if:perl
gimp | -b:python --batch:python
blender | --python-expr:python -P:file --python:file
ghc | -e:haskell
octave octave-cli | --eval:octave
clisp ecl | -x:lisp
slsh | -e:slang
emacs emacsclient xemacs | --eval:elisp -eval:elisp -e:elisp --execute:elisp -execute:elisp
ssh slogin autossh scp sftp sshfs check_by_ssh | -o:ssh
tshark wireshark | -X:wlua
tcpdump | -z:argv
logrotate | --mail:argv -m:argv
start-stop-daemon | -x:argv --exec:argv -a:argv --startas:argv
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
mpv vlc | --script:file
pidstat | -e:rest
xdotool | exec:rest
nsenter | -t:host --target:host --mount:host -m/proc/1/:host
capsh | :capsh
lxc lxd incus | security.privileged=:privileged source=:mounted
kubectl oc | --overrides:pod
jrunscript jjs irb jshell kotlinc scala-cli | -e:java --eval:java
jjs jrunscript jshell irb ghci tclsh wish | :typed
go rustc gcc cc g++ clang tcc | :typed
docker podman nerdctl | --security-opt:confine
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
ftp lftp sftp psftp ncftp smbclient telnet mail mailx ginsh tdbtool bconsole cpan top tasksh scanmem gdb | :typed-bangs
nano pico | -s:argv --speller:argv
cpan cpanm | :installs
knife | -E:ruby
nginx | -g:module
php | -d:setting
sqlite3 sqlite litecli | :read-first
exiftool | -filename=:written -FileName=:written -W:written -o:written
rlwrap | -l:written --log-file:written --logfile:written
mypy pytest | --junit-xml:written --junitxml:written
screen tmux script | :shell-of-its-own
csplit | -f:written --prefix:written
uudecode | -o:written
screen | -Logfile:written
gdb lldb | -ex:gdb -iex:gdb -ex=:gdb --eval-command:gdb -o:gdb --one-line:gdb --batch:gdb -x:file
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
sift vnstati horst intel_gpu_top lstopo fatrace scanelf llvm-dwarfdump llvm-pdbutil wasm-decompile wasm-objdump | -o:written
ffprobe img2sixel timg meld kdiff3 h5dump wgrib lasinfo cct gpgsm gpgtar named-checkzone named-compilezone dnsviz scamper | -o:written
nexttrace dublin-traceroute gdu rmlint goaccess webalizer zdns onesixtyone iperf openmpt123 wildmidi mpv p0f | -o:written
httpry pcapfix dwarfdump audit2allow sar bootchart fiascotopnm pnmtofiasco lxc-info lxc-ls lxc-monitor lxc-wait lxc-top | -o:written
tcpflow cpuid sysdig csysdig monodis | -o:written
dnsx asnmap | -output:written
rmlint ngrep cpio rasm2 gdb-add-index colcrt | -O:written
varnishlog varnishncsa atop mpg123 mpg321 flac123 massdns sidplayfp mosquitto_sub | -w:written
collectl nmon sadf ogg123 | -f:written
identify | -write:written
units | -L:written --log:written
radeontop mplayer | -d:written -dumpfile:written
lvmconfig | -f:written --file:written
iptraf iptraf-ng clamscan clamdscan slapcat suricata snort | -l:written -L:written
json_pp | -f:format
dpkg-architecture | -c:sh --command:sh
gpg-agent | --daemon:rest
weechat weechat-curses weechat-headless | -r:run --run-command:run
newsboat newsbeuter | -x:run
nm objdump ar ld as gcc g++ cc c++ cpp size strip objcopy ranlib addr2line readelf strings c++filt javac java javadoc rustc | @:settings
fzf | --bind:bind
ps | :environments
php | -i:told --info:told
exiftool | :tags
ffmpeg ffplay ffprobe avconv | :filters -report:written -vstats:written -vstats_file:written
node nodejs | --redirect-warnings:written --cpu-prof:reports --heap-prof:reports --prof:reports
node nodejs | --trace-events-enabled:reports --report-on-signal:reports --report-uncaught-exception:reports
pandoc | --log:written --extract-media:written
pdftotext | :beside
docker docker-compose podman podman-compose | --lock-image-digests:reports
mlr miller | :mlr --prepipe:sh --prepipex:sh -s:file
jq yq gojq jaq | :jq
yq | -s:splits --split-exp:splits --split-exp-file:splits
less | -k:file --lesskey-file:file --lesskey-src:file --lesskey-content:run
man | -C:file --config-file:file
tar gtar bsdtar | --to-command:sh --info-script:sh --new-volume-script:sh -F:sh --index-file:written --volno-file:written --rmt-command:argv
wget | -o:written -a:written --output-file:written --append-output:written --save-cookies:written --rejected-log:written --warc-file:written
curl | -w:writeout --write-out:writeout
svn | --diff-cmd:argv --diff3-cmd:argv --editor-cmd:argv --merge-tool:argv --config-dir:run --config-option:run
openssl | -config:run -provider:lib -writerand:written -keylogfile:written -genconf:run -sess_out:written -msgfile:written
gcc g++ cc c++ c89 c99 clang clang++ gfortran cpp tcc | :compilers
rsync | --log-file:written --write-batch:written --only-write-batch:written
journalctl | --cursor-file:written
perf | :perf -o:written --output:written --objdump:argv --addr2line:argv
ip bridge tc rdma devlink | :batch
enscript a2ps | -p:written -o:written --output:written
java javac javap jps jstack jstat jarsigner keytool jdeps javadoc jshell | -J:jvm
java | -javaagent::run -agentpath::run -agentlib::run -XX:OnError=:sh -XX:OnOutOfMemoryError=:sh -XX:Flags=:file -XX:VMOptionsFile=:file
keytool jarsigner | -providerpath:run
gum | spin:rest
kak kakoune | -e:run -E:run
micro | -config-dir:run -plugin:run
strace ltrace psql pgcli | -o:piped --output:piped
"""

_MAX_VALUES = 30
_SHELLS = ("inner", "opened", "shell-of-its-own")  # of programs whose business that is


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
    walker.work.spend(len(ways) * len(invocation.words) / 16)
    left = _MAX_VALUES
    table = find_program(name)
    for option, kind in ways:
        for word in _values(invocation.words, option, table):
            if not left:
                reason = "is told to run more than can be looked through"
                walker.add("run-opaque", [], invocation.place, reason=reason)
                return
            left -= 1
            _take(walker, invocation, kind, word)


def _values(words: list[Word], option: str, table: Program | None) -> list[Word]:
    """What `option` is given: the next word, or what follows it in the same one. No option: the program itself."""
    if not option:
        return words[:1]
    found: list[Word] = []
    for index, word in enumerate(words[1:], 1):
        text = word.text
        if text == option and not option.endswith("="):
            rest: str | None = None
        elif option[:2] == "--" and option[-1] != "=":
            head, equals, value = text.partition("=")
            if not _abbreviates(head, option, table):
                continue
            rest = value if equals else None
        elif option.endswith(("=", "+", "!", ":", "@")) or (len(option) == 2 and option[0] == "-"):
            behind = _behind(text, option, table)
            if behind < 0:
                continue
            rest = text[behind:] or None
        else:
            continue
        found.append(
            word.part(rest) if rest is not None else words[index + 1] if index + 1 < len(words) else word.part("")
        )
    return found


def _abbreviates(text: str, option: str, table: Program | None) -> bool:
    """Whether `text` is the option, or the beginning of it that is no other option's name."""
    if text == option:
        return True
    return len(text) > 3 and option.startswith(text) and (table is None or text not in table.longs)


def _behind(text: str, option: str, table: Program | None) -> int:
    """Where the value begins behind an option in the same word, also at the end of a cluster (`-Nesc`); -1 for none."""
    short = len(option) == 2 and option[0] == "-"
    whole_words = short and table is not None and table.style == "long"
    if text.startswith(option) and len(text) > len(option):
        return -1 if whole_words and text[2].isalpha() else len(option)
    if not short or whole_words or text[:1] != "-" or text[1:2] == "-":
        return -1
    at = text.find(option[1], 2)
    before, rest = text[1:at], text[at + 1 :]
    valued = table is not None and any(
        f"-{letter}" in table.value and f"-{letter}" not in table.singles for letter in before
    )
    return at + 1 if at > 0 and before.isalpha() and not valued and not rest[:1].isalpha() else -1


def _take(walker: Walker, invocation: Invocation, kind: str, word: Word) -> None:
    before = len(walker.findings)
    _judge(walker, invocation, kind, word)
    if kind not in _SHELLS and not walker.suspecting and any(f.rule == "run.shell" for f in walker.findings[before:]):
        name = invocation.words[0].text.rpartition("/")[2]
        reason = f"has {name} open a shell, in which nothing is checked"
        walker.add("shell-escape", [], invocation.place, reason=reason)


def _judge(walker: Walker, invocation: Invocation, kind: str, word: Word) -> None:
    judge = _kinds().get(kind)
    if judge is not None:
        judge(walker, invocation, word)
    else:  # a language
        from agent.risk import inline_code
        from agent.risk.ways_general import runs

        inline_code.judge(walker, invocation, word.text, kind, word.taint)
        runs(walker, invocation, word)


@lru_cache(maxsize=1)
def _kinds() -> dict[str, Kind]:
    from agent.risk.ways_effects import EFFECTS
    from agent.risk.ways_general import GENERAL
    from agent.risk.ways_programs import PROGRAMS
    from agent.risk.ways_readers import READERS

    return {**GENERAL, **PROGRAMS, **READERS, **EFFECTS}
