"""Read from a rating what its command may do: the rights to which it is held where nobody looks at it. Pure.

What the rating does not say is no right: of a report that says nothing, only reading is left.
"""

from __future__ import annotations

import posixpath
import re
from typing import cast

from agent.protocol.approvals import Rights
from agent.protocol.confinement import Confinement
from agent.protocol.decisions import Effect, Finding, Level, ProgramRun, RiskContext, RiskReport
from agent.protocol.rehearsals import Change, Rehearsal


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


NETWORK = _names("""
    curl wget aria2c http https xh httpie ping ping6 fping arping traceroute traceroute6 tracepath mtr dig host nslookup kdig drill delv
    whois nc ncat netcat socat telnet nmap openssl ssh sftp scp ssh-keyscan rsync ftp lftp ntpdate chronyc gh glab hub npm yarn pnpm bun
    pip pip3 uv pipx poetry cargo rustup gem bundle go composer brew conda mamba kubectl k9s helm oc istioctl argocd flux aws gcloud gsutil
    bq az doctl hcloud linode-cli heroku flyctl fly vercel netlify wrangler terraform tofu pulumi ansible vault consul nomad psql mysql
    mariadb mysqladmin redis-cli mongosh sqlcmd cqlsh influx etcdctl kafka-topics rclone s3cmd mc minio restic borg docker podman skopeo
    crane svn hg rpm dnf yum snap flatpak yt-dlp w3m lynx links speedtest iperf3 snmpwalk snmpget ldapsearch smbclient showmount rpcinfo
    ntpq getent w who finger hdfs hadoop""")
"""Programs whose reading may go over the network."""

INTERFACES = _names("ifconfig arp route netstat iwconfig iwlist fuser brctl mii-tool nameif")
"""Programs that ask the kernel about interfaces through a socket, and send nothing."""

PRIVATE = frozenset({"gpg", "gpg2"})
"""Programs that read nothing before they have made their own folder in the home folder."""

EDITORS = _names(
    "vim vi nvim view nano pico emacs emacsclient micro hx helix kak joe mcedit ne jed code subl gedit kate"
)
"""Programs in which a person works, and says what is written."""

_CONTAINERS = _names("ps images logs inspect version info stats top port diff history") | frozenset(
    ("image ls", "container ls", "volume ls", "network ls", "image inspect", "container inspect", "volume inspect", "network inspect",
     "compose ps", "compose logs", "system df", "context ls")
)  # fmt: skip
_UNITS = _names("""status is-active is-enabled is-failed is-system-running list-units list-unit-files list-timers list-sockets list-jobs
    list-dependencies list-machines show cat help get-default show-environment""")
ASKS_SERVICES: dict[str, frozenset[str]] = {
    "docker": _CONTAINERS,
    "podman": _CONTAINERS,
    "nerdctl": _CONTAINERS,
    "systemctl": _UNITS | {""},
    "loginctl": frozenset(
        {"", "list-sessions", "list-users", "list-seats", "session-status", "user-status", "show-user"}
    ),
    "hostnamectl": frozenset({"", "status"}),
    "timedatectl": frozenset({"", "status", "show", "list-timezones", "timesync-status"}),
    "localectl": frozenset({"", "status", "list-locales", "list-keymaps"}),
    "resolvectl": frozenset({"", "status", "query", "statistics", "dns", "domain"}),
    "nmcli": frozenset({"", "general status", "device status", "device show", "connection show"}),
    "networkctl": frozenset({"", "list", "status"}),
    "busctl": frozenset({"", "list", "status", "tree", "introspect"}),
    "journalctl": frozenset(),
    "tmux": frozenset(
        {"ls", "list-sessions", "list-windows", "list-panes", "list-keys", "show-options", "display-message"}
    ),
    "ssh-add": frozenset({"-l", "-L"}),
    "lpstat": frozenset(),
    "xrandr": frozenset(),
    "snap": frozenset({"list", "info", "find", "version"}),
    "virsh": frozenset({"list", "dominfo", "net-list", "pool-list"}),
    "lxc": frozenset({"list", "info"}),
    "git": frozenset({"fetch", "ls-remote"}),  # its ssh asks an agent for keys
}
"""Programs that ask a service of this machine, with the words by which they only ask; none named: whatever is rated low."""

