"""Words that tell a sentence from a command line: what sentences are made of, and names of programs that are words as well."""

from __future__ import annotations

# Seldom operands: articles, pronouns, prepositions, questions, and what says which of several things is meant.
NATURAL = frozenset(
    """
    a an the this that these those my your our their its it them they me i we you us he she
    all every each any both some no none another other only just also again too very
    of in on at to into onto from with without within inside outside under below above over between by for about around after before
    during since until than as like via through per against beside except excluding including
    and or but then if so because while when where why how what which who whose whom
    is are was were be been being am has have had does did do can could should would will shall may might must not isnt doesnt
    biggest largest smallest newest oldest latest longest shortest first last recent most least largest big large small new old
    empty hidden whole entire everything anything something nothing everyone everybody someone somebody
    called named containing matching larger smaller bigger older newer more fewer less longer shorter
    please now today yesterday tomorrow currently recursively quickly separately alphabetically automatically
    here there away up down out back off
    fails failed failing crashes crashed hangs hung keeps says said gives works broke broken does doesn't
    many much long often
""".split()
)

# Things that people name by what they are, and that are seldom called so.
NOUNS = frozenset(
    """
    file files images folder folders directory directories subfolder subfolders packages containers processes process commits branches lines
    words pictures photos videos documents usage space times people users duplicates permissions contents changes
""".split()
)

# Programs that a goal may begin with, since they are words: what stands behind them has to look like operands.
ENGLISH = frozenset(
    """
    ack apply ar as at batch break bundle cancel chat clear column combine comm compare compile compress convert copy cover crop cut
    date deploy dig dir display draw dump edit eject enable end exec expand extract factor file find fold format free fuse gather
    gunzip gzip head host identify import index info install join kill killall last latest less link list load locate look mail make man
    merge mesg mix monitor montage more mount move nice open optimize paste patch pick pkill play plot port print process pull push
    quota read rebuild rec record reduce release remove rename replace repeat report reset resize resume return rev rotate route run
    scale scan screen script search see send set shift show shred shutdown size skill sleep snap snow sort split start
    stop stream strip sum suspend switch sync tag tail tar tee tell test time top trace translate trap tree truncate try type umount
    unlink unmount unpack unrar unset unzip update upgrade uptime view wait wall watch what whatis where which who whoami word write zip
""".split()
)

# Of these the options are the point: without one, a goal that begins with the word is meant.
NEED_OPTIONS = frozenset("cut install read sum split shutdown as at strip date last top free set test let edit".split())

# What they are given is text.
TAKE_TEXT = frozenset("echo printf say cowsay figlet toilet banner espeak logger wall notify-send print".split())

# What they are given is made, or gone to, and can be called anything.
TAKE_NAMES = frozenset("mkdir touch cd pushd vim vi nano emacs code rmdir mktemp useradd adduser tmux".split())

# What they are given is a program.
TAKE_PROGRAMS = frozenset(
    ("which", "whereis", "whatis", "man", "type", "hash", "command", "apropos", "pidof", "pgrep", "pkill", "killall")
)

# They run what follows.
WRAPPERS = frozenset((
    "sudo", "doas", "nohup", "nice", "ionice", "watch", "env", "command", "exec", "builtin", "xargs", "timeout", "setsid", "strace",
    "ltrace", "time", "caffeinate", "stdbuf", "unbuffer", "chronic", "proxychains", "firejail",
))  # fmt: skip

BUILTINS = frozenset(
    """
    . alias builtin caller cd command declare dirs echo enable eval exec exit export false getopts hash let local mapfile popd printf
    pushd pwd read readarray readonly set shift shopt source test times trap true type typeset ulimit umask unalias unset wait [
""".split()
)

# Programs and builtins that do nothing for a person here, or never end; by themselves they are words.
NOT_HERE = frozenset((
    "help", "history", "fc", "bind", "logout", "suspend", "disown", "jobs", "fg", "bg", "break", "continue", "return", "caller", "complete",
    "compgen", "compopt", "undo",
))  # fmt: skip
NOT_ALONE = frozenset("yes test true false [ read eval exec let more less look cut install kill".split())

# Targets that makefiles usually have.
TARGETS = frozenset((
    "all", "build", "check", "clean", "coverage", "deploy", "dist", "distclean", "docs", "fmt", "format", "help", "install", "lint",
    "release", "run", "serve", "start", "stop", "test", "tests", "typecheck", "uninstall",
))  # fmt: skip

# Sub-commands that the tables of risk know only by what stands behind them.
MORE_VERBS = {
    "docker": frozenset(("compose", "buildx", "context", "scout")), "podman": frozenset(("compose", "unshare")),
    "npm": frozenset(("test", "start", "stop", "restart")),
    "yarn": frozenset(("test", "start", "build", "dev")), "pnpm": frozenset(("test", "start", "build", "dev")),
}  # fmt: skip
