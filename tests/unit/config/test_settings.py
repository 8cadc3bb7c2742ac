"""Settings: one table, one precedence, and a working folder that can only tighten."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config import paths
from agent.config.load import load_settings
from agent.config.settings import Settings, parse_value
from agent.config.table import BY_NAME, SETTINGS
from agent.protocol.errors import ConfigError
from tests.support.settings_page import env_example, settings_page


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home/.config/agent-shell").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    (tmp_path / "checkout").mkdir()
    return tmp_path


def load(home, flags=None, environ=None):
    env = {"HOME": str(home / "home"), **(environ or {})}
    return load_settings(flags or {}, env, cwd=str(home / "work"), checkout=str(home / "checkout"))


def user_file(home):
    return home / "home/.config/agent-shell/config.toml"


def test_table_and_struct_name_the_same_settings():
    assert {setting.name for setting in SETTINGS} == set(Settings.__struct_fields__)


def test_defaults(home):
    loaded = load(home)
    assert loaded.settings == Settings()
    assert loaded.origins == {}
    assert loaded.warnings == ()


def test_precedence(home):
    layers = [
        (lambda: (home / "work/.agent-shell.toml").write_text("max_steps = 5"), 5),
        (lambda: user_file(home).write_text("max_steps = 6"), 6),
        (lambda: (home / "home/.config/agent-shell/.env").write_text("AGENT_MAX_STEPS=7"), 7),
        (lambda: (home / "checkout/.env").write_text("AGENT_MAX_STEPS=8"), 8),
    ]
    for write, expected in layers:
        write()
        assert load(home).settings.max_steps == expected
    assert load(home, environ={"AGENT_MAX_STEPS": "9"}).settings.max_steps == 9
    loaded = load(home, {"max_steps": 10}, {"AGENT_MAX_STEPS": "9"})
    assert loaded.settings.max_steps == 10
    assert loaded.origins["max_steps"] == "command line"


@pytest.mark.parametrize(
    ("said", "theme"),
    [("0;15", "light"), ("0;default;15", "light"), ("0;7", "light"), ("15;0", "dark"), ("7;8", "dark"), ("15;default", "dark"),
     ("", "dark"), (";", "dark"), ("0;²", "dark")],
)  # fmt: skip
def test_the_theme_is_what_the_terminal_says_unless_it_is_set(home, said, theme):
    assert load(home, environ={"COLORFGBG": said}).settings.theme == theme
    assert load(home, environ={"COLORFGBG": said, "AGENT_THEME": "dark"}).settings.theme == "dark"


@pytest.mark.parametrize("name", [s.name for s in SETTINGS if s.from_project == "never"])
def test_a_working_folder_never_sets_what_could_loosen(home, name):
    value = {"bool": "true", "int": "3", "float": "3"}.get(BY_NAME[name].kind, BY_NAME[name].choices[-1:] or "x")
    value = value[0] if isinstance(value, tuple) else value
    (home / "work/.env").write_text(f"AGENT_{name.upper()}={value}\nOPENROUTER_API_KEY=sk-hostile\n")
    toml = value if BY_NAME[name].kind in ("bool", "int", "float") else f'"{value}"'
    (home / "work/.agent-shell.toml").write_text(f"{name} = {toml}\n")
    loaded = load(home)
    assert getattr(loaded.settings, name) == getattr(Settings(), name)
    assert loaded.secrets == {}
    assert len(loaded.warnings) == 2


def test_a_working_folder_may_tighten(home):
    (home / "work/.agent-shell.toml").write_text(
        'max_steps = 3\ncommand_timeout = 9.0\ndry_run = true\nredact = "pii"\n'
    )
    settings = load(home).settings
    assert (settings.max_steps, settings.command_timeout, settings.dry_run) == (3, 9.0, True)
    assert settings.redact == "pii"


def test_a_working_folder_may_not_loosen_bounds(home):
    (home / "work/.agent-shell.toml").write_text("max_steps = 3000\nshow_secrets = true\ndry_run = false\n")
    loaded = load(home)
    assert (loaded.settings.max_steps, loaded.settings.show_secrets) == (25, False)
    assert len(loaded.warnings) == 3


@pytest.mark.parametrize("content", [b"\xff\xfe", b"= = =", b"max_steps = [[[", b"x" * 2_000_000])
def test_hostile_project_files_are_ignored_with_a_warning(home, content):
    (home / "work/.agent-shell.toml").write_bytes(content)
    loaded = load(home)
    assert loaded.settings == Settings()
    assert loaded.warnings


def test_fifo_and_folder_in_place_of_a_file_do_not_hang(home):
    os.mkfifo(home / "work/.agent-shell.toml")
    (home / "work/.env").mkdir()
    assert len(load(home).warnings) == 2


@pytest.mark.parametrize(
    "content", [b"= = =", b"\xff", b"max_steps = 'many'", b"approve = 'always'", b"approve = true"]
)
def test_a_broken_user_file_is_an_error_that_names_it(home, content):
    user_file(home).write_bytes(content)
    with pytest.raises(ConfigError, match=r"config\.toml"):
        load(home)


def test_unknown_keys_are_named_with_the_nearest(home):
    user_file(home).write_text('aprove = "low"')
    assert "did you mean 'approve'" in load(home).warnings[0]


def test_named_config_must_exist(home):
    with pytest.raises(ConfigError, match="does not exist"):
        load(home, {"config": str(home / "nowhere.toml")})


@pytest.mark.covers("S4-1")
def test_keys_come_from_own_env_files_and_stay_out_of_settings(home):
    (home / "checkout/.env").write_text("OPENROUTER_API_KEY=sk-one\nAGENT_MODEL=m\n")
    os.chmod(home / "checkout/.env", 0o600)
    loaded = load(home)
    assert loaded.secrets == {"OPENROUTER_API_KEY": "sk-one"}
    assert loaded.settings.model == "m"
    assert "OPENROUTER_API_KEY" not in loaded.environ
    assert "OPENROUTER_API_KEY" not in os.environ


def test_no_interpolation_in_env_files(home):
    (home / "checkout/.env").write_text("AGENT_MODEL=${HOME}\n")
    assert load(home).settings.model == "${HOME}"


def test_a_key_that_others_can_read_is_warned_about(home):
    (home / "checkout/.env").write_text("OPENROUTER_API_KEY=sk-one\n")
    os.chmod(home / "checkout/.env", 0o644)
    assert "chmod 600" in load(home).warnings[0]


def test_environment_errors_name_the_variable(home):
    with pytest.raises(ConfigError, match="AGENT_MAX_STEPS"):
        load(home, environ={"AGENT_MAX_STEPS": "-1"})


@given(st.sampled_from(SETTINGS), st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.lists(st.text())))
def test_parsing_gives_the_right_type_or_a_value_error(setting, raw):
    try:
        value = parse_value(setting, raw)
    except ValueError:
        return
    kinds = {"text": str, "choice": str, "int": int, "float": float, "bool": bool, "texts": tuple, "size": int}
    assert isinstance(value, kinds[setting.kind])


def test_generated_texts_name_every_setting():
    for setting in SETTINGS:
        assert setting.env in env_example()
        assert f"`{setting.name}`" in settings_page()


def test_xdg_folders(tmp_path):
    environ = {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "relative"}
    assert paths.config_dir(environ) == "/c/agent-shell"
    assert paths.state_dir(environ) == "/h/.local/state/agent-shell"
