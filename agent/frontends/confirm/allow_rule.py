"""\"Always allow…\" at the confirmation prompt: a rule is proposed, shown for editing, limited, checked, and kept.

It never runs anything and never answers for the command: when it is done, the person is back at the prompt they came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import emacs_mode
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from agent.frontends.confirm.questions import ask_line
from agent.frontends.external_programs import edit_text
from agent.frontends.prompt_app import build_app, vi_letter
from agent.frontends.screen import Fragments, Screen
from agent.frontends.services import RuleController
from agent.frontends.wrapping import wrapped
from agent.policy.model import Place, PolicyFile, Rule, Trust
from agent.policy.rule_text import Limit, as_toml, limited, limits, sentence
from agent.protocol.confirmations import ConfirmationRequest
from agent.protocol.decisions import RiskReport
from agent.protocol.errors import RecordingError
from agent.protocol.execution import Processes
from agent.protocol.requests import Approval
from agent.text.shown import shown, shown_line

_LIMITS: dict[str, Limit] = {"w": "workspace", "s": "session", "h": "hour", "d": "day", "a": "always"}
_CHOICES = (
    "w this workspace · s this session · h one hour · d one day · a always, everywhere · e edit the rule · Esc no rule"
)


@dataclass(frozen=True)
class AllowRule:
    """The dialogue. `processes` and `environ` are for the person's own editor."""

    screen: Screen
    rules: RuleController
    processes: Processes
    environ: Mapping[str, str]
    edit_mode: str = "emacs"

    async def run(self, request: ConfirmationRequest, report: RiskReport) -> None:
        """Propose rules for `report`, which is of the text in the prompt, and keep what the person makes of them."""
        from agent.policy.proposing import propose

        cwd = request.proposal.cwd
        place = self.rules.policy(cwd).place
        offer = propose(report, place, mode=request.approve, taken=self.rules.names(cwd))
        if offer.reason:
            self._say([("class:warn", f"this cannot be allowed in advance: {shown_line(offer.reason)}")])
            return
        self._say_rules(offer.rules)
        text, cursor = as_toml(offer.rules), 0
        while True:
            choice, text, cursor = await self._written(text, cursor, place)
            if choice is None:
                self._say([("class:hint", "no rule was made")])
                return
            trouble = await self._keep(text, choice, place, request, report)
            if not trouble:
                return
            self._say([("class:warn", shown_line(trouble, 500))])

    def _say_rules(self, rules: tuple[Rule, ...]) -> None:
        for rule in rules:
            self._say([("class:strong", "rule: "), ("", shown_line(sentence(rule), 500))])

    async def _written(self, text: str, cursor: int, place: Place) -> tuple[Limit | None, str, int]:
        """For how long, and the text as the person wants it, which is shown when they ask for it; None for no rule."""
        while True:
            self._say([("class:hint", _CHOICES)])
            key = await self._letter()
            if key != "e":
                return (_LIMITS[key] if key else None), text, cursor
            text, cursor = await self._edited(text, cursor, place)
            if not text:
                return None, text, cursor

    async def _edited(self, text: str, cursor: int, place: Place) -> tuple[str, int]:
        """The text after editing, with nothing wrong in it; "" for no rule."""
        before = text.strip()
        while True:
            action, text, cursor = await edit_rule(self.screen, text, cursor, edit_mode=self.edit_mode)
            self.screen.discard_typed_ahead()
            if action == "cancel" or not text.strip():
                return "", cursor
            if action == "editor":
                text, trouble = await edit_text(text, self.processes, self.environ, name="rule.toml")
                self.screen.discard_typed_ahead()
                if trouble:
                    self._say([("class:warn", trouble)])
                continue
            parsed = _parsed(text, "workspace" if place.workspace else "always", place)
            if parsed.error:
                self._say([("class:warn", shown_line(parsed.error, 500))])
                continue
            for line in shown(text.rstrip("\n")).split("\n"):
                self.screen.say([("class:hint", "  │ "), ("", line)])
            if text.strip() != before:
                self._say_rules(parsed.rules)
            return text, cursor

    async def _letter(self) -> str | None:
        """A letter and Enter, asked for until it is one of them: an Enter too many must not reach the command behind this."""
        while True:
            answer = await ask_line(self.screen, [("class:strong", "for how long? "), ("class:arrow", "❯ ")])
            if answer is None:
                return None
            letter = answer.strip().lower()
            if letter in (*_LIMITS, "e"):
                return letter
            self._say([("class:warn", "a letter out of this row, then Enter"), ("class:hint", f": {_CHOICES}")])

    async def _keep(
        self, text: str, limit: Limit, place: Place, request: ConfirmationRequest, report: RiskReport
    ) -> str:
        """Check the text and keep it; "" or why not, and then nothing has changed."""
        for_session = limit == "session"
        parsed = _parsed(text, limit, place)
        if parsed.error:
            return parsed.error
        text = limited(text, limit, place)
        try:
            trouble = await self.rules.add(text, parsed, for_session=for_session, date=place.now[:10])
        except RecordingError as error:
            return f"the log cannot be written, so no rule was made: {error}"
        if not trouble:
            self._told(parsed, "this session" if for_session else self.rules.path, request, report)
        return trouble

    def _told(self, parsed: PolicyFile, where: str, request: ConfirmationRequest, report: RiskReport) -> None:
        for rule in parsed.rules:
            self._say([("class:low", f"rule {rule.name} "), ("", f"is in {shown_line(where, 200)}: {_whole(rule)}")])
        names = parsed.rules[0].name if len(parsed.rules) == 1 else "NAME"
        self._say([("class:hint", f"`:policy forget {names}` takes it back; this command still waits for Enter")])
        still = self._still_asked(request, report)
        if still:
            self._say([("class:warn", f"this command will still be asked for: {shown_line(still)}")])

    def _still_asked(self, request: ConfirmationRequest, report: RiskReport) -> str:
        """Say why the rules do not let the command run next time, "" where they do."""
        from agent.policy.deciding import decide

        policy = self.rules.policy(request.proposal.cwd)
        approval = Approval(mode=request.approve, safety_off=request.safety_off)
        verdict = decide(report, approval, policy=policy)
        return "" if verdict.action == "allow" else verdict.reason

    def _say(self, line: Fragments) -> None:
        self.screen.say_all(wrapped([line], self.screen.columns))


