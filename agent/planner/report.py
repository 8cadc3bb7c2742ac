"""Put history items in words for a model: goals with their facts, commands with what became of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agent.planner.untrusted import clean, clip, data_block, one_line
from agent.protocol.messages import (
    CommandItem,
    ContextBlock,
    EnvironmentFacts,
    GoalItem,
    HistoryItem,
    StepItem,
    SummaryItem,
    ToolItem,
)

HOST = "[host]"
MEMO_ITEMS = 8192


class TokenShares(NamedTuple):
    """Tokens that parts of one message may take; together they leave place for several turns."""

    goal: int
    files: int
    context: int
    stdout: int
    stderr: int
    tool: int

    @classmethod
    def within(cls, tokens: int) -> TokenShares:
        """Shares of a history budget."""
        return cls(
            goal=tokens // 4,
            files=tokens // 4,
            context=tokens // 6,
            stdout=min(3000, tokens // 8),
            stderr=min(1500, tokens // 12),
            tool=min(12_000, tokens // 6),
        )


class Reporter:
    """Words for items. `redact` is applied to everything before it is cut, so that no cut can halve a secret. `facts`: goals with theirs;
    `manual`: what manuals say for one.

    What was written about an item is remembered: every step renders the whole history again.
    """

    def __init__(
        self,
        shares: TokenShares,
        redact: Callable[[str], str],
        *,
        facts: bool = True,
        manual: Callable[[GoalItem], str] | None = None,
    ) -> None:
        self.shares = shares
        self._manual = manual
        self._facts = facts
        self._redact = redact
        self._memo: dict[tuple[int, bool], tuple[HistoryItem, str]] = {}

    def goal(self, item: GoalItem) -> str:
        """The goal first, the facts after it, data last."""
        return self._remembered(item, False, lambda: self._goal(item))

    def command(self, item: CommandItem, *, show_command: bool) -> str:
        """Say what became of a proposal. `show_command`: the model has not seen its text yet."""
        return self._remembered(item, show_command, lambda: self._command(item, show_command=show_command))

    def tool(self, item: ToolItem, *, named: bool) -> str:
        """A tool's result; `named` where nothing else ties it to the call."""
        return self._remembered(item, named, lambda: self._tool(item, named=named))

    def step(self, item: StepItem) -> str:
        """Say where a plan stands: what is carried out as planned, or that the step's command is asked for."""
        head = f"{HOST} Step {item.number} of {item.total} of the plan: {self._line(item.goal, 500)}"
        if item.command:
            return f"{head}\n{HOST} It is carried out as planned:\n{self._shown(item.command)}"
        return f"{head}\n{HOST} Reply with a command for this step alone, or in chat when the step is done."

    def summary(self, item: SummaryItem) -> str:
        """Tell a summary of the past, which is no more to be obeyed than the past itself."""
        return (
            f"{HOST} Earlier parts of this session, shortened:\n{data_block('summary', self._redact(clean(item.text)))}"
        )

    def note(self, text: str) -> str:
        return f"{HOST} {self._text(text, self.shares.tool).strip()}"

    def _remembered(self, item: HistoryItem, flag: bool, write: Callable[[], str]) -> str:
        """Items are values that never change, so identity is enough; the item is kept so that its id stays its own."""
        key = (id(item), flag)
        found = self._memo.get(key)
        if found is None:
            if len(self._memo) >= MEMO_ITEMS:
                self._memo.clear()
            found = self._memo[key] = (item, write())
        return found[1]

    def _goal(self, item: GoalItem) -> str:
        parts = [f"# Goal\n{self._text(item.text, self.shares.goal) or '(empty)'}"]
        if self._facts and (facts := environment_text(item.environment, self._redact)):
            parts.append(f"# Environment\n{facts}")
        if self._manual is not None and (known := self._manual(item)):
            parts.append(known)
        share = self.shares.files // max(len(item.files), 1)
        for file in item.files:
            block = data_block(self._line(file.path, 200), self._text(file.content, share))
            parts.append(f"The person attached a file.\n{block}")
        for image in item.media:
            told = f"The person attached an image: {self._line(image.path, 200)} ({image.media_type}, {image.size:,} bytes)."
            parts.append(told if image.data else f"{told} You cannot see it.")
        share = self.shares.context // max(len(item.context), 1)
        parts += [self._context(block, share) for block in item.context]
        return "\n\n".join(parts)

    def _command(self, item: CommandItem, *, show_command: bool) -> str:
        if item.outcome != "ran":
            return self._not_run(item, show_command=show_command)
        lines = [self._intro(item, show_command=show_command), self._ending(item)]
        if item.cwd_after and item.cwd_after != item.cwd:
            lines.append(f"{HOST} The directory is now {self._line(item.cwd_after, 300)}")
        lines += self._stream("stdout", item.stdout, item.stdout_dropped, self.shares.stdout)
        lines += self._stream("stderr", item.stderr, item.stderr_dropped, self.shares.stderr)
        if not item.stdout and not item.stderr:
            lines.append(f"{HOST} It printed nothing.")
        return "\n".join(line for line in lines if line)

    def _tool(self, item: ToolItem, *, named: bool) -> str:
        head = f"{HOST} Tool {self._line(item.name, 64)} " if named else f"{HOST} The tool "
        head += "failed:" if item.is_error else "returned:"
        return f"{head}\n{data_block('tool result', self._text(item.content, self.shares.tool))}"

    def _context(self, block: ContextBlock, tokens: int) -> str:
        cut = f" (its first or last {block.truncated_bytes:,} bytes are missing)" if block.truncated_bytes else ""
        label = self._line(block.label, 100)
        return f"Untrusted context: {label}{cut}\n{data_block(label, self._text(block.text, tokens))}"

    def _intro(self, item: CommandItem, *, show_command: bool) -> str:
        if item.origin in ("person", "replay"):
            return f"{HOST} The person ran a command themselves:\n{self._shown(item.run)}"
        if item.run and item.run != item.proposed:
            return f"{HOST} The person changed the command before it ran. This ran instead:\n{self._shown(item.run)}"
        return f"{HOST} This ran:\n{self._shown(item.run or item.proposed)}" if show_command else ""

    def _ending(self, item: CommandItem) -> str:
        after = f" after {item.duration:.1f} s"
        code = "unknown" if item.exit_code is None else str(item.exit_code)
        if item.job:
            return f"{HOST} It still runs: the person sent it to the background{after}. What it printed until then:"
        if item.timed_out:
            return f"{HOST} It was stopped at its time limit{after} (exit code {code}). What it printed until then:"
        if item.interrupted:
            return f"{HOST} The person interrupted it{after} (exit code {code}); this is no failure of the command."
        return f"{HOST} Exit code {code}{after if item.duration >= 1 else ''}."

    def _stream(self, name: str, text: str, dropped: int, tokens: int) -> list[str]:
        if not text:
            return []
        source = f"{name}, {dropped:,} bytes in the middle were not kept" if dropped else name
        return [data_block(source, self._text(text, tokens).rstrip("\n"))]

    def _not_run(self, item: CommandItem, *, show_command: bool) -> str:
        said = self._text(item.remark, self.shares.tool).strip()
        words = {
            "skipped": "The person skipped this command; it was not run. Take another way or end with a chat reply.",
            "declined": "The command was not confirmed and was not run.",
            "refused": f"Policy refused this command; it was not run{f' ({said})' if said else ''}. Do not try to get around that.",
            "remark": f"The command was not run. The person says instead:\n{said}",
            "regenerate": "The command was not run. The person asks for a different command for the same goal.",
            "cancelled": "The person cancelled the goal at this command; it was not run.",
        }[item.outcome]
        if item.rehearsal:
            seen = self._text(item.rehearsal, self.shares.stdout)
            words += f"\n{HOST} A rehearsal, which changes nothing, had shown:\n{data_block('rehearsal', seen)}"
        shown = f"{HOST} This was proposed:\n{self._shown(item.proposed)}\n" if show_command else ""
        return f"{shown}{HOST} {words}"

    def _shown(self, command: str) -> str:
        return "\n".join("    " + line for line in self._text(command, self.shares.goal).split("\n"))

    def _line(self, text: str, limit: int) -> str:
        return redacted_line(text, limit, self._redact)

    def _text(self, text: str, tokens: int) -> str:
        """Cleaned, redacted, cut. What is far beyond the budget goes first, so that floods cost no time."""
        bound = max(tokens, 64) * 16
        if len(text) > 2 * bound:
            text = f"{text[:bound]}\n[… {len(text) - 2 * bound:,} characters left out …]\n{text[-bound:]}"
        return clip(self._redact(clean(text)), tokens)


def environment_text(facts: EnvironmentFacts, redact: Callable[[str], str]) -> str:
    """Facts as lines, redacted."""
    rows = (
        ("OS", facts.os),
        ("Shell", facts.shell),
        ("Directory", facts.cwd),
        ("Git", facts.git),
        ("User", "root: every mistake is final" if facts.is_root else ""),
        ("Tools present", ", ".join(facts.tools)),
        ("Date", facts.date),
    )
    return "\n".join(f"{name}: {redacted_line(value, 800, redact)}" for name, value in rows if value)


def redacted_line(text: str, limit: int, redact: Callable[[str], str]) -> str:
    return one_line(redact(text[: 8 * limit]), limit)
