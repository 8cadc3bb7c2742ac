"""Roles: the user's own come first, names cannot lead elsewhere."""

import pytest

from agent.library.roles_store import RoleStore
from agent.protocol.errors import InvalidRequest, IoError, NotFound


def test_own_roles_come_before_those_that_ship(tmp_path):
    store = RoleStore(str(tmp_path))
    assert "explain" in store.load("explain").lower()
    (tmp_path / "explain.md").write_text("mine\n")
    (tmp_path / "pirate.md").write_text("arr")
    assert store.load("explain") == "mine"
    assert {"explain", "pirate", "terse"} <= set(store.names())


def test_unknown_roles_name_those_there_are(tmp_path):
    with pytest.raises(NotFound) as caught:
        RoleStore(str(tmp_path / "nowhere")).load("none")
    assert "explain" in caught.value.hint


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a\x00b", "a b"])
def test_names_that_are_none(tmp_path, name):
    with pytest.raises(InvalidRequest):
        RoleStore(str(tmp_path)).load(name)


def test_a_folder_in_place_of_a_role(tmp_path):
    (tmp_path / "odd.md").mkdir()
    with pytest.raises(IoError):
        RoleStore(str(tmp_path)).load("odd")
