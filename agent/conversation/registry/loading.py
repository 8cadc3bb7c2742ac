"""Load an engine from its folder: `engine.toml` or `engine.yaml`, and the evaluators of its package."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import Evaluator
from agent.conversation.registry.references import nesting
from agent.library.front_matter import TOO_DEEP, plain_words, typed
from agent.planner.facts.regular_file import read_regular
from agent.protocol.errors import ConfigError
from agent.struct_types import built
from agent.text.shown import shown_line

FILES = ("engine.toml", "engine.yaml")
_LARGEST = 1 << 18
_DEEPEST = 32
_LONGEST_MESSAGE = 300
_DEEP_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]+[ \t]*\.[ \t]*){32}""")
"""A key with so many parts is nobody's, and the reader takes minutes for thousands."""


class Engine(Struct, frozen=True, kw_only=True):
    """`package`: where its evaluators come from, "" for a folder that a person named."""

    config: EngineConfiguration
    evaluators: Mapping[str, Evaluator] = MappingProxyType({})
    folder: Path
    package: str = ""


def load_engine(folder: Path, *, package: str = "") -> Engine:
    """Read the engine of a folder. Raises ConfigError, which names file and key.

    Python is run only of an installed `package`, never of a folder that somebody names.
    """
    found = [folder / each for each in FILES if (folder / each).is_file()]
    if not found:
        raise ConfigError(f"{folder}: there is neither {' nor '.join(FILES)}")
    if len(found) > 1:
        raise ConfigError(f"{folder}: there is {' and '.join(FILES)}; keep one of them")
    config = read_config(found[0])
    evaluators = _evaluators(config, package)
    if absent := [each for each in config.custom_evaluators if each not in evaluators]:
        where = f"{package}.evaluators has no" if package else "only an installed package can bring the"
        raise ConfigError(f"{found[0]}: customEvaluators: {where} evaluator {', '.join(absent)}")
    return Engine(config=config, evaluators=evaluators, folder=folder, package=package)


def read_config(path: Path) -> EngineConfiguration:
    """Read the file alone. Raises ConfigError, which names file and key."""
    raw, _ = read_regular(str(path), _LARGEST + 1)
    if not raw:
        raise ConfigError(f"{path} is empty or cannot be read")
    if len(raw) > _LARGEST:
        raise ConfigError(f"{path} is larger than {_LARGEST >> 10} KiB")
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8, from byte {error.start} on") from None
    config = _from_toml(text, path) if path.suffix == ".toml" else typed(text, EngineConfiguration, str(path))
    if nesting(config) > _DEEPEST:
        raise ConfigError(f"{path}: all_of is nested more than {_DEEPEST} deep")
    return config


def _from_toml(text: str, path: Path) -> EngineConfiguration:
    if _DEEP_KEY.search(text):
        raise ConfigError(f"{path}: a key has too many parts")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{path}: {TOO_DEEP}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: {shown_line(str(error), _LONGEST_MESSAGE)}") from None
    try:
        return msgspec.convert(data, built(EngineConfiguration))
    except RecursionError:
        raise ConfigError(f"{path}: {TOO_DEEP}") from None
    except msgspec.ValidationError as error:
        place = str(error).partition(" - at `$.")[2].rstrip("`")
        words = plain_words(str(error), EngineConfiguration)
        key = f"{place}: " if place not in words else ""
        raise ConfigError(f"{path}: {shown_line(key + words, _LONGEST_MESSAGE)}") from None


def _evaluators(config: EngineConfiguration, package: str) -> Mapping[str, Evaluator]:
    if not package or not config.custom_evaluators:
        return {}
    try:
        found = import_module(f"{package}.evaluators").EVALUATORS
        return {name: each for name, each in found.items() if callable(each)}
    except (Exception, SystemExit) as error:  # it is another's code
        why = shown_line(f"{type(error).__name__}: {error}", _LONGEST_MESSAGE)
        raise ConfigError(f"{package}.evaluators cannot be used: {why}") from None


def configuration_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the file of an engine, for editors and validators."""
    (top,), components = msgspec.json.schema_components((EngineConfiguration,), ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The configuration of an interview of agent-shell",
        **top,
        "$defs": dict(sorted(components.items())),
    }
