"""Run the later steps of a turn: from what is known to the prompt, the reply, and what is kept and shown of both."""

from __future__ import annotations

from msgspec import to_builtins
from msgspec.structs import replace

from agent.conversation.framework.context import ContextAssembler, TurnTexts, calibrated
from agent.conversation.framework.handoff.exits import offer, offered_exit
from agent.conversation.framework.handoff.handoff import format_handoff_for_context
from agent.conversation.framework.handoff.verification import reminder, take_up, verify_handoff
from agent.conversation.framework.progress.questions import MOST_TRIES, counted, next_question
from agent.conversation.framework.progress.sidebar import SidebarBuilder
from agent.conversation.framework.progress.tasks import WAITING, BackgroundTaskManager
from agent.conversation.framework.progress.telemetry import measure
from agent.conversation.framework.state.ports import StepDone
from agent.conversation.framework.state.repair_data import Repair
from agent.conversation.framework.state.working_memory import QUESTIONS_KEPT, WorkingMemory
from agent.conversation.framework.talk import modes, repair, techniques
from agent.conversation.framework.talk.quality import check
from agent.conversation.framework.talk.techniques import RuleBasedScheduler
from agent.conversation.framework.turn import Turn, step
from agent.protocol.errors import PlannerError

ASKED_BEFORE = 3


async def background_tasks(turn: Turn) -> StepDone | None:
    """8: look after what runs beside, and begin what is due."""
    if turn.deps.task_backend is None or not turn.config.background_tasks:
        return None
    manager = BackgroundTaskManager(turn.config, turn.deps.task_backend, turn.evaluators, turn.deps.failure_strategy)
    told: tuple[str, ...] = ()
    if turn.memory.ended:
        turn.memory = await manager.cancel(turn.memory)
    elif turn.repair is not None and turn.repair.kind == "impatience":  # the way out of a wait
        turn.memory = await manager.release(turn.memory)
    else:
        looked = await manager.advance(turn.memory, now=turn.deps.clock())
        turn.memory, told = looked.memory, looked.told
    turn.guidance += told
    tasks = turn.memory.background_tasks
    values = {"pending": [each.task_id for each in tasks.pending], "completed": len(tasks.completed)}
    waits = (WAITING, "“just do it” goes on without it") if WAITING in told else ()
    return replace(step(detail="; ".join(told), values=values), told=waits)


async def select_techniques(turn: Turn) -> StepDone | None:
    """9: the techniques of the next reply."""
    phase = turn.config.phase(turn.memory.phase.current)
    able = techniques.available(turn.config, phase, turn.memory) if phase else ()
    if not able:
        return None
    scheduler = turn.deps.technique_scheduler or RuleBasedScheduler(turn.config)
    chosen = await scheduler.select_techniques(able, turn.memory)
    turn.memory = techniques.used(turn.memory, chosen)
    return step(values={"techniques": list(chosen)})


async def assemble(turn: Turn) -> StepDone | None:
    """10: the prompt."""
    turn.memory = memory = _counted(turn)
    again = turn.asks_again and bool(memory.asked)
    question = None if again else next_question(memory, turn.config)
    if not again:
        turn.memory = memory = replace(memory, asked=question.path if question else "")
    watch = reminder(memory.handoff_watch)
    guidance = [
        *turn.guidance,
        *memory.quality,
        memory.modes.nudge,
        watch,
        offer(turn.config, turn.before, turn.deps.names),
    ]
    if question is not None:
        guidance.append(f"The next thing to find out, in your own words and when it fits: {question.text}")
        if question.path in memory.put_off:
            guidance.append(
                "The person put that off before. Say in half a sentence that the next part needs it; once is enough."
            )
    handoff = memory.inbound_handoff
    texts = TurnTexts(
        user_message=turn.given.user_message,
        role=turn.deps.role,
        history=turn.given.history,
        handoff=format_handoff_for_context(handoff, turn.deps.names) if handoff else "",
        techniques=techniques.prompt_additions(memory.techniques.active),
        guidance=tuple(each for each in guidance if each),
    )
    assembler = ContextAssembler(
        model_tokens=turn.deps.model_tokens, complete=turn.deps.complete, context_service=turn.deps.context_service
    )
    turn.assembled = done = await assembler.assemble(turn.config, memory, texts)
    turn.memory = replace(memory, context=done.context)
    return step(values={"tokens": done.tokens_used, "parts": dict(done.parts)})


