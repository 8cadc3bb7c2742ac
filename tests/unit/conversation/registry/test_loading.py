"""Engines are read from TOML and YAML; what is wrong is said with file and key, and nobody's folder runs Python."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from agent.conversation.registry.loading import configuration_schema, load_engine
from agent.protocol.errors import ConfigError
from tests.support.interview_case import ENGINE, engine


def written(folder: Path, data: Any = ENGINE, *, name: str = "engine.yaml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(data if isinstance(data, str) else yaml.safe_dump(data, sort_keys=False))
    return folder


def refused(folder: Path, **package: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_engine(folder, **package)
    return caught.value.message.replace(f"{folder}/", "")


MINIMAL = """
engineId = "sample"
completenessModel = { type = "saturation", readyThreshold = 0.5 }
informationRatio = { user = 70, system = 30 }
[extractionSchema]
fields = []
"""


@pytest.mark.covers("S3-2", "S3-41")
def test_yaml_and_toml_give_the_same(tmp_path: Path) -> None:
    found = load_engine(written(tmp_path / "a"))
    assert (found.config, found.folder, found.package) == (engine(), tmp_path / "a", "")
    as_toml = "\n".join(f"{key} = {_toml(value)}" for key, value in ENGINE.items())
    assert load_engine(written(tmp_path / "b", as_toml, name="engine.toml")).config == engine()


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + "}"
    return "[" + ", ".join(map(_toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


def test_one_file_is_needed_and_only_one(tmp_path: Path) -> None:
    assert refused(tmp_path).endswith("there is neither engine.toml nor engine.yaml")
    written(tmp_path, MINIMAL, name="engine.toml")
    assert load_engine(tmp_path).config.engine_id == "sample"
    written(tmp_path)
    assert refused(tmp_path).endswith("there is engine.toml and engine.yaml; keep one of them")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (MINIMAL + "[[phases]]\ncolour = 1", "engine.toml: phases[0]: no setting is called `colour`"),
        ("colour = 1", "engine.toml: no setting is called `colour`; there are: engineId, "),
        ("engineId = 'x'", "engine.toml: `completenessModel` is missing"),
        (MINIMAL.replace("70", "'a lot'"), "engine.toml: `informationRatio.user` must be a number, not text"),
        (MINIMAL.replace("saturation", "magic"), "engine.toml: Invalid value 'magic' - at `$.completenessModel.type`"),
        ("engineId = ", "engine.toml: Invalid value (at end of document)"),
        ("a = " + "[" * 5000, "engine.toml: "),
        ("a = " + "9" * 5000, "engine.toml: "),
        ("[" + "a . 'b-1'." * 20 + "a]", "engine.toml: a key has too many parts"),
        ("", "engine.toml is empty or cannot be read"),
        ("#" * (1 << 18), "engine.toml: `completenessModel` is missing"),
        ("#" * ((1 << 18) + 1), "engine.toml is larger than 256 KiB"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_toml_is_said_with_file_and_key(tmp_path: Path, text: str, error: str) -> None:
    assert refused(written(tmp_path, text, name="engine.toml")).startswith(error)


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nengineId: *b\n"


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("text", "error"),
    [
        (BOMB, "engine.yaml:2: aliases are not read here"),
        ("a: &a [*a]", "engine.yaml:1: aliases are not read here"),
        ("engineId: x\ncolour: 1", "engine.yaml:2: no setting is called `colour`; there are: engineId, "),
        ("engineId: !!python/object/apply:os.system [ls]", "engine.yaml:1: what begins with ! has to stand in quotes"),
        ("engineId: x\nname: y\nengineId: z", "engine.yaml:3: `engineId` is given twice"),
        ("- a", "engine.yaml:1: this must be `key: value`, not a list"),
        ("engineId: [" + "[" * 400, "engine.yaml:1: "),
        ("- " * 5000, "engine.yaml:1: "),
        ("engineId: 7", "engine.yaml:1: `engineId` must be text, not a whole number"),
    ],
)
def test_what_is_wrong_in_yaml_is_said_with_its_line(tmp_path: Path, text: str, error: str) -> None:
    assert refused(written(tmp_path, text)).startswith(error)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("engine.yaml", "engineId: x\nphases: " + "[" * 2_000 + "]" * 2_000),
        ("engine.yaml", "engineId: x\nphases: " + "{a: " * 2_000 + "1" + "}" * 2_000),
        ("engine.toml", "phases = " + "[" * 3_000 + "]" * 3_000),
    ],
)
def test_what_is_nested_too_deeply_is_told_in_words(tmp_path: Path, name: str, text: str) -> None:
    assert refused(written(tmp_path, text, name=name)).endswith("lists or keys are nested too deeply")


def test_conditions_are_not_nested_without_end(tmp_path: Path) -> None:
    condition: dict[str, Any] = {"type": "turn_count", "minTurns": 1}
    for _ in range(33):
        condition = {"type": "all_of", "conditions": [condition]}
    phases = [ENGINE["phases"][0] | {"entryConditions": condition}]
    assert refused(written(tmp_path, ENGINE | {"phases": phases})) == "engine.yaml: all_of is nested more than 32 deep"


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "engine.yaml").write_bytes(b"name: \xff")
    assert refused(tmp_path) == "engine.yaml is not UTF-8, from byte 6 on"


def test_what_editors_of_windows_put_around_lines_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "engine.toml").write_bytes(b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode())
    assert load_engine(tmp_path).config.engine_id == "sample"


def test_a_named_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "engine.toml")
    assert refused(tmp_path).endswith("there is neither engine.toml nor engine.yaml")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that can be imported, with an engine that needs evaluators."""
    root = tmp_path / "site"
    folder = root / "sample_interview"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    written(folder, ENGINE | {"customEvaluators": ["half"]})
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.delitem(sys.modules, "sample_interview", raising=False)
    monkeypatch.delitem(sys.modules, "sample_interview.evaluators", raising=False)
    return folder


