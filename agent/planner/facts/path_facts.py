"""Look at the paths that a command names: kind, where links lead, mounts, size of what would go, work that would be lost.

Which paths those are, and what would happen to them, is asked of the classifier itself, without facts. All of it is bounded in number
and time, only reads metadata (and, of a repository, its index), and starts nothing.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable

from agent.planner.facts import file_systems
from agent.planner.facts.code_files import FED_FROM
from agent.planner.facts.file_systems import STORES, repositories_below, size_of, size_words
from agent.planner.facts.git_work import work_facts
from agent.planner.facts.settings_files import code_of_folder, doubtful_program
from agent.planner.facts.wildcards import _MAGIC, GLOB, MAX_PATHS, UNREAD, WILD, fits, matches, odd_names
from agent.protocol.decisions import Effect, RiskContext, RiskReport

MAX_COMMAND_CHARS = 20_000
MAX_SECONDS = 0.015
_GONE = frozenset(("delete", "shred", "truncate", "discard", "discard-one"))
_REPLACED = frozenset(("write", "copy-to", "move", "truncate", "modify", "append"))
_BELOW = frozenset(("delete", "shred", "truncate", "move", "modify", "chmod", "chown", "permission-wide"))
_OTHERS_WRITE = 0o002
Facts = dict[str, tuple[str, ...]]


class Watch:
    """Says when the time is up."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    def spent(self) -> bool:
        return self._clock() >= self._end


def without_facts(command: str, context: RiskContext) -> RiskReport:
    """The rating by the text alone, which says what there is to look at."""
    from agent.risk.classifier import classify

    return classify(command[:MAX_COMMAND_CHARS], context)


def path_facts(command: str, context: RiskContext, *, watch: Watch | None = None) -> Facts:
    """Facts by absolute path as the classifier resolves it; see `RiskContext`. Never raises."""
    return facts_of(without_facts(command, context), context, watch=watch)


def facts_of(report: RiskReport, context: RiskContext, *, watch: Watch | None = None) -> Facts:
    """Like `path_facts`, of a rating by the text alone."""
    collector = _Collector(context, watch or Watch(MAX_SECONDS))
    try:
        collector.collect(report)
    except Exception:  # noqa: S110 - a path that no system call takes, or an odd folder: what was found until then counts
        pass
    return collector.facts


