"""Check that a command means in another shell what it means in bash, for which it was rated.

A list of what is the same, not of what differs: anything that is not plainly the same is told, so that the caller fails
closed (runs it by bash, or rates it high). Texts are read one character at a time, without a grammar.
"""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[\w./,:+@%=^~#!\[\]*?{}-]")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PROGRAM = re.compile(r"[\w./+@:-]+|\[")
# Words in the place of a program that take another command, or nothing, behind them.
_LEADING = {
    "zsh": ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time"),
    "sh": ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!"),
    "fish": ("!", "time"),
}
# Programs to bash, and something else to the other shell; or text that it would read in its own language.
_DIFFERENT = {
    shell: frozenset(words.split())
    for shell, words in {
        "zsh": """- . [[ alias always autoload bindkey builtin bye cap case chdir clone coproc declare disable echotc echoti emulate
            enable end eval exec fc float foreach function functions getcap getln getopts hash integer let limit local log logout
            mapfile nocorrect noglob print private pushln r read readarray readonly rehash repeat sched select set setcap setopt
            shopt source suspend trap ttyctl typeset unalias unfunction unhash unlimit unset unsetopt vared zcompile zcp zcurses
            zf_chgrp zf_chmod zf_chown zf_ln zf_mkdir zf_mv zf_rm zf_rmdir zf_sync zformat zftp zle zln zmodload zmv zparseopts
            zprof zpty zregexparse zselect zsocket zstat zstyle zsystem ztcp""",
        "sh": """. [[ alias builtin case compgen complete compopt coproc declare dirs disown enable eval exec function getopts hash
            help history let local logout mapfile popd print pushd read readarray readonly select set shopt source suspend time
            trap typeset unalias unset""",
        "fish": """. : [[ abbr alias and argparse begin bind block break breakpoint builtin case cdh commandline complete contains
            continue coproc count declare dirh dirs disown else emit enable end eval exec fc for funced funcsave function functions
            getopts hash help history if isatty let local logout mapfile math nextd not open or path popd prevd print psub pushd
            random read readarray readonly return select set setenv set_color shift shopt source status string suspend switch trap
            type typeset unset until vared wait while""",
    }.items()
}
_FISH_INTERNAL = re.compile(r"_\w*|fish_\w+")
_ALIAS = re.compile(r"""\s*alias\s+[\w.-]+=(?:'([^'\\]*)'|"([^"\\$`]*)"|([\w./-]+))\s*""")
# Variables that mean something to zsh under names that bash knows nothing of.
_ZSH_VARIABLES = re.compile(
    r"(?<![\w$./{-])(?:path|fpath|cdpath|manpath|module_path|mailpath|fignore|argv|status|watch|psvar|prompt|histchars|signals|"
    r"pipestatus|NULLCMD|READNULLCMD|ZDOTDIR|KEYBOARD_HACK|TRAP\w+|chpwd\w*|precmd\w*|preexec\w*|periodic\w*|zshexit\w*|"
    r"zshaddhistory\w*|zsh_\w+|command_not_found_handler)(?![\w./-])"
)


def difference(shell: str, text: str) -> str:
    """Name what another shell (zsh, fish or sh) may take for something else in `text` than bash does; "" where nothing."""
    if shell == "zsh" and (match := _ZSH_VARIABLES.search(text)):
        return match[0]
    made = _ALIAS.fullmatch(text)
    if made and shell != "sh":
        text = made[1] or made[2] or made[3] or ""
    echoes = shell == "sh" and re.search(r"\becho\s+-\w*[eE]", text) is not None
    return _Reader(shell, text).read() or ("echo" if echoes else "")


class _Reader:
    def __init__(self, shell: str, text: str) -> None:
        self._shell = shell
        self._text = text
        self._at = 0
        self._depth = 0
        self._word = ""  # as far as it is plain; a quoted part stands as itself
        self._quoted = False
        self._in_word = False
        self._program = True  # the next word is one
        self._backslash = False
        self._said: set[str] = set()

    def read(self) -> str:
        while self._at < len(self._text):
            wrong = self._step(self._text[self._at])
            if wrong:
                return wrong
        wrong = self._end_word() or ("(" if self._depth else "")
        return wrong or ("echo" if self._backslash and "echo" in self._said else "")  # whose wrong differ

    def _step(self, char: str) -> str:
        if char in " \t":
            self._at += 1
            return self._end_word()
        if char == "#" and not self._in_word:
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end
            return ""
        if char in "\n;&|()<>":
            return self._operator(char)
        self._in_word = True
        if char in "'\"\\$":
            return {"'": self._single, '"': self._double, "\\": self._escape, "$": self._variable}[char]()
        if not (_PLAIN.match(char) or (char.isprintable() and ord(char) > 0x7F)):
            return char
        return self._bare(char)

    def _bare(self, char: str) -> str:
        text, at = self._text, self._at
        if text.startswith("{}", at) and self._ends(at + 2):
            self._word, self._at = self._word + "{}", at + 2
            return ""
        if char in "{}":
            pair = re.compile(r"\{[\w./+@:-]*(?:,[\w./+@:-]*)+\}").match(text, at)
            # Behind a variable, or in pairs, the shells put words together in different orders.
            if pair and ".." not in pair[0] and self._shell != "sh" and not self._quoted and "{" not in self._word:
                self._word += pair[0]
                self._at = pair.end()
                return ""
            alone = not self._word and text[at + 1 : at + 2] in ("", " ", "\n", ";", "\t", ")", "&", "|")
            if not alone or self._shell == "fish":
                return char
        if not self._word and not self._quoted and char in "=^!" and text[at + 1 : at + 2] not in (" ", "\t"):
            return char
        if char == "~" and (
            self._word or self._quoted or text[at + 1 : at + 2] not in ("", "/", " ", "\n", ";", ")", "|", "&")
        ):
            return char
        if self._shell == "fish" and char in "?[]" and not (char in "[]" and not self._word and self._ends(at + 1)):
            return char
        if self._shell == "sh" and char in "*?[" and re.search(r"(?:^|/)\.[^/]*\Z", self._word):
            return f".{char}"  # some take `..` for one of these
        if char == "*" and text[at + 1 : at + 2] == "*" and self._shell != "zsh":
            return "**"
        self._word += char
        self._at += 1
        return ""

    def _ends(self, at: int) -> bool:
        return self._text[at : at + 1] in ("", " ", "\t", "\n", ";", "&", "|")

    def _operator(self, char: str) -> str:
        text, at = self._text, self._at
        if char in "<>":
            return self._redirection()
        if char == "(":
            defines = text[at : at + 2] == "()" and _NAME.fullmatch(self._word) and self._program and not self._quoted
            if self._shell == "fish" or (self._in_word and not defines):
                return "("
            if defines:
                self._word, self._in_word, self._at = "", False, at + 2
                return ""
        if char == "&" and self._shell == "fish" and not self._stands_alone():
            return "&"
        wrong = self._end_word()
        operator = next(
            (known for known in ("&&", "||", ";;", "|&", ";&", "&|", "&!") if text.startswith(known, at)), char
        )
        if operator in (";;", ";&", "&|", "&!", "|&") and not (operator == "|&" and self._shell == "zsh"):
            return operator
        if text.startswith("&>", at):
            return "&>" if self._shell == "sh" else self._end_word() or self._redirection(skip=1)
        self._depth += {"(": 1, ")": -1}.get(char, 0)
        if self._depth < 0:
            return ")"
        self._program = char != ")"
        self._at += len(operator)
        return wrong

    def _stands_alone(self) -> bool:
        """Tell whether there are blanks around `&`, `&&` or `&>`: fish takes others for a part of the word."""
        before = self._text[: self._at]
        behind = self._text[self._at :].lstrip("&")
        return before[-1:] in ("", " ", "\t", "\n", ";") and behind[:1] in ("", " ", "\t", "\n", ";", ">")

    def _redirection(self, *, skip: int = 0) -> str:
        """`>`, `>>`, `<`, `2>`, `2>&1`: the file behind it is a word like any other."""
        if self._in_word and not self._word.isdigit():
            wrong = self._end_word()
            if wrong:
                return wrong
        self._word, self._in_word, self._quoted = "", False, False
        match = re.compile(r"(>>|>|<)(?:&(\d)(?=[\s;&|)]|$)|(?![<>&|!(?%]))").match(self._text, self._at + skip)
        if match is None or (skip and match[2]):
            return self._text[self._at : self._at + 2]
        self._at = match.end()
        if not match[2]:
            was, self._program = self._program, False
            while self._text[self._at : self._at + 1] in (" ", "\t"):
                self._at += 1
            while self._at < len(self._text) and self._text[self._at] not in " \t\n;&|()<>":
                wrong = self._step(self._text[self._at])
                if wrong:
                    return wrong
            self._word, self._in_word, self._quoted, self._program = "", False, False, was
        return ""

    def _single(self) -> str:
        end = self._text.find("'", self._at + 1)
        inside = self._text[self._at + 1 : end]
        if end < 0 or (self._shell == "fish" and "\\" in inside):
            return "'"
        self._backslash |= "\\" in inside
        self._quoted, self._at = True, end + 1
        return ""

    def _double(self) -> str:
        self._at += 1
        self._quoted = True
        while (char := self._text[self._at : self._at + 1]) != '"':
            if char == "$":
                wrong = self._variable()
                if wrong:
                    return wrong
            elif char == "\\":
                self._backslash = True
                if self._text[self._at + 1 : self._at + 2] not in ('"', "\\", "$"):
                    return "\\"
                self._at += 2
            elif not char or char == "`":
                return char or '"'
            else:
                self._at += 1
        self._at += 1
        return ""

    def _escape(self) -> str:
        following = self._text[self._at + 1 : self._at + 2]
        self._backslash = True
        if not following or (self._shell == "fish" and following != "\n"):
            return "\\"
        self._quoted = following != "\n" or self._quoted
        self._at += 2
        return ""

    def _variable(self) -> str:
        """`$name`, and for zsh and sh `${name}` and `$?`; not followed by what could belong to it."""
        name = r"(?!_(?!\w))[A-Za-z_][A-Za-z0-9_]*"  # `$_` is another thing in each shell
        more = "" if self._shell == "fish" else rf"|\{{{name}\}}|[?$@*0-9](?!\w)"
        pattern = rf"\$(?:{name}{more})"
        match = re.compile(pattern).match(self._text, self._at)
        if match is None:
            return "$"
        following = self._text[match.end() : match.end() + 2]
        if following[:1] in ("[", "(") or following[:1] > "\x7f" or re.match(r":[A-Za-z]", following):
            return match[0] + following[:1]
        self._quoted, self._at = True, match.end()
        return ""

    def _end_word(self) -> str:
        """A word is complete: one in the place of a program must be a name that both shells know as the same."""
        word, quoted, there = self._word, self._quoted, self._in_word
        self._word, self._quoted, self._in_word = "", False, False
        if not there or not self._program:
            return ""
        if _ASSIGNMENT.match(word):
            return ""
        if word in _LEADING[self._shell] and not quoted:
            return ""
        self._program = False
        self._said.add(word)
        if quoted or not _PROGRAM.fullmatch(word) or word in _DIFFERENT[self._shell]:
            return word or "a quoted program"
        if self._shell == "fish" and _FISH_INTERNAL.fullmatch(word):
            return word
        return ""
