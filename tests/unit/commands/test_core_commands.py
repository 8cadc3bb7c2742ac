"""The 37 core commands: each has a test of what it changes; those that no other module tests have it here."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

from agent.commands.registry import definitions
from agent.protocol import commands as core
from agent.protocol.errors import InvalidState, NotFound
from agent.protocol.events.session import SessionChanged
from tests.support.command_world import CommandWorld
from tests.support.each import each
from tests.support.fakes import FakePlanner, say

HERE = Path(__file__).parent
TESTS: dict[type, str] = {
    core.SetModel: "test_core_commands::test_another_model_answers_from_then_on",
    core.UsePrompt: "test_core_commands::test_a_prompt_is_a_goal_whatever_it_begins_with",
    core.UseRole: "test_library::test_roles_are_taken_and_left",
    core.UseSession: "test_session_life::test_use_session_goes_on_in_it",
    core.UseAgent: "test_agents::test_an_agent_is_taken_with_its_variables_and_its_words_go_to_the_planner",
    core.UseRag: "test_rags::test_passages_go_with_a_goal_and_are_named_as_sources",
    core.ExitRole: "test_library::test_roles_are_taken_and_left",
    core.ExitSession: "test_session_life::test_exit_session_begins_a_new_one",
    core.ExitRag: "test_rags::test_leaving_it_ends_the_looking_up",
    core.ExitAgent: "test_agents::test_leaving_sets_the_session_as_it_was_and_the_list_is_there_the_next_time",
    core.Info: "test_settings::test_info_tells_what_counts_in_this_session",
    core.RagSources: "test_rags::test_passages_go_with_a_goal_and_are_named_as_sources",
    core.Set: "test_settings::test_set_approve_is_recorded_then_made",
    core.CompressSession: "test_session_life::test_compress_leaves_a_summary_and_the_last_goal",
    core.EmptySession: "test_session_life::test_empty_forgets_the_history",
    core.SaveSession: "test_session_life::test_save_session_names_it",
    core.EditSession: "test_session_life::test_edit_session_asks_the_front_end_for_its_story",
    core.SaveRole: "test_library::test_a_role_is_saved_under_its_name_or_another",
    core.EditRole: "test_library::test_a_role_that_ships_is_copied_to_be_edited",
    core.EditRagDocs: "test_rags::test_a_rag_is_begun_edited_and_deleted_with_its_index",
    core.RebuildRag: "test_rags::test_rebuilding_reads_everything_and_using_only_what_changed",
    core.EditAgentConfig: "test_agents::test_agents_are_edited_saved_and_deleted",
    core.ClearTodo: "test_agents::test_the_list_is_recorded_then_kept_and_cleared",
    core.StarterList: "test_agents::test_starters_are_listed_and_begun_by_number",
    core.StarterRun: "test_agents::test_starters_are_listed_and_begun_by_number",
    core.IncludeFiles: "test_settings::test_files",
    core.Macro: "test_library::test_a_macro_does_its_lines_and_puts_back_what_they_set",
    core.VaultAdd: "test_vault::test_add_asks_unseen",
    core.VaultGet: "test_vault::test_get_shows_it_to_the_person_alone",
    core.VaultUpdate: "test_vault::test_update_replaces",
    core.VaultDelete: "test_vault::test_delete_asks_first",
    core.VaultList: "test_vault::test_list_names_them",
    core.EditConfig: "test_core_commands::test_the_configuration_is_edited_by_the_front_end",
    core.Authenticate: "test_sign_in::test_the_page_is_opened_and_the_key_asked_for",
    core.Delete: "test_core_commands::test_each_kind_that_can_be_deleted_is_looked_for",
    core.Copy: "test_settings::test_copy_gives_the_newest",
    core.Help: "test_core_commands::test_help_tells_of_all_commands_or_one",
}


@pytest.mark.covers("S1-67")
def test_each_of_the_37_has_a_test() -> None:
    kinds = set(get_args(core.CoreCommand))
    there = {each for definition in definitions() for each in definition.core}
    assert len(kinds) == 37
    assert set(TESTS) == there == kinds  # what can be typed and the variants are one to one
    for kind, place in TESTS.items():
        module, _, name = place.partition("::")
        tree = ast.parse((HERE / f"{module}.py").read_text())
        found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
        assert len(found) == 1, f"{kind.__name__}: {place}"


@pytest.mark.covers("S1-20")
def test_another_model_answers_from_then_on() -> None:
    other = FakePlanner(say("from the other"))
    other.name, other.model = "other", "m-2"
    world = CommandWorld(app={"make_planner": lambda name, model, redactor=None: other})
    world.do(":model other:m-2")
    assert world.context.planner is other
    changed = {(event.key, event.to) for event in world.events() if isinstance(event, SessionChanged)}
    assert changed == {("planner", "other"), ("model", "m-2")}
    assert world.do(":prompt who are you?").final_message == "from the other"


@pytest.mark.covers("S1-20", "S1-33")
def test_a_prompt_is_a_goal_whatever_it_begins_with() -> None:
    world = CommandWorld()
    outcome = world.do(":prompt :help me with this")
    assert outcome.goal is not None and outcome.goal.goal == ":help me with this"
    assert len(world.planner.requests) == 1


@pytest.mark.covers("S1-31", "S1-34")
def test_the_configuration_is_edited_by_the_front_end() -> None:
    world = CommandWorld(app={"config_path": "/home/me/config.toml"})
    for line in (":config", ":edit config", core.EditConfig()):
        request = world.do(line).frontend_request
        assert request is not None and (request.action, request.argument) == ("edit", "/home/me/config.toml")
    assert world.planner.requests == []


@pytest.mark.covers("S1-31")
def test_help_tells_of_all_commands_or_one() -> None:
    world = CommandWorld()
    world.do(":help")
    unnamed = [each.name for each in definitions() if f":{each.name}" not in world.told[-1]]
    assert unnamed == ["help", "quit"]
    world.do(core.Help("role"))
    assert ":role" in world.told[-1] and ":undo" not in world.told[-1]
    with pytest.raises(NotFound):
        world.do(":help nonsense")


@pytest.mark.covers("S1-31")
def test_copying_needs_something_to_copy() -> None:
    request = CommandWorld(last_command="ls -l").do(core.Copy()).frontend_request
    assert request is not None and (request.action, request.argument) == ("copy", "ls -l")
    with pytest.raises(InvalidState, match="a reply or a command"):
        CommandWorld().do(core.Copy())


@pytest.mark.covers("S1-31", "S1-32")
@pytest.mark.parametrize("kind", list(core.DeleteTarget))
def test_each_kind_that_can_be_deleted_is_looked_for(kind: core.DeleteTarget, tmp_path: Path) -> None:
    """What is there is deleted in the tests of its own module; what is not is said so, and nobody is asked."""
    from agent.library.library import Library

    library = Library(str(tmp_path), str(tmp_path))
    services = {"library": lambda: library, "session_is_there": lambda name: False}
    world = CommandWorld(services=services)
    with pytest.raises(NotFound):
        world.do(core.Delete(kind, "no-such-one"))
    assert world.asked == []


@pytest.mark.covers("S1-22", "S1-32")
@each("scope", list(core.InfoScope))
def test_each_scope_tells_of_itself_or_says_that_nothing_is_active(scope: core.InfoScope) -> None:
    world = CommandWorld()
    if scope in (core.InfoScope.SYSTEM, core.InfoScope.SESSION):
        world.do(core.Info(scope))
        assert world.result.text
    else:
        with pytest.raises(InvalidState, match=f"an? (active )?{scope}|no {scope}"):
            world.do(core.Info(scope))