def _counted(turn: Turn) -> WorkingMemory:
    """Return the state with what became of the last question. One that never brings an answer is left open, as if nobody knew."""
    asked, memory = turn.before.asked, turn.memory
    kind = turn.repair.kind if turn.repair else ""
    if turn.config.field(asked) is None or kind == "topic_switch" or not (turn.tells or kind in ("skip", "dont_know")):
        return memory
    memory = counted(memory, asked, answered=asked in turn.found.fields_updated)
    if memory.unanswered.get(asked, 0) < MOST_TRIES:
        return memory
    left = repair.apply(Repair(kind="dont_know"), replace(memory, asked=asked), turn.config).memory
    return replace(left, asked=memory.asked)


async def compression(turn: Turn) -> StepDone | None:
    """11: tell of a compression."""
    if turn.assembled is None or not turn.assembled.compression_applied:
        return None
    last = turn.memory.context.compression_events[-1]
    values = {"strategy": last.strategy, "before": last.tokens_before, "after": last.tokens_after}
    return step(values=values)


async def respond(turn: Turn) -> StepDone | None:
    """12: the reply, of the agent or of a repair. Raises CoreError."""
    if turn.repaired.reply:
        turn.reply = turn.repaired.reply
        return step(detail="said without a model")
    seen = turn.memory if turn.asks_again else replace(turn.memory, asked=turn.before.asked)
    turn.deps.see(seen, turn.repair.kind if turn.repair else None)
    prompt = turn.assembled.assembled_context if turn.assembled else turn.given.user_message
    answer = await turn.deps.run_main_agent(prompt)
    turn.reply = answer.text.strip()
    if not turn.reply:
        raise PlannerError("the model said nothing", hint="say it again, or choose another model")
    context = calibrated(turn.memory.context, answer.prompt_tokens) if turn.assembled else turn.memory.context
    asked = answer.asked or turn.memory.asked
    before = turn.memory.asked_before
    if turn.before.asked not in ("", asked) and not (turn.repair and turn.repair.kind == "go_back"):
        before = (*before, turn.before.asked)[-QUESTIONS_KEPT:]
    turn.memory = take_up(replace(turn.memory, context=context, asked=asked, asked_before=before), turn.reply)
    watch = turn.memory.handoff_watch
    verified = {"handoffVerified": watch.verified, "handoffScore": watch.score} if turn.memory.inbound_handoff else {}
    missed = watch.unacknowledged if turn.memory.inbound_handoff and not watch.verified else ()
    detail = f"the reply does not take up what was handed over: {'; '.join(missed)}" if missed else ""
    return step(detail=detail, values={"characters": len(turn.reply), **verified})


async def check_quality(turn: Turn) -> StepDone | None:
    """13: what the reply lacks; the next prompt says so."""
    earlier = [each.text for each in turn.given.history[-2 * ASKED_BEFORE :] if each.role == "assistant"]
    found = () if turn.repaired.reply else check(turn.reply, turn.memory, turn.config, earlier)
    turn.memory = replace(turn.memory, quality=found)
    return step(values={"findings": list(found)})


async def classify(turn: Turn) -> StepDone | None:
    """14: the modes of the reply, and their drift."""
    phase = turn.config.phase(turn.memory.phase.current)
    named = await turn.deps.mode_classifier.classify(turn.reply)
    if phase is None or not named:
        return None
    state = modes.observed(turn.memory.modes, named, phase.mode_blend, turn.memory.phase.turns_in_phase)
    turn.memory = replace(turn.memory, modes=state)
    return step(values={"modes": list(named), "drift": round(state.drift, 3)})


async def telemetry(turn: Turn) -> StepDone | None:
    """15: the metrics of the turn."""
    return step(values=measure(turn.before, turn.memory, turn.steps))


async def build_sidebar(turn: Turn) -> StepDone | None:
    """16: the sidebar."""
    phase = turn.config.phase(turn.memory.phase.current)
    if phase is None:
        return None
    turn.sidebar = SidebarBuilder(turn.config, turn.evaluators).build(turn.memory, phase)
    return step()


async def exits(turn: Turn) -> StepDone | None:
    """17: the exit that is open now."""
    found = offered_exit(turn.config, turn.memory, turn.evaluators)
    if found is None:
        return None
    turn.memory = replace(turn.memory, offered=found.target_engine)
    return step(detail=found.reason, values={"target": found.target_engine})


async def persist(turn: Turn) -> StepDone | None:
    """18: keep the state; after the first reply to a handoff, it with the result of its check."""
    store, memory = turn.deps.store, turn.memory
    if store is None:
        return None
    await store.save_state(memory)
    handoff = memory.inbound_handoff
    if handoff is not None and memory.handoff_watch.tries and not turn.before.handoff_watch.tries:
        checked = verify_handoff(handoff, turn.reply, engine_id=memory.engine_id, project_id=memory.project_id)
        await store.save_handoff(handoff, to_builtins(checked))
    return step()
