"""List the models that are here, find the one that a word means, and write the choice into the person's settings."""

from __future__ import annotations

import os
from typing import Any

from agent.config.load import Loaded
from agent.config.write_user import write_settings
from agent.protocol.errors import ConfigError
from agent.providers.catalog import load_catalog
from agent.providers.discover import discover, offered
from agent.providers.local.files import find_models
from agent.providers.local.provider import install_hint, is_installed
from agent.text.shown import shown_line

CASCADE_HINT = 'to ask the recipes first and this one for the rest:  cascade = "offline,local,remote"  in the same file'
NOTHING_HERE = "no model server answers on this machine, and no GGUF file was found; the offline planner needs neither"


async def model_rows(loaded: Loaded, ports: dict[str, int] | None = None) -> list[dict[str, Any]]:
    """One for each model of a server, each model file, each provider with a key. `use` is what `models use` takes for it."""
    settings = loaded.settings
    rows: list[dict[str, Any]] = [
        {
            "use": f"{model.provider}:{model.name}",
            "kind": "server",
            "provider": model.provider,
            "name": model.name,
            "size": model.size or None,
            "parameters": model.parameters,
            "quantisation": model.quantisation,
            "context": model.context or None,
            "state": {True: "loaded", False: "not loaded", None: ""}[model.loaded],
            "base_url": model.base_url,
        }
        for model in await offered(await discover(ports=ports))
    ]
    state = "" if is_installed() else "needs the extra local"
    for file in find_models(loaded.environ, settings.models_dir or ""):
        header = file.header
        rows.append({
            "use": file.path,
            "kind": "file",
            "provider": "local",
            "name": file.name,
            "size": file.size or None,
            "parameters": header.parameters if header else "",
            "quantisation": header.quantisation if header else "",
            "context": (header.context or None) if header else None,
            "state": f"unusable: {file.error.rpartition(': ')[2]}" if file.error else state,
        })  # fmt: skip
    for entry in load_catalog().entries.values():
        if entry.key_variable and not entry.is_local and loaded.has_key(entry.key_variable):
            use = f"{entry.name}:{entry.default_model}"
            row = {"use": use, "kind": "remote", "provider": entry.name, "name": entry.default_model}
            rows.append(row | {"state": "key is set; leaves this machine"})
    used = (settings.planner, settings.model or "")
    return [row | {"used": _is(row, *used)} for row in rows]


def chosen(rows: list[dict[str, Any]], name: str) -> tuple[str, str]:
    """(planner, model) that a word means: what stands under `use`, or a name that is there once. Raises ConfigError."""
    usable = [row for row in rows if not (row["kind"] == "file" and row["state"] and "needs" not in row["state"])]
    found = [row for row in usable if row["use"] == name] or [row for row in usable if row["name"] == name]
    if not found:
        near = ", ".join(shown_line(row["use"], 60) for row in usable[:5])
        hint = f"there are {near}" if near else "start a model server, or give the path of a GGUF file"
        raise ConfigError(f"there is no model called {shown_line(name, 80)} here", hint=hint)
    if len(found) > 1:
        raise ConfigError(
            f"{len(found)} models are called {shown_line(name, 80)}",
            hint="say which: " + ", ".join(shown_line(row["use"], 80) for row in found[:5]),
        )
    row = found[0]
    return row["provider"], row["use"] if row["kind"] == "file" else row["name"]


async def meant(loaded: Loaded, name: str, ports: dict[str, int] | None = None) -> tuple[str, str]:
    """(planner, model) that `models use NAME` means. Raises ConfigError for what is not here."""
    direct = _direct(loaded, name)
    return direct if direct is not None else chosen(await model_rows(loaded, ports), name)


def _direct(loaded: Loaded, name: str) -> tuple[str, str] | None:
    """Choose what needs no look around: offline, auto, a file, a provider's model."""
    if name in ("offline", "auto"):
        return name, ""
    provider, separator, model = name.partition(":")
    if separator and provider in load_catalog().entries and model:
        return provider, model
    if name.lower().endswith(".gguf") or os.sep in name:
        from agent.providers.local.files import file_of
        from agent.providers.local.gguf import read_header

        path = file_of(name, loaded.environ)
        try:
            read_header(path)  # what cannot work is said now, not with the first goal
        except ConfigError:
            if not name.lower().endswith(".gguf") and not os.path.exists(path):
                return None  # names of models hold slashes, too
            raise
        return "local", path
    return None


def _is(row: dict[str, Any], planner: str, model: str) -> bool:
    return row["provider"] == planner and model in (row["name"], row["use"])


def use_model(
    loaded: Loaded, path: str, planner: str, model: str, *, wins: str = "wins"
) -> tuple[list[str], list[str]]:
    """Write the choice into the user's file at `path`: what changed and where, what may still stand in its way, both to be shown.

    Raises ConfigError, and then nothing was written.
    """
    changes = write_settings(path, {"planner": None if planner == "auto" else planner, "model": model or None})
    written = [shown_line(line, 300) for line in changes or ("nothing to change",)]
    written.append(f"in {shown_line(path)}")
    warnings = []
    for name in ("planner", "model"):
        origin = loaded.origins.get(name, "")
        if origin and origin != path:
            warnings.append(f"{name} is set by {shown_line(origin)}, too, which {wins}")
    for_all = loaded.settings.base_url and loaded.origins.get("base_url") != "command line"
    if for_all and planner not in ("offline", "local"):
        warnings.append("base_url is set, too, and says where this planner is asked")
    entry = load_catalog().entries.get(planner)
    if entry is not None and entry.key_required and not loaded.has_key(entry.key_variable):
        warnings.append(f"it needs a key in {entry.key_variable}, which is not set")
    if planner == "local" and not is_installed():
        warnings.append(f"the library that runs it is missing; {install_hint()}")
    return written, warnings
