"""Plan by asking a model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import structs

from agent.planner.codecs.codecs import Codec, make_codec
from agent.planner.codecs.extract import strip_thinking
from agent.planner.model_call import Answer, OptionFacts, ask, correction, counted, echoes, lost, unheard
from agent.planner.prompt import Prompt
from agent.planner.untrusted import clip, one_line, prompt_text
from agent.protocol.errors import Echoed, PlannerError, ProviderError
from agent.protocol.messages import ChatMessage, GoalItem, HistoryItem, StepItem
from agent.protocol.outcomes import Usage, add_usage
from agent.protocol.ports import DeltaHandler, ModelAnswer, ModelRequest, Provider, Redactor
from agent.protocol.replies import Chat, Command, Plan, PlannerReply, Reply
from agent.protocol.requests import PlannerRequest, ProviderRequest

if TYPE_CHECKING:
    from agent.retrieval.manuals import Manuals

T = TypeVar("T")
_BAD_REPLY_TOKENS = 1000  # of an invalid reply, shown back to the model with what was wrong


class LLMPlanner:
    """Renders history, asks the provider, reads the reply; one repair round if the reply is invalid.

    `codec` is a name of `codecs.CODEC_NAMES`. `schema` has the server constrain JSON replies where it can. `context_tokens`
    is the model's whole context. `system_prompt` stands in place of the shipped one, `system_extra` is appended to it.
    `examples` gives pairs of a goal and its command for a goal, to be shown to the model as turns before it. `small`: the prompt is one for
    a small model. `seconds` bound one `plan` as a whole, whatever it waits for. `priced` puts its cost to a call of a model.
    With `manuals`, a proposal whose options its programs do not have here is asked for once more.
    """

    def __init__(
        self,
        provider: Provider,
        model: str,
        *,
        redactor: Redactor,
        codec: str = "mode-json",
        schema: bool = False,
        context_tokens: int = 32_000,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
        system_extra: str = "",
        system_prompt: str | None = None,
        examples: Callable[[str], tuple[tuple[str, str], ...]] | None = None,
        small: bool = False,
        seconds: float | None = None,
        priced: Callable[[Usage, str], Usage] | None = None,
        manuals: Manuals | None = None,
    ) -> None:
        make_codec(codec)  # an unknown name is the caller's mistake, at once
        self._provider = provider
        self._model = model
        self._codec_name = codec
        self._schema = schema
        self._max_output_tokens = max_output_tokens
        self._context_tokens = context_tokens
        self._temperature = temperature
        self._facts = OptionFacts(manuals) if manuals is not None else None
        self._prompt = Prompt(
            context_tokens=context_tokens,
            system_extra=system_extra,
            system_prompt=system_prompt,
            small=small,
            redact=redactor.redact,
            manual=self._facts.of if self._facts is not None else None,
        )
        self._redact = redactor.redact
        self._examples = examples
        self._seconds = seconds
        self._priced = priced

    @property
    def name(self) -> str:
        return self._provider.name

    @property
    def model(self) -> str:
        return self._model

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        """One valid reply. Raises PlannerError (after one repair round) or ProviderError."""
        return await self._in_time(self._plan(request, on_delta, unheard))

    async def plan_aloud(
        self, request: PlannerRequest, on_delta: DeltaHandler, tell: Callable[[str], Awaitable[None]]
    ) -> PlannerReply:
        """The same; `tell` says a line before calls are asked for again: nothing of a reply that could not be read is shown."""
        return await self._in_time(self._plan(request, on_delta, tell))

    async def summary(self, history: tuple[HistoryItem, ...], max_tokens: int) -> tuple[str, Usage]:
        """Sum up `history`, in one call; "" of a small model, which would leave it out. Raises PlannerError, ProviderError."""
        if self._prompt.small:
            return "", Usage()
        return await self._in_time(self._summary(history, max_tokens))

    @property
    def context_tokens(self) -> int:
        return self._context_tokens

    async def complete(
        self, request: ModelRequest, on_delta: DeltaHandler, tell: Callable[[str], Awaitable[None]]
    ) -> ModelAnswer:
        """Ask the model as `request` says, in one call. Raises PlannerError, ProviderError."""
        bounds = (self._max_output_tokens, request.max_output_tokens)
        call = ProviderRequest(
            model=self._model,
            messages=request.messages,
            schema=request.schema if self._schema else None,
            stream=request.stream,
            max_output_tokens=min((bound for bound in bounds if bound is not None), default=None),
            temperature=self._temperature,
        )
        answer = await self._in_time(ask(self._provider, call, make_codec("native"), on_delta, after_text=False))
        if answer.finish.reason == "content_filter":
            raise PlannerError("the provider's content filter stopped the reply", hint="put it in other words")
        usage = self._cost(answer, request.messages)
        return ModelAnswer(text=strip_thinking(answer.text), usage=usage, model=answer.finish.model or self._model)

    async def _summary(self, history: tuple[HistoryItem, ...], max_tokens: int) -> tuple[str, Usage]:
        codec = make_codec("mode-json")
        messages = self._prompt.to_summarize(history, codec, max_tokens)
        call = ProviderRequest(
            model=self._model,
            messages=messages,
            stream=False,
            max_output_tokens=2 * max_tokens,  # with what it thinks before
            temperature=self._temperature,
        )
        answer = await ask(self._provider, call, codec, unheard, after_text=False)
        text = strip_thinking(answer.text).strip()
        if not text or answer.finish.reason == "content_filter" or echoes(text, messages[0].content):
            raise PlannerError("the model wrote no summary")
        return text, self._cost(answer, messages)

    async def _in_time(self, work: Coroutine[Any, Any, T]) -> T:
        """Its result. Raises ProviderError where it takes longer than it may."""
        try:
            async with asyncio.timeout(self._seconds) as bound:
                return await work
        except TimeoutError as error:
            if not bound.expired():
                raise
            hint = "a longer --timeout, a smaller model, or another provider may help"
            text = f"no complete reply within {self._seconds:g} s"
            raise ProviderError(self.name, text, transport=True, hint=hint) from error

    async def _plan(
        self, request: PlannerRequest, on_delta: DeltaHandler, tell: Callable[[str], Awaitable[None]]
    ) -> PlannerReply:
        tools = tuple(tool for tool in request.tools if not (tool.demanding and self._prompt.small))
        codec = make_codec(self._codec_name, tools, calls_only=request.calls_only)
        bounds = (self._max_output_tokens, request.max_output_tokens)
        answer_tokens = min((bound for bound in bounds if bound is not None), default=None)
        shown = self._shown(request.history, codec)
        goal = next((item for item in reversed(request.history) if isinstance(item, GoalItem)), None)
        if self._facts is not None and goal is not None:
            await asyncio.to_thread(self._facts.look_up, goal)
        messages = self._prompt.messages(request, codec, answer_tokens=answer_tokens, examples=shown)
        usage = Usage()
        why = ""
        kind: type[PlannerError] = PlannerError
        for attempt in range(2):
            call = ProviderRequest(
                model=self._model,
                messages=messages,
                tools=codec.wire_tools,
                schema=codec.schema() if self._schema else None,
                stream=request.stream,
                max_output_tokens=answer_tokens,
                temperature=self._temperature,
            )
            answer = await ask(self._provider, call, codec, on_delta, after_text=attempt > 0)
            counted = self._cost(answer, messages)
            usage = add_usage(usage, counted) if attempt else counted
            if answer.finish.reason == "content_filter":
                words = "the provider's content filter stopped the reply"
                raise PlannerError(words, hint="put the goal in other words")
            try:
                reply = codec.parse(answer.text, answer.calls, answer.finish)
                if isinstance(reply, Chat) and echoes(reply.message, messages[0].content):
                    raise Echoed("it repeats the instructions; answer the goal")
            except PlannerError as error:
                why, kind = error.message, type(error)
                if request.calls_only and not attempt:
                    await tell(f"the model's reply could not be used, and is asked for again: {one_line(why)}")
                told = prompt_text("repair").replace("{why}", one_line(self._redact(why)))
                messages = (*messages, *self._repair(codec, answer, told))
                continue
            planned = self._planned(codec, answer, reply, usage)
            return planned if attempt else await self._with_options_of_here(call, codec, answer, planned, goal)
        hint = "try again, put the goal in other words, or choose another model"
        if kind is Echoed:
            raise Echoed("the model only repeats its instructions", hint=hint)
        raise PlannerError(f"the model's reply could not be used, also after asking again: {one_line(why)}", hint=hint)

    def _planned(self, codec: Codec, answer: Answer, reply: Reply, usage: Usage) -> PlannerReply:
        raw = codec.raw(answer.text, answer.calls)
        return PlannerReply(reply=reply, raw=raw, usage=usage, model=answer.finish.model or self._model)

    async def _with_options_of_here(
        self, call: ProviderRequest, codec: Codec, answer: Answer, first: PlannerReply, goal: GoalItem | None
    ) -> PlannerReply:
        """`first`, or what the model gives in its place when it is told of options that do not exist here, if that is better."""
        text = goal.text if goal is not None else ""
        if self._facts is None or not (missing := await asyncio.to_thread(self._facts.missing, first.reply)):
            return first
        told = correction(missing, text)
        if self._prompt.small:  # it would only write again what stands before it
            system, *rest = call.messages
            messages = (structs.replace(system, content=f"{system.content}\n\n{told}"), *rest)
        else:
            messages = (*call.messages, *self._repair(codec, answer, told))
        try:
            again = await ask(
                self._provider, structs.replace(call, messages=messages), codec, unheard, after_text=False
            )
            reply = codec.parse(again.text, again.calls, again.finish)
        except (PlannerError, ProviderError):  # what there is already stands
            return first
        usage = add_usage(first.usage, self._cost(again, messages))
        left = await asyncio.to_thread(self._facts.missing, reply)
        if not isinstance(reply, (Command, Plan)) or lost(left) >= lost(missing):
            return structs.replace(first, usage=usage)
        return self._planned(codec, again, reply, usage)

    def _shown(self, history: tuple[HistoryItem, ...], codec: Codec) -> tuple[ChatMessage, ...]:
        """Examples for what is worked on, each as a goal and the reply to it. They are of the host alone, so nothing is redacted."""
        tasks = (item for item in reversed(history) if isinstance(item, (GoalItem, StepItem)))
        task = next(tasks, None)
        if self._examples is None or task is None:
            return ()
        turns: list[ChatMessage] = []
        for goal, command in self._examples(task.text if isinstance(task, GoalItem) else task.goal):
            turns.append(ChatMessage(role="user", content=f"# Goal\n{goal}"))
            turns.append(ChatMessage(role="assistant", content=codec.write(Command(command=command))))
        return tuple(turns)

    def _cost(self, answer: Answer, messages: tuple[ChatMessage, ...]) -> Usage:
        usage = counted(answer, messages)
        return usage if self._priced is None else self._priced(usage, answer.finish.model or self._model)

    def _repair(self, codec: Codec, answer: Answer, told: str) -> tuple[ChatMessage, ...]:
        """The reply as it was and what was wrong with it; these messages serve one more call and are not kept."""
        raw = codec.raw(answer.text, answer.calls).strip()
        shown = clip(self._redact(raw), _BAD_REPLY_TOKENS) or "(empty)"
        return ChatMessage(role="assistant", content=shown), ChatMessage(role="user", content=told)
