"""Know the files of a folder that a program runs before it does what it is told: `.Rprofile` of R, `.mvn/jvm.config` of Maven.

Without facts nothing is said: most folders have none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from agent.risk.reader.invocation import Invocation
from agent.risk.reader.words import UNKNOWN, Word

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


class Loaded(NamedTuple):
    """A file, relative to the folder; the words in one of which it matters, "" for any; and whether folders above count too."""

    file: str
    says: str = ""
    above: bool = False


_MAVEN = tuple(Loaded(f".mvn/{file}", above=True) for file in ("jvm.config", "extensions.xml", "maven.config"))
_R = (Loaded(".Rprofile"), Loaded(".Renviron"))
_CLOJURE = (Loaded("deps.edn"), Loaded("src/user.clj"), Loaded("src/user.cljc"))
_RUST = (Loaded("rust-toolchain.toml", "path", above=True), Loaded("rust-toolchain", "path", above=True))
_ANSIBLE = (Loaded("ansible.cfg", "plugins inventory library module_utils"),)
_CAML = (Loaded(".ocamlinit"),)
_YARN = (Loaded(".yarnrc.yml", "yarnPath plugins", above=True), Loaded(".yarnrc", "yarn-path", above=True))
_BAZEL = (Loaded("tools/bazel", above=True),)
_FILES: dict[str, tuple[Loaded, ...]] = {
    "R": _R, "Rscript": _R, "ghci": (Loaded(".ghci"),), "iex": (Loaded(".iex.exs"),), "irb": (Loaded(".irbrc"),),
    "pry": (Loaded(".pryrc"),), "octave": (Loaded(".octaverc"),), "ocaml": _CAML, "utop": _CAML, "erl": (Loaded(".erlang"),),
    "psysh": (Loaded(".psysh.php"),), "clojure": _CLOJURE, "clj": _CLOJURE, "bun": (Loaded("bunfig.toml", "preload"),),
    "pytest": (Loaded("conftest.py"),), "py.test": (Loaded("conftest.py"),), "mvn": _MAVEN, "mvnd": _MAVEN, "yarn": _YARN,
    "bazel": _BAZEL, "bazelisk": _BAZEL, "composer": (Loaded("composer.json", "allow-plugins"),), "cargo": _RUST, "rustc": _RUST,
    "rustdoc": _RUST, "wp": (Loaded("wp-cli.yml", "require exec"),), "ansible": _ANSIBLE, "ansible-inventory": _ANSIBLE,
    "ansible-doc": _ANSIBLE, "ansible-playbook": _ANSIBLE, "vagrant": (Loaded("Vagrantfile", above=True),),
    "sbt": (Loaded(".sbtopts"), Loaded(".jvmopts")), "hg": (Loaded(".hg/hgrc", "extensions hooks", above=True),),
    "pdm": (Loaded(".pdm-plugins"),),
}  # fmt: skip
_SPARES = {
    "R": ("--vanilla", "--no-init-file"), "Rscript": ("--vanilla", "--no-init-file"), "ghci": ("-ignore-dot-ghci",), "irb": ("-f",),
    "pry": ("-f",), "octave": ("-f", "--norc", "--no-init-all", "--no-init-file"), "ocaml": ("-noinit",), "composer": ("--no-plugins",),
}  # fmt: skip
# These read nothing where they only tell about themselves; builders do.
_TELLS = frozenset(("--version", "--help", "-version", "-help", "-h"))
_LANGUAGES = frozenset(
    ("R", "Rscript", "ghci", "iex", "irb", "pry", "octave", "ocaml", "utop", "erl", "psysh", "clojure", "clj", "bun")
)


def files_loaded(words: Sequence[str]) -> tuple[Loaded, ...]:
    """The files that would be run if they are there, for a program with its arguments."""
    name = words[0].rpartition("/")[2] if words else ""
    files = _FILES.get(name, ())
    if not files or (name in _LANGUAGES and len(words) == 2 and words[1] in _TELLS):
        return ()
    for word in words[1:]:
        if word in _SPARES.get(name, ()):
            return tuple(one for one in files if one.file == ".Renviron") if word == "--no-init-file" else ()
        if name != "R" and (word[:1] != "-" or word in ("-e", "--eval")):  # behind it stands what the code is given
            break
    return files


def judge_folder_files(walker: Walker, name: str, invocation: Invocation) -> None:
    """Say which files of the folder a program would run, as facts tell them ("loads=NAME:FILE")."""
    if UNKNOWN in invocation.cwd or name not in _FILES or not files_loaded([word.text for word in invocation.words]):
        return
    known = walker.rater.context.facts.get(invocation.cwd, ())
    prefix = f"loads={name}:"
    files = [Word(fact.removeprefix(prefix), *invocation.place) for fact in known if fact.startswith(prefix)]
    if files:
        reason = f"has {name} run what {{targets}} of this folder says, whatever it is told"
        walker.add("run", files, invocation.place, reason=reason, rule="run.folder-file")
