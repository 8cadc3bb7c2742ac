"""Walk the tree in the order a shell would, keep its state, and hand every program to the judge.

Nothing here recurses on what a hostile text can repeat: lists are loops, wrappers are peeled in a loop, and nesting is
bounded by the parser and by MAX_SCRIPTS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level, RiskContext
from agent.risk.invocations.programs import Programs
from agent.risk.paths.absolute import absolute
from agent.risk.reader.cursor import FINDING, SCRIPT, STEP, SUBSHELL, TARGET, Work
from agent.risk.reader.syntax import Parser
from agent.risk.reader.tree import Function, Node, Sequence, WordNode
from agent.risk.reader.words import NUMBER, UNKNOWN, UNKNOWN_VARIABLE, Invocation, Output, Target, Word, join_taint
from agent.risk.shell import assignments, control_flow
from agent.risk.shell.alternatives import dispatch_here
from agent.risk.shell.expand import Expander
from agent.risk.shell.hazards import ReadBack
from agent.risk.shell.state import State, Value
from agent.risk.shell.streams import Files
from agent.risk.shell.whole_command import name_variable
from agent.risk.tables.levels import Rater
from agent.risk.tables.store import program as find_program
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.risk.shell.session import Session

MAX_SCRIPTS = 12
_COUNTS = lazily(rf"[A-Za-z_{UNKNOWN}]")
_MANY = 400  # findings, after which lesser ones are kept without being told in full

_MAKES = frozenset(("create", "write", "append", "copy-to", "link", "extract", "move"))
_UNDOES = {"delete": "deletes", "package-remove": "removes"}  # by effect, for what lists are told
_OTHER_ROOTS = frozenset(("chroot", "unshare"))  # and their like, where a path may name something else


class Walker:
    """One rating. `findings` collects, in the order things would happen."""

    __slots__ = (
        "abandoned", "active", "called", "calls", "committed", "declared", "depth", "descriptors", "downloads", "expander", "files",
        "findings", "fixed", "incoming", "joined", "looping", "names", "obeyed", "obeying", "outer", "outgoing", "overwritten",
        "parallel", "printed", "programs", "rater", "reading", "reads", "session", "shift", "side_by_side", "sinks", "source", "staged",
        "state", "suspecting", "text", "trees", "words", "work",
    )  # fmt: skip

    def __init__(self, text: str, context: RiskContext, *, informed: bool = False) -> None:
        self.text = text
        self.rater = Rater(context)
        self.session: Session | None = None
        if context.functions or context.aliases or context.exports:
            from agent.risk.shell.session import session_of

            self.session = session_of(context)
        self.findings: list[Finding] = []
        self.programs = Programs()
        self.state = State(self.rater.scopes.cwd, self.rater.scopes.home)
        if informed and self.session is not None:
            self.state.variables = self.session.variables()
            self.programs.inherited = dict(self.state.variables)
            self.state.home = context.exports.get("HOME") or self.state.home
        self.work = Work(len(text))
        self.expander = Expander(self.state, self.substitute, self.work)
        self.expander.evaluate = self.state.evaluate = self.evaluate
        self.expander.refer = self.refer
        self.state.assigned = lambda name, value: assignments.judge_assigned(self, name, value)
        self.shift: int | None = 0  # offset of the script being read in the text; None where it has none
        self.fixed = (0, len(text))
        self.depth = 0
        self.suspecting = 0
        self.source = text  # of the script being walked
        self.trees: list[tuple[str, Sequence]] = []  # of inner scripts, for rules that look at a whole one
        self.calls: list[str] = []
        self.active: list[Function] = []
        self.looping = 0  # how many loops are around what is walked
        self.parallel = 0  # how many commands around this one run beside others
        self.side_by_side: list[int] = []  # `parallel` when each active function was called
        self.called: set[str] = set()
        self.outer: Invocation | None = None  # whose circumstances an inner script runs in
        self.downloads: set[str] = (
            set()
        )  # absolute paths of what this command fetches from elsewhere: of files, and `folder/`
        self.files = Files()
        self.names: dict[str, str] = {}  # what files that this command names anew stand for, by absolute path
        self.descriptors: dict[str, Output] = {}
        self.outgoing: dict[str, Target] = {}  # what is written to these descriptors is sent, or read by a command
        self.incoming: Output = (None, "")  # what the command whose words are being expanded reads
        self.words: list[WordNode] = []  # of the command whose words are being expanded
        self.printed: Output = (None, "")  # by the simple command before, wherever that went
        self.sinks: list[Sequence] | None = None  # `> >(…)` of the redirections being expanded
        self.joined: ReadBack | None = None  # of the pipeline whose command comes next
        self.reading = ReadBack()  # of the command being judged
        self.staged: list[Word] = []  # secret files that git is told to add
        self.committed: list[Word] = []  # and those of them that it committed
        self.overwritten: list[str] = []  # files that a command reads and empties at once
        self.obeyed: dict[tuple[str, str], Level] = {}  # variables that programs obey, and what that means
        self.obeying = False  # inside of what a variable makes a program run
        self.abandoned = False
        self.reads = False  # whether the program being judged was given a sub-command that only reads
        self.declared: set[str] = set()  # arrays whose elements are written out in the command being judged

    # --- scripts ---

    def script(
        self,
        text: str,
        place: tuple[int, int],
        outer: Invocation | None,
        stdin: Output | None = None,
        *,
        same_shell: bool = False,
    ) -> Output:
        """Judge `text` as shell code: of this shell (eval, trap), or of a new one, which has no functions of this one."""
        if self.depth >= MAX_SCRIPTS:
            self.add("run-opaque", [], place, reason="nests more scripts than can be followed")
            return None, "opaque"
        if UNKNOWN in text:
            text = text.replace(UNKNOWN, UNKNOWN_VARIABLE)
        self.work.spend(SCRIPT + len(text))
        saved = self.shift, self.fixed, self.outer, self.source
        found = self.text.find(text, place[0], place[1]) if text else -1
        self.shift = found if found >= 0 and self.shift is not None else None
        self.fixed = place
        self.outer = outer
        self.source = text
        self.depth += 1
        try:
            parser = Parser(text)
            tree = parser.parse()
            if "&" in text or "|" in text or ">" in text:
                self.trees.append((text, tree))
            if parser.errors:
                self.add("unreadable", [], place, reason="holds code that cannot be read as shell")
            if parser.abandoned:
                self.abandoned = True
            if same_shell:
                return control_flow.sequence(self, tree, stdin)
            output = self.isolated(tree, stdin, new_shell=True)
            self.ended(output)
            return output
        finally:
            self.depth -= 1
            self.shift, self.fixed, self.outer, self.source = saved

    def ended(self, output: Output) -> None:
        """Judge what a whole script printed, where it made its own output a socket."""
        if self.outgoing:
            from agent.risk.shell.descriptors import judge_left_over  # rarely needed

            judge_left_over(self, output)

    def place(self, start: int, end: int) -> tuple[int, int]:
        if self.shift is None:
            return self.fixed
        return start + self.shift, end + self.shift

    def add(
        self,
        kind: str,
        words: list[Word],
        place: tuple[int, int],
        *,
        recursive: bool = False,
        level: Level | None = None,
        reason: str = "",
        rule: str = "",
        invocation: Invocation | None = None,
    ) -> None:
        """Rate an effect and keep its finding."""
        self.work.spend(FINDING + TARGET * len(words))
        if kind in _MAKES:
            self.files.made(words, invocation.cwd if invocation is not None else self.state.cwd)
        around = invocation or self.outer
        if self.state.arrived and kind in ("delete", "chmod", "chown"):
            words = [self.within(word) for word in words]
        if level is None and kind in _UNDOES and any("every" in word.taint.split() for word in words):
            level, rule, reason = Level.HIGH, f"{kind}.every", f"{_UNDOES[kind]} all that another command lists"
        finding = self.rater.rate(
            kind,
            words,
            place=place,
            cwd=invocation.cwd if invocation is not None else self.state.cwd,
            recursive=recursive,
            elevated=invocation.elevated if invocation is not None else False,
            level=level,
            reason=reason,
            rule=rule,
            program=self.programs.current,
            brief=len(self.findings) > _MANY,
            elsewhere=around is not None and (around.remote or not _OTHER_ROOTS.isdisjoint(around.via)),
        )
        if finding is not None:
            if finding.level is Level.HIGH and self.shift is not None:
                finding = name_variable(finding, words, self.text)
            self.findings.append(finding)
            self.programs.found(finding.level)

    def fetched(self, path: str, cwd: str) -> bool:
        """Tell whether a file is fetched by this command, or lies in a folder that it clones or unpacks from elsewhere."""
        if not self.downloads or UNKNOWN in cwd:
            return False
        place = absolute(path, cwd)
        return place in self.downloads or any(f"{place}/".startswith(one) for one in self.downloads if one[-1] == "/")

    def within(self, word: Word) -> Word:
        """`*` in a folder of the workspace that the command itself went to is what lies there, not all of the workspace."""
        folder, workspace = self.state.arrived, self.rater.scopes.workspace
        if not word.glob or "/" in word.text.removeprefix("./").rstrip("/") or not folder.startswith(f"{workspace}/"):
            return word
        return word.part(f"{folder}/{word.text.removeprefix('./')}") if self.state.cwd == folder else word

    # --- control flow ---

    def node(self, node: Node, stdin: Output | None) -> Output:
        """One command of any kind; its output."""
        self.work.spend(STEP)
        self.work.enter()
        output = control_flow.command(self, node, stdin)
        self.work.leave()
        return output

    def isolated(self, body: Sequence, stdin: Output | None, *, new_shell: bool = False) -> Output:
        """A subshell: its changes of state end with it. A new shell starts without functions and aliases."""
        saved, session = self.state, self.session
        self.work.spend(SUBSHELL + len(saved.variables) / 16)
        self.state = self.expander.state = saved.copy()
        if new_shell:
            self.state.functions, self.state.aliases = {}, {}
            outer = self.outer
            if (
                outer is not None and not outer.remote and (outer.inside or outer.cwd) != saved.cwd
            ):  # `env -C / sh -c …`
                self.state.cwd, self.state.elsewhere = outer.inside or outer.cwd, ()
            values: dict[str, list[Word]] = {}
            for name, word in self.outer.environment if self.outer is not None else ():
                values.setdefault(name, []).append(word)
            for name, words in values.items():
                self.state.put(name, Value([word.text for word in words], words[0].taint))
            self.session = session.inherited() if session is not None else None
        try:
            output = control_flow.sequence(self, body, stdin)
            if self.state.functions:
                self.finish()
            return output
        finally:
            self.state = self.expander.state = saved
            self.session = session

    def substitute(self, body: object, kind: str) -> Output:
        """A command or process substitution inside a word."""
        assert isinstance(body, Sequence)
        place = self.expander.place
        around = self.shift, self.fixed
        if self.expander.detached:
            self.shift, self.fixed = None, place
        if len(self.trees) < _MANY:
            self.trees.append((self.source, body))
        if kind == "proc>" and self.sinks is not None:
            self.sinks.append(body)
            return None, "proc"
        incoming, read = self.incoming, None
        if kind == "proc>":  # of `script`: all that is typed and shown
            recorded = self.words and self.words[0].unquoted() == "script"
            read = (None, "credential") if recorded else incoming
        text, taint = self.isolated(body, read)
        self.expander.place, self.incoming = place, incoming
        self.shift, self.fixed = around
        if kind == "proc<":
            return self.files.substitution((text, taint)), taint
        return text, join_taint(taint, "cmd") if text is None and taint != NUMBER else taint

    def evaluate(self, text: str, taint: str) -> None:
        """Arithmetic inside a word."""
        if _COUNTS.search(text):
            from agent.risk.shell.arithmetic import evaluate

            evaluate(self, text, taint)

    def refer(self, text: str, taint: str) -> None:
        """A name that is made of other text."""
        if "[" in text or UNKNOWN in text:
            from agent.risk.shell.arithmetic import refer

            refer(self, text, taint)

    # --- simple commands ---

    def dispatch(self, invocation: Invocation, *, direct: bool = False) -> Output:
        """Functions and aliases of the shell (where it runs the command itself), then programs.

        A program of the same name is judged as well: the definition may not happen, and aliases may be off.
        """
        self.work.spend(STEP)
        if direct and self.session is not None:
            output = self.session.redefined(self, invocation)
            if output is not None:
                name = invocation.words[0].text
                if name in self.state.functions or name in self.state.aliases or find_program(name) is not None:
                    other = dispatch_here(self, invocation, direct=True)
                    return None, join_taint(output[1], other[1])
                return output
        return dispatch_here(self, invocation, direct=direct)

    def suspect(self, words: list[Word], invocation: Invocation) -> None:
        """Judge words that may be a command of their own (behind a program that may run them): only high counts."""
        if self.suspecting:
            return
        self.suspecting += 1
        self.programs.guessing = True
        before = len(self.findings)
        self.dispatch(invocation.inner(words, invocation.words[0].text))
        self.findings[before:] = [f for f in self.findings[before:] if f.level is Level.HIGH]
        self.programs.guessing = False
        self.suspecting -= 1

    def finish(self) -> None:
        """Functions that were defined but not called stay in the shell: judge their bodies too."""
        for name, function in list(self.state.functions.items()):
            if name not in self.called and isinstance(function, Function):
                self.state.positional = None
                self.called.add(name)
                self.calls.append(name)
                self.node(function.body, None)
                self.calls.pop()
