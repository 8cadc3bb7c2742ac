"""Name programs by what they need beside reading: the network, the kernel's word on interfaces, a service of this machine. Tables only."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


NETWORK = _names("""
    curl wget aria2c http https xh httpie ping ping6 fping arping traceroute traceroute6 tracepath mtr dig host nslookup kdig drill delv
    whois nc ncat netcat socat telnet nmap openssl ssh sftp scp ssh-keyscan rsync ftp lftp ntpdate chronyc gh glab hub npm yarn pnpm bun
    pip pip3 uv pipx poetry cargo rustup gem bundle go composer brew conda mamba kubectl k9s helm oc istioctl argocd flux aws gcloud gsutil
    bq az doctl hcloud linode-cli heroku flyctl fly vercel netlify wrangler terraform tofu pulumi ansible vault consul nomad psql mysql
    mariadb mysqladmin redis-cli mongosh sqlcmd cqlsh influx etcdctl kafka-topics rclone s3cmd mc minio restic borg docker podman skopeo
    crane svn hg rpm dnf yum snap flatpak yt-dlp w3m lynx links speedtest iperf3 snmpwalk snmpget ldapsearch smbclient showmount rpcinfo
    ntpq getent w who finger""")
"""Programs whose reading may go over the network."""

INTERFACES = _names("ifconfig arp route netstat iwconfig iwlist fuser brctl mii-tool nameif")
"""Programs that ask the kernel about interfaces through a socket, and send nothing."""

PRIVATE = dict.fromkeys(("gpg", "gpg2"), ".gnupg")
"""Programs that read nothing before they have made their own folder in the home folder, and its name."""

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
"""What runs unasked where nothing can be held: it writes nothing but its output, whatever its options. (`uniq` and `tree` are left out
where they name a file to write: the rating says so, and then they do not read plainly.)"""