PLAIN_READERS = _names("""
    ls pwd date whoami id groups uname hostname uptime df du free ps pstree pgrep stat file wc head tail cat nproc arch tty true false
    echo printf basename dirname realpath readlink cksum sum md5sum sha1sum sha256sum sha512sum b2sum lsblk ss who last grep cut tr uniq nl
    tac rev column comm cmp diff seq expr test [ type cd lscpu lsmem lspci lsusb lsmod lsns findmnt mountpoint getconf locale tree which
    vmstat iostat mpstat""")
"""Programs that run unasked where nothing can be held: whatever their options, they only write output. (`uniq` and `tree` are left out
where they name a file to write: the rating says so, and then they do not read plainly.)"""


FILE_KINDS = frozenset(
    ("create", "write", "append", "modify", "copy-to", "move", "link", "extract", "delete", "delete-empty", "chmod", "chown", "truncate",
     "download", "permission-wide")
)  # fmt: skip
NETWORK_KINDS = frozenset(
    ("receive", "send", "download", "push", "publish", "remote-change", "remote-shell", "serve", "package-install")
)
_RECORDS = "vcs-safe"
_SWITCH = "vcs-switch"
_BOUNDED = {"read", "secret", "none"} | FILE_KINDS | NETWORK_KINDS | {_RECORDS, _SWITCH}
_GIT_RECORDS = frozenset({"fetch", "branch", "tag", "notes"})
_GIT_NETWORK = frozenset({"fetch", "ls-remote", "remote", "pull", "push", "clone"})
_GIT_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108
_WORKSPACE = ("workspace", "workspace-all")
_GIT = re.compile(r"/(?:\.git|git~\d)[. ]*(?:/|$)", re.I)
_SETS_UP = re.compile(
    r"^info(?:/|$)|(?:^|/)(?:hooks|config(?:\.[^/]*)?|commondir|gitdir|attributes|exclude|(?:http-)?alternates)(?:[./]|$)"
)
_BEGINS = re.compile(r"config|description|branches|hooks(?:/[\w-]+\.sample)?|info(?:/exclude)?")
_FOUNDING = frozenset(("-q", "--quiet", "-b", "--initial-branch"))
_GAINING = frozenset(("setuid", "setgid", "device"))


def rights(report: RiskReport, context: RiskContext) -> Rights | None:
    """The rights of `report`'s command in `context`; None where its rating leaves open what it does."""
    write: list[str] = []
    repositories: list[str] = []
    effects = [finding.effect for finding in report.findings]
    if report.level is not Level.LOW and any(effect is None or effect.kind not in _BOUNDED for effect in effects):
        return None
    network = False
    for finding in report.findings:
        effect = finding.effect
        if effect is None:
            continue
        network |= effect.kind in NETWORK_KINDS
        if effect.kind == _RECORDS:
            repositories += [_folder(run, context) for run in report.programs if _is_git(run)] or [context.cwd]
        elif effect.kind == _SWITCH:
            here = [_folder(run, context) for run in _programs(finding, report) if _is_git(run)]
            repositories += here
            write += [path for folder in here for path in _work_tree(folder, context)]
        elif effect.kind in FILE_KINDS:
            write += _paths(effect, folders_of(finding, report, context.cwd), context)
    for run in report.programs:
        network |= asks_network(run)
        if _is_git(run):
            repositories += [_folder(run, context)] if _git_verb(run) in _GIT_RECORDS else []
    founded = [folder for run in report.programs for folder in _founded(run, context)]
    names = {_name(run) for run in report.programs if not run.remote}
    return Rights(
        write=tuple(dict.fromkeys(write)),
        repositories=tuple(dict.fromkeys(repositories)),
        founded=tuple(dict.fromkeys(founded)),
        private=tuple({posixpath.join(context.home, ".gnupg")} if context.home and names & PRIVATE else ()),
        network=network or any(_name(run) in NETWORK for run in report.programs),
        interfaces=any(_name(run) in INTERFACES for run in report.programs),
        services=any(_asks_service(run) for run in report.programs),
    )