class _Collector:
    def __init__(self, context: RiskContext, watch: Watch) -> None:
        self.context = context
        self.watch = watch
        self.facts: Facts = {}
        self._mounted: list[file_systems.Mount] | None = None
        self._roots = _real_roots(context)
        self._dashed: dict[str, list[str]] = {}  # odd names, by folder

    def collect(self, report: RiskReport) -> None:
        """First what is quick, for every path; then what takes time, for what would be lost."""
        effects = self._effects(report)
        named = [(text, folder) for text, folder, _, _ in effects]
        for run in report.programs:
            if not run.remote:
                first = 0 if "/" in "".join(run.words[:1]) else 1  # a bare name is looked for elsewhere
                named += [(_value(word), run.cwd) for word in run.words[first:]]
                parts = [part for word in run.words[1:] for part in _parts(word)] + FED_FROM.findall(report.command)
                named += [(part, run.cwd) for part in parts if self._is_there(part, run.cwd)]
        for text, folder in named:
            key = self._key(text, folder)
            if key and key not in self.facts and len(self.facts) < MAX_PATHS:
                found = self._kinds(key, trailing=text.endswith("/"))
                if found:
                    self.facts[key] = found
        self._wildcards(named)
        self._magic(report)
        for run in report.programs[:MAX_PATHS]:  # what folders have programs run
            self._add(*code_of_folder(run))
            self._add(run.cwd, doubtful_program(run, self.context))
        for text, folder in dict.fromkeys((one[0], one[1]) for one in effects if one[2].kind in _BELOW):
            if self.watch.spent():
                return
            key = self._key(text.removesuffix("/…") or "/", folder)  # what find matches there is not known
            if key and (key in self.facts or len(self.facts) < MAX_PATHS) and (held := self._repositories(key)):
                self._add(key, held)
        for text, folder, effect, deep in effects:
            if self.watch.spent():
                return
            key = self._key(text, folder)
            if key and key in self.facts:
                self._add(key, self._losses(key, effect, deep=deep))

    def _effects(self, report: RiskReport) -> list[tuple[str, str, Effect, bool]]:
        """Each target on this machine with the folder it is relative to, what happens to it, and whether to all below it."""
        folders = sorted({run.cwd for run in report.programs if not run.remote} | {self.context.cwd})
        effects: list[tuple[str, str, Effect, bool]] = []
        for finding in report.findings:
            run = report.programs[finding.program] if finding.program >= 0 else None
            effect = finding.effect
            if effect is None or effect.scope == "remote" or (run is not None and run.remote):
                continue
            deep = finding.rule.endswith((".recursive", ".sync", ".clean")) or bool(effect.whole)
            for folder in (run.cwd,) if run is not None else folders:
                effects += [(text, folder, effect, deep) for text in effect.targets]
                if effect.kind in ("discard", "discard-one"):
                    effects.append((".", folder, effect, False))
        return effects

    def _key(self, text: str, folder: str) -> str:
        """The path as the classifier names it, "" for what is no path that can be looked up."""
        from agent.risk.paths.absolute import absolute

        if not text or text[0] == "-" or "…" in text or "\0" in text or "\n" in text or not folder.startswith("/"):
            return ""
        if text.startswith("/dev/fd/"):  # it is ours that would be found there
            return ""
        if text == "~" or text.startswith("~/"):
            text = self.context.home + text[1:]
        return absolute(text, folder)

    def _is_there(self, text: str, folder: str) -> bool:
        key = self._key(text, folder)
        return bool(key) and os.path.lexists(key)

    def _add(self, key: str, more: list[str]) -> None:
        known = self.facts.get(key, ())
        if more:
            self.facts[key] = known + tuple(fact for fact in more if fact not in known)

    # --- quick ---

    def _wildcards(self, named: list[tuple[str, str]]) -> None:
        """Names beginning with a dash or a plus that a pattern matches: in front of it stands no folder, so that they look like options."""
        for text, folder in [one for one in named if one[0][:1] in tuple(GLOB) and "/" not in one[0]][:MAX_PATHS]:
            key = self._key(text, folder)
            if not key:
                continue
            names = [name for name in self._odd(folder) if name == UNREAD or (name[0] in "-+" and fits(name, text))]
            self._add(key, [f"option={name}" for name in names])

    def _magic(self, report: RiskReport) -> None:
        """Names that a pattern given to perl matches and perl's open would run or write."""
        runs = [run for run in report.programs[:MAX_PATHS] if not run.remote and "perl" in "".join(run.words[:1])]
        words = [(word, run.cwd) for run in runs for word in run.words[1:] if not WILD.isdisjoint(word)]
        for text, folder in words[:MAX_PATHS]:
            key, (above, slash, last) = self._key(text, folder), text.rpartition("/")
            if key and WILD.isdisjoint(above):
                odd = self._odd(self._key(above or ".", folder))
                names = [above + slash + name for name in odd if fits(name, last)]
                self._add(key, [f"magic={name}" for name in names if _MAGIC.search(name)])

    def _odd(self, folder: str) -> list[str]:
        if folder not in self._dashed:
            self._dashed[folder] = odd_names(folder)
        return self._dashed[folder]

    def _kinds(self, path: str, *, trailing: bool) -> tuple[str, ...]:
        facts: list[str] = []
        if any(char in path for char in GLOB) and not os.path.lexists(path):
            folder = path.rpartition("/")[0]
            if any(char in folder for char in GLOB):
                return ()
            if self._is_mounted_folder(folder):  # all that is in it may be all of a volume
                self._add(folder, ["dir", "mount"])
            facts += self._leads(path, folder)
            return tuple(facts) or ("pattern",)
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return ("missing", *self._leads(path, os.path.dirname(path)))
        except (OSError, ValueError):
            return ()
        kind = stat.S_IFMT(found.st_mode)
        facts.append({stat.S_IFLNK: "link", stat.S_IFDIR: "dir", stat.S_IFREG: "file"}.get(kind, "other"))
        facts += self._leads(path, os.path.dirname(path))
        if kind == stat.S_IFLNK:
            target = self._nominal(os.path.realpath(path))
            facts.append(f"to={target}")
            if path.startswith("/dev/"):  # /dev/disk/by-id/…: what is written goes to the disk
                facts += file_systems.device_facts(path)
            if trailing:
                facts.append(f"at={target}")
        elif kind == stat.S_IFDIR and self._is_mount(path, found):
            facts.append("mount")
        elif kind == stat.S_IFBLK:
            facts += file_systems.device_facts(path)
        if kind in (stat.S_IFREG, stat.S_IFDIR) and found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
            facts.append("open")
        return tuple(facts)

    def _is_mounted_folder(self, folder: str) -> bool:
        try:
            found = os.lstat(folder or "/")
        except (OSError, ValueError):
            return False
        return stat.S_ISDIR(found.st_mode) and self._is_mount(folder or "/", found)

    def _leads(self, path: str, folder: str) -> list[str]:
        """The real places of a path, if a folder above it is a link."""
        real = self._nominal(os.path.realpath(folder))
        if real == folder:
            return []
        return [f"at={real.rstrip('/')}/{path.rpartition('/')[2]}"]

    def _nominal(self, path: str) -> str:
        """A real path as the context would call it: home and workspace may themselves stand behind links."""
        for real, name in self._roots:
            if path == real or path.startswith(real + "/"):
                return name + path[len(real) :]
        return path

    def _is_mount(self, path: str, found: os.stat_result) -> bool:
        try:
            above = os.lstat(os.path.dirname(path))
        except OSError:
            return False
        if found.st_dev != above.st_dev or found.st_ino == above.st_ino:
            return True
        return any(mount.point == path for mount in self._mounts())

    def _mounts(self) -> list[file_systems.Mount]:
        if self._mounted is None:
            self._mounted = file_systems.mounts()
        return self._mounted

    # --- what takes time ---

    def _losses(self, key: str, effect: Effect, *, deep: bool) -> list[str]:
        kinds = self.facts[key]
        facts: list[str] = []
        if effect.kind in ("discard", "discard-one"):
            return work_facts(key, self.context.cwd, self.watch.spent)
        if effect.kind == "mount" and "dir" in kinds and file_systems.is_filled(key):
            return ["filled"]
        if effect.kind in _GONE and not {"missing", "link"}.intersection(kinds):
            paths = matches(key) if "pattern" in kinds or any(char in key for char in GLOB) else [key]
            if deep:
                tops = tuple(f"{path.rstrip('/')}/" for path in paths)
                facts += ["mount-below"] if any(mount.point.startswith(tops) for mount in self._mounts()) else []
                facts += [
                    fact
                    for path in paths[:8]
                    for fact in work_facts(path, self.context.cwd, self.watch.spent)
                    if fact != "repository"
                ]
            facts += size_words(size_of(paths, deep=deep, spent=self.watch.spent), paths)
        elif effect.kind in _REPLACED and "file" in kinds:
            facts += size_words(size_of([key], deep=False, spent=self.watch.spent), [key])
        return facts

    def _repositories(self, key: str) -> list[str]:
        """Repositories in and below a folder, or what a pattern matches, as "holds=sub/.git"."""
        paths = matches(key)[:8] if any(char in key for char in GLOB) and not os.path.lexists(key) else [key]
        found = [name for name in map(os.path.basename, paths) if name in STORES and paths != [key]]
        found += [at for path in paths for at in repositories_below(path, spent=self.watch.spent)]
        return [f"holds={at}" for at in found]


def _real_roots(context: RiskContext) -> list[tuple[str, str]]:
    """Real path and name of workspace, home and folder, where they differ."""
    names = dict.fromkeys(filter(None, (context.workspace, context.cwd, context.home)))
    pairs = [(os.path.realpath(name), name) for name in names]
    return sorted((pair for pair in pairs if pair[0] != pair[1]), key=lambda pair: -len(pair[0]))


def _value(word: str) -> str:
    """`--file=x`, `of=/dev/y`: the part that may be a path."""
    name, equals, value = word.partition("=")
    return value if equals and "/" not in name else word


def _parts(word: str) -> list[str]:
    """`@file`, `name=@file`, `file:/inside`, `src=file,dst=…`: parts of a word that may be paths."""
    found = [part for piece in word.split(",") for part in (piece.rpartition("@")[2], _value(piece).partition(":")[0])]
    return [part for part in dict.fromkeys(found) if part != word] if "@" in word or ":" in word or "," in word else []
