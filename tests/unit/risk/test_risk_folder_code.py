"""What a program loads from the folder counts also where it is only to tell something: help, its version, a line of code."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.planner.facts.path_facts import path_facts
from agent.protocol.decisions import Level, RiskContext
from agent.risk.classifier import classify
from agent.risk.invocations.folder_files import _FILES, files_loaded
from agent.risk.tables.store import program, program_names
from tests.support.each import each

PRINTS = ["eslint", "prettier", "stylelint", "webpack", "vite", "vitest", "babel", "jest", "mocha", "karma", "rollup", "gulp", "tsc", "nox",
          "fab", "invoke", "celery", "alembic", "django-admin", "behave", "robot", "nose2", "make", "just"]  # fmt: skip
EVERYDAY = {
    "R": "R -e 1", "Rscript": "Rscript -e 'print(1)'", "ghci": "ghci -e 1", "iex": "iex -e 1", "clojure": "clojure -e '(+ 1 2)'",
    "bun": "bun -e 1", "composer": "composer show", "yarn": "yarn --version",
    "mvn": "mvn -v", "cargo": "cargo --version", "wp": "wp plugin list", "ansible": "ansible all --list-hosts",
    "pytest": "pytest --version", "ansible-playbook": "ansible-playbook --syntax-check x.yml", "vagrant": "vagrant --help",
    "sbt": "sbt --version", "hg": "hg status",
    "bazel": "bazel --version", "pdm": "pdm --version", "rustc": "rustc --version",
    "flake8": "flake8 --version", "poetry": "poetry show", "npm": "npm install --dry-run", "pnpm": "pnpm ls", "jest": "jest --version",
    "lerna": "lerna --version", "grunt": "grunt --version", "nx": "nx --version", "webpack": "webpack --version",
    "serverless": "serverless --version",
    "ng": "ng --version", "helmfile": "helmfile list", "terragrunt": "terragrunt plan", "stack": "stack path", "dart": "dart analyze",
}  # fmt: skip


def test_programs_that_load_the_folder_are_never_low_for_help() -> None:
    tables = {name: program(name) for name in sorted(program_names())}
    loads = {name: table for name, table in tables.items() if table is not None and name in table.loads}
    assert len(loads) > 20
    for name, table in loads.items():
        assert classify(f"{name} --help").level is not Level.LOW, name
        version = classify(f"{name} --version").level
        assert (version is not Level.LOW) is (f"{name}:--version" in table.loads), name


@each("command", ["uv tree", "uv lock --check", "uv pip compile pyproject.toml", "hatch version", "hatch project metadata",
                  "pylint --list-msgs", "flake8 --help", "makepkg --printsrcinfo", "zig build --help", "crystal docs", "ng lint",
                  "dune describe", "task --status x", "chef-client --why-run", "airflow dags list", "dagster job list"])  # fmt: skip
def test_a_sub_command_that_runs_the_project_to_tell_is_medium(command: str) -> None:
    assert classify(command).level is Level.MEDIUM


@each("command", ["uv pip list", "uv python list", "uv tree --help", "hatch env show", "zig --help", "zig version", "crystal --version",
                  "dune --help", "task --list", "airflow pools list", "pylint --version", "makepkg --version"])  # fmt: skip
def test_its_neighbours_that_only_tell_stay_low(command: str) -> None:
    assert classify(command).level is Level.LOW


@each("no", ["false", "F"])
@pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.thorough)])
def test_an_option_that_is_said_no_to_holds_nothing_back(no: str, every: int) -> None:
    """Of every table with sub-commands: `--help=false` lowers no more than an option that nobody has heard of."""
    wrong, tried = [], 0
    for name in [name for name in sorted(program_names()) if (table := program(name)) and table.cases][::every]:
        table = program(name)
        assert table is not None
        for verb in [verb for verb in table.cases if verb.isalpha()][:2]:
            level = classify(f"{name} {verb} thing --unheard-of={no}").level
            for option in sorted(table.dry & {"--help", "--dry-run", "-help", "-h"}) if level is not Level.LOW else ():
                tried += 1
                if classify(f"{name} {verb} thing {option}={no}").level.rank < level.rank:
                    wrong.append(f"{name} {verb} thing {option}={no}")
    assert tried > 200 // every
    assert wrong == []


@each("no", ["False", "FALSE", "0", "no", "off", "never"])
def test_there_are_many_words_for_no(no: str) -> None:
    assert classify(f"kubectl delete ns prod --dry-run={no}").level is Level.HIGH
    assert classify(f"terraform destroy -auto-approve -help={no}").level is Level.HIGH


@each("name", PRINTS)
def test_programs_that_only_print_their_help_stay_low(name: str) -> None:
    assert classify(f"{name} --help").level is Level.LOW


@each("command", ["pytest -p mod --version", "pytest -c f --help", "pytest --rootdir x -h", "scons -H -h x", "rake -T", "fab -l", "nox -l",
                  "gulp --tasks", "mix --help", "ansible-inventory -i inv.py --list", "ansible -i ./ec2 all --list-hosts",
                  "ansible-inventory -i $x --list"])  # fmt: skip
def test_listing_what_the_folder_describes_runs_it(command: str) -> None:
    assert (classify(command).level is Level.MEDIUM) is ("-H" not in command)


@each(
    "command",
    [
        "ansible-inventory -i hosts --list",
        "ansible -i a,b all --list-hosts",
        "ansible-inventory --help",
        "scons -H",
    ],
)
def test_listing_what_data_says_stays_low(command: str) -> None:
    assert classify(command).level is Level.LOW


@each("name", sorted(EVERYDAY))
def test_a_file_that_is_run_first_raises_by_facts(name: str, tmp_path: Path) -> None:
    context = RiskContext(cwd=str(tmp_path), workspace=str(tmp_path))
    assert classify(EVERYDAY[name], context).level is Level.LOW
    for one in _FILES[name]:
        path = tmp_path / one.file
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("nothing of it")
        assert (rated(EVERYDAY[name], context) is Level.LOW) is bool(one.says), one
        path.write_text(f"x {one.says.split(' ')[0]} y")
        assert rated(EVERYDAY[name], context) is Level.MEDIUM, one
        path.unlink()


def test_a_file_above_counts_where_the_program_looks_there(tmp_path: Path) -> None:
    (tmp_path / ".mvn").mkdir()
    (tmp_path / ".mvn/jvm.config").touch()
    (tmp_path / ".Rprofile").touch()
    (tmp_path / "sub").mkdir()
    context = RiskContext(cwd=str(tmp_path / "sub"))
    assert rated("mvn -v", context) is Level.MEDIUM
    assert rated("R -e 1", context) is Level.LOW
    assert rated("cd ..; R -e 1", context) is Level.MEDIUM


@each(
    "command",
    ["Rscript --vanilla -e 1", "R -e 1 --vanilla", "R --version", "ghci --version", "composer --no-plugins show"],
)
def test_options_that_leave_the_file_out_leave_the_level(command: str, tmp_path: Path) -> None:
    for file in (".Rprofile", ".Renviron", ".ghci"):
        (tmp_path / file).touch()
    (tmp_path / "composer.json").write_text('{"allow-plugins": true}')
    assert rated(command, RiskContext(cwd=str(tmp_path))) is Level.LOW


def test_an_option_behind_the_code_leaves_nothing_out() -> None:
    assert files_loaded(["Rscript", "-e", "1", "--vanilla"])
    assert files_loaded(["Rscript", "x.R", "--vanilla"])
    assert [one.file for one in files_loaded(["Rscript", "--no-init-file", "-e", "1"])] == [".Renviron"]


def rated(command: str, context: RiskContext) -> Level:
    facts = path_facts(command, context)
    return classify(command, RiskContext(cwd=context.cwd, workspace=context.workspace, facts=facts)).level