def opens_editor(report: RiskReport) -> bool:
    """Tell whether a person would work in it, and say what is written: no rating says that, so nothing could hold it."""
    return any(_name(run) in EDITORS for run in report.programs)


def as_confinement(rights_of_it: Rights) -> Confinement:
    """The same in the words of a setting, for what is confined besides."""
    files = "workspace" if rights_of_it.write or rights_of_it.repositories else "read-only"
    return cast("Confinement", files if rights_of_it.network else f"{files},no-network")


def changed_paths(rehearsal: Rehearsal) -> list[str]:
    """Return what a rehearsal has changed, and what it has moved it from."""
    return [path for change in rehearsal.changes for path in (change.path, change.source) if path]


def past(rights_of_it: Rights, rehearsal: Rehearsal) -> str:
    """Say what making a rehearsal real would change beside these rights, in words; "" for nothing."""
    paths = [
        path
        for change in rehearsal.changes
        for path in (change.path, change.source)
        if path and not _is_within(path, change, rights_of_it)
    ]
    changed = changed_words(paths, more=rehearsal.more > 0)
    return f"it would change {changed}, which its rating does not say" if changed else ""


def _is_within(path: str, change: Change, rights_of_it: Rights) -> bool:
    """Tell whether it would be one of these rights to change this path so, as the lock of an unasked run holds it."""
    if not _GAINING.isdisjoint(change.flags) or "/.agent-shell" in path.lower():
        return False
    before, after = change.before, change.after
    if change.kind == "dir" and before is not None and after is not None and before.mode == after.mode:
        return (before.uid, before.gid) == (after.uid, after.gid)  # its time, by what is changed in it
    found = _GIT.search(path)
    if found is not None:
        inside = path[found.end() :].lower()
        if before is None and any(holds(posixpath.join(folder, ".git"), path) for folder in rights_of_it.founded):
            return _SETS_UP.search(inside) is None or _BEGINS.fullmatch(inside) is not None
        return bool(rights_of_it.repositories and inside) and _SETS_UP.search(inside) is None
    if any(holds(folder, path) for folder in rights_of_it.write):
        return True
    return before is None and any(holds(folder, path) for folder in _TEMPORARY)


def changed_words(paths: list[str], *, more: bool) -> str:
    """The first of `paths`, which a rehearsal has changed and more perhaps; "" for none."""
    named = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    return named or ("more than is listed" if more else "")


def reads_plainly(report: RiskReport) -> bool:
    """Tell whether it only runs programs of which everybody knows that they only read, and the shell does nothing beside."""
    if report.level is not Level.LOW or report.parse != "ok" or report.cut or report.findings or not report.programs:
        return False
    return all(_name(run) in PLAIN_READERS and run.whole and not run.environment for run in report.programs)


def folders_of(finding: Finding, report: RiskReport, cwd: str) -> list[str]:
    """Return the folders that a finding's relative paths lie in: those of its program; of a redirection, of what it stands at."""
    runs = _programs(finding, report)
    if not runs:
        start, end = finding.span
        around = [run for run in report.programs if run.span[0] <= start and end <= run.span[1]]
        width = min((run.span[1] - run.span[0] for run in around), default=0)
        runs = [run for run in around if run.span[1] - run.span[0] == width]  # one for each folder it may run in
    return [run.cwd if run.cwd.startswith("/") and "\0" not in run.cwd else cwd for run in runs] or [cwd]


