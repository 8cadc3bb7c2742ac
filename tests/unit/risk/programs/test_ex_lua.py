"""What Lua has an editor do is what Vim script, or the shell, would have it do."""

from __future__ import annotations

from agent.risk.classifier import classify
from tests.support.each import each

FOLDERS = ("~", "/etc", "build", "~/notes", "..")
RANKS = ("low", "medium", "high")
HOMES = ('vim.fn.expand("~")', 'vim.env.HOME', 'os.getenv("HOME")', 'vim.fn.expand("$HOME")', 'vim.uv.os_homedir()',
         'vim.fs.normalize("~")', 'vim.env.HOME .. "/"', 'unknown', 'vim.fn.getcwd() .. name')  # fmt: skip


def rated(code: str, editor: str = "nvim --headless -u NONE") -> str:
    return classify(f"{editor} -c '{code}' -c q").level.value


@each(
    "form",
    [
        'lua vim.fn.delete(vim.fn.expand("{}"), "rf")',
        'lua vim.cmd("!rm -rf {}")',
        "lua vim.cmd([[!rm -rf {}]])",
        'lua vim.api.nvim_command("call delete(expand(\\"{}\\"), \\"rf\\")")',
        'lua vim.fn.system("rm -rf {}")',
        'lua vim.fs.rm(vim.fn.expand("{}"), {{recursive = true}})',
        'call delete(expand("{}"), "rf")',
        'luado vim.fn.delete(vim.fn.expand("{}"), "rf")',
    ],
)
def test_a_folder_that_an_editor_deletes_counts_as_by_rm(form: str) -> None:
    for folder in FOLDERS:
        least = classify(f"rm -rf {folder}").level.value
        assert RANKS.index(rated(form.format(folder))) >= RANKS.index(least), folder
    assert classify("rm -rf ~").level.value == "high"


@each("home", HOMES)
def test_a_path_that_is_put_together_is_not_lost(home: str) -> None:
    assert rated(f'lua vim.fn.delete({home}, "rf")') == "high"


@each("home", ["$HOME", 'expand("~")', 'getenv("HOME")', '$HOME . "/"', 'expand("~") .. "/"', "name"])
def test_so_does_one_of_vim_script(home: str) -> None:
    assert rated(f'call delete({home}, "rf")', "vim") == "high"


def test_programs_are_run_with_their_words() -> None:
    assert rated('lua vim.system({"rm", "-rf", "/etc"})') == "high"
    assert rated('lua vim.fn.jobstart({"sh", "-c", "rm -rf ~"})') == "high"
    assert rated('lua vim.system({"ls", "-l"})') == "medium"


@each(
    "code",
    [
        'lua vim.fn["delete"](vim.fn.expand("~"), "rf")',
        'lua local d=vim.fn.delete; d(vim.fn.expand("~"),"rf")',
        'lua vim.api.nvim_call_function("delete", {vim.fn.expand("~"), "rf"})',
        "lua vim.fn.delete(vim.fn.expand([[~]]), [[rf]])",
        'lua require("plenary.path"):new("/etc"):rm({recursive=true})',
        'call call("delete", [expand("~"), "rf"])',
        'let F=function("delete") | call F($HOME, "rf")',
        'call delete(fnamemodify("~", ":p"), "rf")',
        '=vim.fn.delete(vim.fn.expand("~"), "rf")',
    ],
)
def test_a_function_that_deletes_is_found_however_it_is_called(code: str) -> None:
    assert rated(code) == "high"
    assert rated(code.replace("~", "build").replace("/etc", "build").replace("$HOME", '"build"')) == "medium"


def test_a_script_in_lua_that_comes_in_is_read() -> None:
    assert classify('nvim -l - <<< \'vim.fn.delete(vim.fn.expand("~"), "rf")\'').level.value == "high"
    assert classify("nvim -l - <<< 'print(1)'").level.value == "medium"