@pytest.mark.covers("S3-42")
def test_evaluators_come_from_the_package(package: Path) -> None:
    (package / "evaluators.py").write_text("EVALUATORS = {'half': lambda memory: 0.5, 'other': 3}")
    found = load_engine(package, package="sample_interview")
    assert list(found.evaluators) == ["half"]
    assert found.evaluators["half"](None) == 0.5  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("EVALUATORS = {}", "engine.yaml: customEvaluators: sample_interview.evaluators has no evaluator half"),
        ("1 / 0", "sample_interview.evaluators cannot be used: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "sample_interview.evaluators cannot be used: SystemExit: 3"),
        ("EVALUATORS = 3", "sample_interview.evaluators cannot be used: AttributeError: "),
        (None, "sample_interview.evaluators cannot be used: ModuleNotFoundError: "),
    ],
)
def test_evaluators_that_cannot_be_used_are_told(package: Path, source: str | None, error: str) -> None:
    if source is not None:
        (package / "evaluators.py").write_text(source)
    assert refused(package, package="sample_interview").startswith(error)


def test_python_in_a_folder_that_somebody_names_is_not_run(package: Path) -> None:
    (package / "evaluators.py").write_text("raise RuntimeError('it ran')")
    error = "engine.yaml: customEvaluators: only an installed package can bring the evaluator half"
    assert refused(package) == error


def keys(schema: dict[str, Any], node: Any, place: str = "$") -> list[str]:
    """The places in `node` that the schema does not name: properties, alternatives by their tag, items."""
    if "anyOf" in schema:
        kind = node.get("type") if isinstance(node, dict) else None
        for each in schema["anyOf"]:
            found = _resolved(each)
            if node is None or kind is None or found["properties"]["type"]["enum"] == [kind]:
                return keys(found, node, place)
        return [f"{place}: {kind}"]
    schema = _resolved(schema)
    if isinstance(node, list):
        return [one for each in node for one in keys(schema["items"], each, f"{place}[]")]
    if not isinstance(node, dict) or "properties" not in schema:
        return []
    unknown = [f"{place}.{key}" for key in node if key not in schema["properties"]]
    missing = [f"{place}.{key} is missing" for key in schema.get("required", ()) if key not in node]
    inner = [(key, each) for key, each in node.items() if key in schema["properties"]]
    return (
        unknown
        + missing
        + [one for key, each in inner for one in keys(schema["properties"][key], each, f"{place}.{key}")]
    )


SCHEMA = configuration_schema()


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found


def test_the_schema_knows_every_key_and_no_other() -> None:
    assert keys(SCHEMA, ENGINE) == []
    assert keys(SCHEMA, ENGINE | {"colour": 1}) == ["$.colour"]
    phase = {"id": "X", "order": 4, "modeBlend": {"sing": 100}, "transitionTriggers": [{"type": "magic"}]}
    assert keys(SCHEMA, ENGINE | {"phases": [phase]}) == [
        "$.phases[].displayName is missing",
        "$.phases[].modeBlend.sing",
        "$.phases[].transitionTriggers[]: magic",
    ]
    assert {"EngineConfiguration", "AllOf", "FieldDefinition", "HandoffMapping"} <= set(SCHEMA["$defs"])