def _programs(finding: Finding, report: RiskReport) -> list[ProgramRun]:
    """Return the program that a finding is about, where it is about one."""
    return [report.programs[finding.program]] if 0 <= finding.program < len(report.programs) else []


def _work_tree(folder: str, context: RiskContext) -> list[str]:
    """Return where the files of a repository lie in which git works in `folder`: the workspace, or that folder where facts know it as one.

    A link to a folder gives nothing: that may be all of home.
    """
    if holds(context.workspace, folder):
        return _below(context)
    known = context.facts.get(folder, ())
    plain = "dir" in known and not any(fact.startswith(("at=", "to=", "link")) for fact in known)
    return [folder] if plain and not holds(folder, context.home) else []


def _paths(effect: Effect, folders: list[str], context: RiskContext) -> list[str]:
    """Return what may be written for an effect: the workspace as a whole, elsewhere what is named."""
    if effect.scope == "null":
        return []
    if effect.scope in _WORKSPACE and (workspace := _below(context)):
        return workspace
    known = [target for target in effect.targets if target and "…" not in target and "*" not in target]
    return [
        posixpath.normpath(posixpath.join(folder, target))
        for target in known
        for folder in folders
        if folder or target[0] == "/"
    ]


def _below(context: RiskContext) -> list[str]:
    """The workspace, where it may be written as a whole."""
    return [context.workspace] if context.workspace and not holds(context.workspace, context.home) else []


def holds(folder: str, path: str) -> bool:
    """Tell whether a path is a folder, or below it. (A workspace that holds home is none: what is written there runs by itself.)"""
    return bool(path) and f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")


def _name(run: ProgramRun) -> str:
    return posixpath.basename(run.words[0]) if run.words else ""


def _is_git(run: ProgramRun) -> bool:
    return _name(run) == "git" and not run.remote


def asks_network(run: ProgramRun) -> bool:
    """Tell whether git would ask a remote."""
    return _is_git(run) and _git_verb(run) in _GIT_NETWORK


def _git_verb(run: ProgramRun) -> str:
    words = iter(run.words[1:])
    for word in words:
        if word in _GIT_VALUES:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""


def _folder(run: ProgramRun, context: RiskContext) -> str:
    """Return where git would look for its repository."""
    folder = run.cwd or context.cwd
    for option, value in zip(run.words, run.words[1:], strict=False):
        if option == "-C":
            folder = posixpath.normpath(posixpath.join(folder, value))
    return folder


def _founded(run: ProgramRun, context: RiskContext) -> list[str]:
    """Return the folder of the workspace in which `git init` would make a repository as it always does: no template, nothing elsewhere."""
    words = list(run.words[1:])
    if not _is_git(run) or not run.whole or not words or words.pop(0) not in ("init", "init-db"):
        return []
    folders: list[str] = []
    while words:
        word = words.pop(0)
        if word in ("-b", "--initial-branch") and words:
            words.pop(0)
        elif not word.startswith("-"):
            folders.append(word)
        elif word.split("=")[0] not in _FOUNDING:
            return []
    folder = posixpath.normpath(posixpath.join(run.cwd or context.cwd, *folders[:1]))
    known = len(folders) < 2 and not any(char in folder for char in "…\0")
    return [folder] if known and any(holds(place, folder) for place in _below(context)) else []


def _asks_service(run: ProgramRun) -> bool:
    """Tell whether it is known to ask a program of this machine, and to ask only."""
    verbs = ASKS_SERVICES.get(_name(run))
    if verbs is None or not run.whole:
        return False
    operands = [word for word in run.words[1:] if not word.startswith("-")]
    said = {" ".join(operands[:count]) for count in range(min(2, len(operands)) + 1) if count or not operands}
    return not verbs or not verbs.isdisjoint(said | set(run.words[1:2]))
