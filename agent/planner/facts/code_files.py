"""Identify the files whose contents a command would run, and the folders it names, so that another one in their place shows."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain, islice, pairwise

from agent.planner.facts.file_systems import listed
from agent.planner.facts.loaded_files import add_loaded, is_code
from agent.planner.facts.regular_file import Contents
from agent.planner.facts.settings_files import add_settings
from agent.protocol.decisions import Effect, ProgramRun, RiskReport
from agent.risk.tables.names import members

_MAX_PROGRAMS = 16
_MAX_NAMES = 64
_PIPED = "/dev/fd/"  # what another program of the command prints: `bash <(cat a.sh)`
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
_UNPACKED = frozenset(("extract", "change"))
_PATCHES = frozenset(("vcs-change.apply", "vcs-change.am"))
_CHANGES = frozenset(
    "append chmod chown copy-to create delete discard download link modify move shred truncate vcs-change write".split()
)
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
_PROJECTS = members("project.files")
_OF_PLANS = (".tf", ".tfvars", ".tofu", ".hcl")
"""Ends of names of files that a tool reads all of, in its folder."""
_LIST = re.compile(r"--(?:[\w-]+-)?from(?:-file)?")
FED_FROM = re.compile(r"<\s*([^\s<>&|;()]{1,4096})")


def identities(report: RiskReport, cwd: str, facts: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """An identity for each file whose contents the command would run, each folder it names or names a file in, and `cwd`. Never raises."""
    code, settings = Contents("code"), Contents("settings")
    running = _running(report)
    texts = [(run.cwd, f"import {' '.join(run.words[1:])}".encode()) for run in running]
    projects = {file for run in running for file in _PROJECTS.get(os.path.basename(run.words[0]), ())}
    for path in dict.fromkeys(chain.from_iterable(map(_expanded, _code(report, cwd)))):
        text = code.add(path)
        if text[:2] == b"#!" or is_code(path) or any(fnmatchcase(os.path.basename(path), file) for file in projects):
            texts.append((os.path.dirname(path), text))
    add_loaded(code, texts, (run.cwd for run in running))
    add_settings(settings, report)
    found = {**settings.found, **code.found}
    found.update(_programs(report))
    folders = (path if "dir" in told else os.path.dirname(path) for path, told in facts.items())
    for path in dict.fromkeys((cwd, *folders)):
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        found[path] = f"folder {status.st_dev}:{status.st_ino}"
    return found


def _expanded(path: str) -> Iterable[str]:
    """The files that a pattern stands for now, in order; the path itself where it stands for none."""
    if not glob.has_magic(path) or os.path.lexists(path):
        return (path,)
    return sorted(islice(glob.iglob(path), _MAX_NAMES)) or (path,)


def _programs(report: RiskReport) -> dict[str, str]:
    """Find each program that is only named, so that another of the same name in an earlier folder shows."""
    from shutil import which

    names = dict.fromkeys(run.words[0] for run in report.programs if run.words and not run.remote)
    bare = [name for name in names if name and "/" not in name and "…" not in name][:_MAX_PROGRAMS]
    return {name: f"program {path}" for name in bare if (path := which(name))}


def _code(report: RiskReport, cwd: str) -> Iterator[str]:
    """Paths that may hold code, and whatever else is named where code may be; not all of them are there."""
    for finding in report.findings:
        effect = finding.effect
        if effect is not None and effect.kind == "environment":
            yield from _of_variables(effect.targets, report)
        if effect is not None and (
            (effect.kind in _PUTS and finding.rule.endswith(_LATER)) or _is_decided_by_files(finding.rule, effect)
        ):
            for run in report.programs:
                yield from () if run.remote else _named(run)
            yield from (_path(text, cwd) for text in FED_FROM.findall(report.command))
        elif effect is not None and finding.program >= 0:
            yield from _lists(report.programs[finding.program])
        if finding.program < 0 or effect is None or not (effect.kind.startswith("run") or effect.kind in _USED):
            continue
        run = report.programs[finding.program]
        if run.remote and not run.fed:
            continue
        named = [path for target in effect.targets for path in _places(target, run) if os.path.isfile(path)]
        yield from named
        yield from _made_before(effect.targets, run, report)
        if not named or finding.rule not in _NAMED:
            yield from _around(run)
        if (
            effect.kind in _FED
            or finding.rule.endswith(".stdin")
            or any(each.startswith(_PIPED) for each in effect.targets)
        ):
            texts = [word for other in report.programs for word in other.words] + FED_FROM.findall(report.command)
            yield from (_path(text, run.cwd) for text in texts)


def _made_before(targets: Sequence[str], running: ProgramRun, report: RiskReport) -> Iterator[str]:
    """List what other programs of the command name beside the code, of which they may make it: `cp a.sh b.sh; bash b.sh`."""
    names = {name for target in targets for name in (target, target.removeprefix("./"), f"./{target}")}
    for run in report.programs:
        if run.span != running.span and not run.remote and not names.isdisjoint(run.words[1:]):
            yield from _named(run)


def _is_decided_by_files(rule: str, effect: Effect) -> bool:
    """Tell whether what would be changed is not said by the command but by a file: an archive, a patch, a list of names."""
    unsaid = not effect.targets or any("…" in target for target in effect.targets)
    return effect.kind in _UNPACKED or rule in _PATCHES or (unsaid and effect.kind in _CHANGES)


def _lists(run: ProgramRun) -> Iterator[str]:
    """Files of names that a program is given by an option: `--files-from=f`, tar's `-T f`."""
    for word, following in pairwise((*run.words[1:], "")):
        name, _, value = word.partition("=")
        if (_LIST.fullmatch(name) or (word == "-T" and run.words[0].endswith("tar"))) and not run.remote:
            yield _path(value or following, run.cwd)


def _running(report: RiskReport) -> list[ProgramRun]:
    """The programs on this machine that run code, which may stand in their words."""
    running = {
        finding.program for finding in report.findings if finding.effect and finding.effect.kind.startswith("run")
    }
    return [run for index, run in enumerate(report.programs) if index in running and run.words and not run.remote][
        :_MAX_PROGRAMS
    ]


def _of_variables(targets: Sequence[str], report: RiskReport) -> Iterator[str]:
    """Files that variables name, and the programs of the command in folders that they name."""
    values = [value for target in targets for value in target.partition("=")[2].split(":")]
    for run in report.programs if values else ():
        paths = [path for value in values if not run.remote and (path := _path(value, run.cwd))]
        yield from paths
        yield from (f"{path}/{run.words[0]}" for path in paths if run.words and "/" not in run.words[0])


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