def _parsed(text: str, limit: Limit, place: Place) -> PolicyFile:
    """The rules of the text with this limit, their examples run; `error` is set where anything is wrong."""
    from agent.policy.parse import parse_policy

    trust: Trust = "session" if limit == "session" else "user"
    try:
        text = limited(text, limit, place)
    except ValueError as error:
        return PolicyFile(path="the rule", trust=trust, error=str(error))
    parsed = parse_policy(text, path="the rule", trust=trust, home=place.home)
    if parsed.error or parsed.rules:
        return parsed
    return PolicyFile(path="the rule", trust=trust, error="there is no [[rule]] in the text")


def _whole(rule: Rule) -> str:
    return shown_line(f"{sentence(rule)}; {limits(rule)}", 600)


Ending = Literal["accept", "editor", "cancel"]
_KEYS = " Enter go on · Alt-Enter or F9 new line · F7 your editor · Ctrl-C no rule"


async def edit_rule(screen: Screen, text: str, cursor: int = 0, *, edit_mode: str = "emacs") -> tuple[Ending, str, int]:
    """Edit a rule; how the person left, and text and cursor as they were then. Pasted lines never end the editing."""
    text = text.rstrip("\n")
    buffer = Buffer(document=Document(text, min(cursor, len(text))), multiline=True)
    keys = KeyBindings()

    def leave(event: KeyPressEvent, ending: Ending) -> None:
        event.app.erase_when_done = True  # what was accepted is printed as it is
        event.app.exit(result=ending)

    @keys.add("enter")
    def _accept(event: KeyPressEvent) -> None:
        leave(event, "accept")

    @keys.add("f7")
    @keys.add("c-x", "c-e")
    def _editor(event: KeyPressEvent) -> None:
        leave(event, "editor")

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _cancel(event: KeyPressEvent) -> None:
        leave(event, "cancel")

    @keys.add("f9")
    @keys.add("escape", "enter", filter=emacs_mode)
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    def prefix(line: int, wrap: int) -> StyleAndTextTuples:
        return [("class:hint", "  rule ❯ " if line == 0 and wrap == 0 else "  │ " if wrap == 0 else "    ")]

    app = build_app(
        screen,
        buffer,
        prefix=prefix,
        bindings=keys,
        toolbar=lambda: [("", _KEYS + vi_letter(app))],
        edit_mode=edit_mode,
    )
    ending: Ending = await app.run_async(handle_sigint=False)
    return ending, buffer.text, buffer.cursor_position
