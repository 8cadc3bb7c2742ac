"""Identify the files whose contents a command would run, and the folders it names, so that another one in their place shows.

An identity means something in this process only: contents are hashed with a key that nobody else has, so that it tells nothing of them.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence

from agent.planner.facts.file_systems import listed
from agent.planner.facts.git_facts import repository_of
from agent.planner.facts.regular_file import beginning
from agent.protocol.decisions import ProgramRun, RiskReport

MAX_HASHED = 16
MAX_HASHED_BYTES = 256 * 1024
_MAX_FILES = 64
_KEY = os.urandom(16)
_USED = frozenset(
    (
        *("schedule", "persist", "environment", "remote-shell", "shell-escape", "configure-system", "cluster-change"),
        "package-install",
        *(
            "container-change",
            "container-run",
            "container-host",
            "infra-change",
            "cloud-change",
            "db-change",
            "db-destroy",
        ),
    )
)
_FED = frozenset(("run-opaque", "run-remote", "remote-shell", "db-change", "db-destroy"))
"""Effects whose code may come from what other programs of the command print."""
_PUTS = frozenset(("copy-to", "write", "append", "move", "create"))
_LATER = (".config", ".vcs", ".schedule")
"""Ends of rules about places from which something runs later: start-up files, hooks, timers."""
_NAMED = frozenset(("run.script", "run.path", "run.unknown"))
"""Rules whose targets are the code itself; of other programs that run something, all that they name may be."""
_OF_PROJECTS = frozenset(
    """
    GNUmakefile makefile Makefile CMakeLists.txt meson.build SConstruct configure BUILD WORKSPACE MODULE.bazel build.ninja justfile
    Justfile .justfile Taskfile.yml Taskfile.yaml Procfile Vagrantfile Dockerfile Containerfile docker-compose.yml docker-compose.yaml
    compose.yml compose.yaml package.json .npmrc deno.json deno.jsonc bunfig.toml gulpfile.js Gruntfile.js vite.config.js
    vite.config.ts webpack.config.js jest.config.js pyproject.toml setup.py setup.cfg tox.ini noxfile.py conftest.py pytest.ini
    manage.py tasks.py fabfile.py Cargo.toml build.rs go.mod Rakefile rakefile Gemfile composer.json mix.exs build.sbt pom.xml
    build.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts .envrc ansible.cfg requirements.txt
    kustomization.yaml Chart.yaml values.yaml helmfile.yaml Pulumi.yaml serverless.yml
    """.split()
)
_OF_PLANS = (".tf", ".tfvars", ".tofu", ".hcl")
"""Ends of names of files that a tool reads all of, in its folder."""
FED_FROM = re.compile(r"<\s*([^\s<>&|;()]{1,4096})")


def identities(report: RiskReport, cwd: str, facts: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """An identity for each file whose contents the command would run, each folder it names or names a file in, and `cwd`. Never raises."""
    found: dict[str, str] = {}
    hashed = 0
    for path in dict.fromkeys(_code(report, cwd)):
        if path not in found and (told := _content(path, hashed=hashed < MAX_HASHED)):
            found[path] = told
            hashed += 1
            if len(found) >= _MAX_FILES:
                break
    found.update(_programs(report))
    folders = (path if "dir" in told else os.path.dirname(path) for path, told in facts.items())
    for path in dict.fromkeys((cwd, *folders)):
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        found[path] = f"folder {status.st_dev}:{status.st_ino}"
    return found


def _programs(report: RiskReport) -> dict[str, str]:
    """Find each program that is only named, so that another of the same name in an earlier folder shows."""
    from shutil import which

    names = dict.fromkeys(run.words[0] for run in report.programs if run.words and not run.remote)
    bare = [name for name in names if name and "/" not in name and "…" not in name][:MAX_HASHED]
    return {name: f"program {path}" for name in bare if (path := which(name))}


def _code(report: RiskReport, cwd: str) -> Iterator[str]:
    """Paths that may hold code, and whatever else is named where code may be; not all of them are there."""
    for folder in dict.fromkeys(run.cwd for run in report.programs if run.words[:1] == ("git",) and not run.remote):
        yield from _hooks(folder)
    for finding in report.findings:
        effect = finding.effect
        if effect is not None and effect.kind == "environment":
            yield from _of_variables(effect.targets, report)
        if effect is not None and effect.kind in _PUTS and finding.rule.endswith(_LATER):
            for run in report.programs:
                yield from () if run.remote else _named(run)
            yield from (_path(text, cwd) for text in FED_FROM.findall(report.command))
        if finding.program < 0 or effect is None or not (effect.kind.startswith("run") or effect.kind in _USED):
            continue
        run = report.programs[finding.program]
        if run.remote and not run.fed:
            continue
        named = [path for target in effect.targets for path in _places(target, run) if os.path.isfile(path)]
        yield from named
        if not named or finding.rule not in _NAMED:
            yield from _around(run)
        if effect.kind in _FED or finding.rule.endswith(".stdin"):
            texts = [word for other in report.programs for word in other.words] + FED_FROM.findall(report.command)
            yield from (_path(text, run.cwd) for text in texts)


def _of_variables(targets: Sequence[str], report: RiskReport) -> Iterator[str]:
    """Files that variables name, and the programs of the command in folders that they name."""
    values = [value for target in targets for value in target.partition("=")[2].split(":")]
    for run in report.programs if values else ():
        paths = [path for value in values if not run.remote and (path := _path(value, run.cwd))]
        yield from paths
        yield from (f"{path}/{run.words[0]}" for path in paths if run.words and "/" not in run.words[0])


def _hooks(folder: str) -> Iterator[str]:
    """Hooks of the repository, which git runs by itself."""
    top = repository_of(folder) if folder.startswith("/") else ""
    names = listed(f"{top}/.git/hooks") if top else []
    yield from (f"{top}/.git/hooks/{name}" for name in names if not name.endswith(".sample"))


def _places(target: str, run: ProgramRun) -> list[str]:
    """List the places of the code that a program names: as a path, as a program of PATH, as a Python module."""
    places = [_path(target, run.cwd)]
    if "/" not in target and target in run.words[:1]:
        from shutil import which

        places = [which(target) or ""]
    elif re.fullmatch(r"[\w.]+", target):
        module = _path(target.replace(".", "/"), run.cwd)
        places += [f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py"]
    return [place for place in places if place]


def _named(run: ProgramRun) -> list[str]:
    return [_path(part, run.cwd) for word in run.words[1:] for part in {word, word.rpartition("=")[2]}]


def _around(run: ProgramRun) -> Iterator[str]:
    """All files that a program names, and what folders hold that such programs read unnamed."""
    paths = _named(run)
    yield from paths
    for folder in (run.cwd, *paths):
        names = [name for name in listed(folder) if name in _OF_PROJECTS or name.endswith(_OF_PLANS)]
        yield from (f"{folder.rstrip('/')}/{name}" for name in names)


def _path(text: str, folder: str) -> str:
    if not text or text[0] == "-" or "…" in text or "\0" in text or not folder.startswith("/"):
        return ""
    return os.path.normpath(os.path.join(folder, os.path.expanduser(text.strip("'\""))))


def _content(path: str, *, hashed: bool) -> str:
    """A mark that tells a file's contents from any others; "" for what is not a regular file. Large ones are told by their times."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ""
    if not stat.S_ISREG(status.st_mode):
        return ""
    if not status.st_size:  # and those of /proc, which read differently each time
        return "empty"
    if hashed and status.st_size <= MAX_HASHED_BYTES:
        from hashlib import blake2b

        if text := beginning(path, MAX_HASHED_BYTES):
            return blake2b(text, digest_size=16, key=_KEY).hexdigest()
    return f"{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
