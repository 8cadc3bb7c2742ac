"""Replies as models really write them: every codec, every way to get it wrong."""

from __future__ import annotations

import json

import pytest

from agent.planner.codecs.codecs import CODEC_NAMES, make_codec
from agent.planner.codecs.extract import MAX_REPLY_CHARS
from agent.protocol.errors import ConfigError, PlannerError
from agent.protocol.messages import ToolCall, ToolSpec
from agent.protocol.replies import Chat, Command, Finish, Reply, ToolCallDone, ToolCalls
from tests.support.each import each

STOP = Finish(reason="stop")
CUT = Finish(reason="length")
READ = ToolSpec(
    name="read_file",
    description="Read a file.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def mode(text: str, *, tools: tuple[ToolSpec, ...] = (), finish: Finish = STOP) -> Reply:
    return make_codec("mode-json", tools).parse(text, (), finish)


def plan(text: str, *, tools: tuple[ToolSpec, ...] = (READ,)) -> Reply:
    return make_codec("plan-json", tools).parse(text, (), STOP)


def native(
    text: str = "", *calls: tuple[str, str, str], tools: tuple[ToolSpec, ...] = (), finish: Finish = STOP
) -> Reply:
    done = tuple(ToolCallDone(id=i, name=n, arguments_json=a) for i, n, a in calls)
    return make_codec("native", tools).parse(text, done, finish)


LS = Command(command="ls -l")
LS_TEXT = '{"mode":"command","command":"ls -l"}'

GOOD = {
    "plain": (LS_TEXT, LS),
    "white space around": (f"\n\t {LS_TEXT} \n", LS),
    "code fence": (f"```json\n{LS_TEXT}\n```", LS),
    "fence without language": (f"```\n{LS_TEXT}\n```", LS),
    "prose around": (f"Sure! Here it is:\n{LS_TEXT}\nHope this helps.", LS),
    "prose with braces": ("Use awk '{print $1}' like so { } " + LS_TEXT, LS),
    "thinking before": ('<think>maybe {"mode": "chat"} or</think>' + LS_TEXT, LS),
    "thinking twice": (f"<think>a</think>\n<think>b</think>{LS_TEXT}", LS),
    "thinking without its beginning": (f"so I will list.</think>\n{LS_TEXT}", LS),
    "another thinking tag": (f"<reasoning>x</reasoning>{LS_TEXT}", LS),
    "the same object twice": (LS_TEXT + "\n" + '{ "command": "ls -l", "mode": "command" }', LS),
    "in a list": (f"[{LS_TEXT}]", LS),
    "an unrelated object beside it": ('{"note": 1} ' + LS_TEXT, LS),
    "extra keys": ('{"mode":"command","command":"ls -l","risk":"low","safe":true,"x":[1]}', LS),
    "nulls": ('{"mode":"command","message":null,"command":"ls -l","reason":null,"confidence":null}', LS),
    "trailing newline": ('{"mode":"command","command":"ls -l\\n\\n"}', LS),
    "leading newline": ('{"mode":"command","command":"\\nls -l\\r\\n"}', LS),
    "a raw newline in a string": ('{"mode":"command","command":"for i in 1 2\ndo echo $i\ndone"}',
                                 Command(command="for i in 1 2\ndo echo $i\ndone")),
    "reason and confidence": ('{"mode":"command","command":"ls -l","reason":" to look ","confidence":0.5}',
                              Command(command="ls -l", reason="to look", confidence=0.5)),
    "message used as reason": ('{"mode":"command","command":"ls -l","message":"to look"}',
                               Command(command="ls -l", reason="to look")),
    "confidence out of range": ('{"mode":"command","command":"ls -l","confidence":95}', LS),
    "whole confidence": ('{"mode":"command","command":"ls -l","confidence":1}', Command(command="ls -l", confidence=1.0)),
    "fenced command": ('{"mode":"command","command":"```bash\\nls -l\\n```"}', LS),
    "fence inside a command": ('{"mode":"command","command":"echo \'```\\nx\\n```\'"}', Command(command="echo '```\nx\n```'")),
    "two fences in a command": ('{"mode":"command","command":"```\\na\\n```\\n```\\nb\\n```"}',
                                Command(command="```\na\n```\n```\nb\n```")),
    "backticks are shell syntax": ('{"mode":"command","command":"`ls`"}', Command(command="`ls`")),
    "a space after a backslash stays": ('{"mode":"command","command":"cat a\\\\ "}', Command(command="cat a\\ ")),
    "unicode escapes": ('{"mode":"command","command":"echo \\u00e9 \\ud83d\\ude00"}', Command(command="echo é 😀")),
    "chat": ('{"mode":"chat","message":" done \\n"}', Chat(message="done")),
    "chat with an empty command": ('{"mode":"chat","message":"done","command":""}', Chat(message="done")),
    "chat with half a character": ('{"mode":"chat","message":"a\\ud800b"}', Chat(message="a\N{REPLACEMENT CHARACTER}b")),
    "chat with NUL": ('{"mode":"chat","message":"a\\u0000b"}', Chat(message="a\N{REPLACEMENT CHARACTER}b")),
    "chat that mentions thinking": ('{"mode":"chat","message":"the tag </think> ends it"}', Chat(message="the tag </think> ends it")),
    "chat that quotes JSON": ('{"mode":"chat","message":"{\\"mode\\":\\"command\\"}"}', Chat(message='{"mode":"command"}')),
}  # fmt: skip

BAD = {
    "empty": ("", "the reply is empty"),
    "white space": (" \n\t", "the reply is empty"),
    "only thinking": ("<think>hm</think>", "nothing but thinking"),
    "thinking without an end": ("<think>hm " + LS_TEXT, "nothing but thinking"),
    "prose": ("You could run ls -l.", "no JSON object"),
    "an array of words": ('["ls", "-l"]', "no JSON object"),
    "a JSON string": ('"ls -l"', "no JSON object"),
    "no mode": ('{"command":"ls -l"}', 'no JSON object with "mode"'),
    "another mode": ('{"mode":"shell","command":"ls"}', '"mode" must be "chat", "command" or "plan"'),
    "the mode in capitals": ('{"mode":"Chat","message":"x"}', '"mode" must be'),
    "tools without tools": ('{"mode":"tools","tool_calls":[]}', '"mode" must be'),
    "mode of another type": ('{"mode":["chat"],"message":"x"}', '"mode" must be a string, not a list'),
    "empty mode": ('{"mode":"","message":"x"}', '"mode" is missing or empty'),
    "two objects that differ": (
        LS_TEXT + '{"mode":"command","command":"rm -rf x"}',
        "several JSON objects that differ",
    ),
    "chat and command": ('{"mode":"chat","message":"x","command":"ls"}', "one or the other"),
    "a key twice": ('{"mode":"command","command":"ls","command":"rm x"}', "'command' twice"),
    "cut in a string": ('{"mode":"command","command":"rm -rf /tmp/x', "cut off"),
    "cut after a key": ('{"mode":"command","command"', "cut off"),
    "cut before the brace": ('{"mode":"command","command":"ls"', "cut off"),
    "cut second object": (LS_TEXT + ' {"mode":"command","comm', "cut off"),
    "cut in a wrapper": ('{"reply": ' + LS_TEXT, "cut off"),
    "a wrapper": ('{"reply": ' + LS_TEXT + "}", 'no JSON object with "mode"'),
    "single quotes inside": ('{"mode":"command",\'command\':"ls"}', "not valid"),
    "unescaped quotes": ('{"mode":"command","command":"echo "hi""}', "not valid"),
    "a trailing comma": ('{"mode":"command","command":"ls",}', "not valid"),
    "NaN": ('{"mode":"command","command":"ls","confidence":NaN}', "NaN"),
    "a list as command": ('{"mode":"command","command":["ls","-l"]}', '"command" must be a string, not a list'),
    "a number as command": ('{"mode":"command","command":7}', '"command" must be a string, not a number'),
    "an object as message": ('{"mode":"chat","message":{}}', '"message" must be a string, not an object'),
    "words as confidence": ('{"mode":"command","command":"ls","confidence":"high"}', '"confidence" must be a number'),
    "a truth as confidence": ('{"mode":"command","command":"ls","confidence":true}', "not true or false"),
    "a list as reason": ('{"mode":"command","command":"ls","reason":[]}', '"reason" must be a string'),
    "no command": ('{"mode":"command"}', '"command" is missing or empty'),
    "white space as command": ('{"mode":"command","command":" \\n\\t "}', '"command" is missing or empty'),
    "an empty fence": ('{"mode":"command","command":"```bash\\n\\n```"}', '"command" is empty'),
    "NUL in a command": ('{"mode":"command","command":"ls\\u0000-l"}', "NUL"),
    "half a character in a command": ('{"mode":"command","command":"ls \\ud83d"}', "half a Unicode character"),
    "no message": ('{"mode":"chat"}', '"message" is missing or empty'),
    "an empty message": ('{"mode":"chat","message":"  "}', '"message" is missing or empty'),
    "too deep": ('{"mode":"chat","message":"x","y":' + "[" * 100 + "]" * 100 + "}", "nested too deeply"),
    "far too deep": ('{"mode":"chat","y":' + "[" * 200_000, "too deeply"),
    "a number without end": ('{"mode":"chat","message":"x","y":' + "9" * 10_000 + "}", "too long"),
    "huge": ('{"mode":"chat","message":"' + "x" * MAX_REPLY_CHARS + '"}', "characters, more than"),
    "very many objects": ('{"a":1}' * 100, "more than 64 JSON objects"),
}


@pytest.mark.covers("S4-8")
@each("case", GOOD)
def test_mode_json_reads(case: str):
    text, expected = GOOD[case]
    assert mode(text) == expected


@pytest.mark.covers("S4-9")
@each("case", BAD)
def test_mode_json_refuses(case: str):
    text, why = BAD[case]
    with pytest.raises(PlannerError) as caught:
        mode(text)
    assert why in caught.value.message


def test_a_reply_cut_at_the_token_limit_says_so():
    with pytest.raises(PlannerError, match="cut at the token limit"):
        mode('{"mode":"chat","message":"a long', finish=CUT)


def test_a_complete_object_counts_even_where_the_model_rambled_on_to_the_limit():
    assert mode(LS_TEXT + "\nThis lists", finish=CUT) == LS


def test_native_calls_are_refused_where_json_was_asked_for():
    with pytest.raises(PlannerError, match="native tool calls"):
        make_codec("mode-json").parse(LS_TEXT, (ToolCallDone(id="1", name="x", arguments_json="{}"),), STOP)


def test_mode_json_calls_tools_where_there_are_some():
    text = '{"mode":"tools","tool_calls":[{"tool_name":"read_file","arguments":{"path":"a"}},{"tool_name":"finish"}]}'
    assert mode(text, tools=(READ,)) == ToolCalls(
        calls=(ToolCall(id="call_1", name="read_file", arguments={"path": "a"}), ToolCall(id="call_2", name="finish"))
    )


def test_plan_json_reads_a_plan():
    text = '{"plan":"read, then run","tool_calls":[{"tool_name":"read_file","arguments":{"path":"a"}}]}'
    call = ToolCall(id="call_1", name="read_file", arguments={"path": "a"})
    assert plan(text) == ToolCalls(calls=(call,), plan="read, then run")
    listed = text.replace('"read, then run"', '["read", "then run"]')
    assert plan(listed) == ToolCalls(calls=(call,), plan="read\nthen run")


def test_plan_json_without_calls_is_chat():
    assert plan('{"plan":"nothing left to do","tool_calls":[]}') == Chat(message="nothing left to do")


def test_plan_json_with_one_run_command_is_a_command():
    text = '{"plan":"look","tool_calls":[{"tool_name":"run_command","arguments":{"command":"ls -l"}}]}'
    assert plan(text) == Command(command="ls -l", reason="look")


@each(
    ("text", "why"),
    [
        ('{"plan":"x"}', 'with "tool_calls"'),
        ('{"plan":"","tool_calls":[]}', "the message is empty"),
        ('{"plan":7,"tool_calls":[]}', '"plan" must be a string'),
        ('{"plan":"x","tool_calls":{}}', '"tool_calls" must be a list, not an object'),
        ('{"plan":"x","tool_calls":null}', '"tool_calls" must be a list, not null'),
        ('{"plan":"x","tool_calls":["a"]}', "tool call 1 must be an object, not a string"),
        ('{"plan":"x","tool_calls":[{"arguments":{}}]}', '"tool_name" is missing'),
        ('{"plan":"x","tool_calls":[{"tool_name":"a b","arguments":{}}]}', "is no tool name"),
        ('{"plan":"x","tool_calls":[{"tool_name":"a","arguments":"{}"}]}', "must be an object, not a string"),
        ('{"plan":"x","tool_calls":[{"tool_name":"a","arguments":{"x":"\\ud800"}}]}', "half a Unicode"),
        ('{"plan":"x","tool_calls":[{"tool_name":"run_command","arguments":{}}]}', '"command" is missing'),
        (
            '{"plan":"x","tool_calls":[{"tool_name":"run_command","arguments":{"command":"a","sudo":1}}]}',
            "no argument 'sudo'",
        ),
        (
            '{"plan":"x","tool_calls":[{"tool_name":"run_command","arguments":{"command":"a"}},{"tool_name":"b"}]}',
            "must stand alone",
        ),
        ('{"plan":"x","tool_calls":[' + ",".join(['{"tool_name":"a"}'] * 65) + "]}", "at most 64"),
    ],
)
def test_plan_json_refuses(text: str, why: str):
    with pytest.raises(PlannerError) as caught:
        plan(text)
    assert why in caught.value.message


def test_several_commands_are_fine_where_run_command_is_a_tool_of_its_own():
    run = ToolSpec(name="run_command", description="", parameters={})
    call = '{"tool_name":"run_command","arguments":{"command":"a"}}'
    reply = plan(f'{{"plan":"x","tool_calls":[{call},{call}]}}', tools=(run,))
    assert isinstance(reply, ToolCalls)
    assert len(reply.calls) == 2


def test_native_reads_text_command_and_calls():
    assert native("hello") == Chat(message="hello")
    assert native("<think>x</think>hello") == Chat(message="hello")
    assert native("", ("1", "run_command", '{"command":"ls -l","reason":"look"}')) == Command(
        command="ls -l", reason="look"
    )
    assert native("I look", ("1", "run_command", '{"command":"ls -l"}')) == Command(command="ls -l", reason="I look")
    assert native("both", ("a", "read_file", '{"path":"x"}'), ("b", "finish", ""), tools=(READ,)) == ToolCalls(
        calls=(ToolCall(id="a", name="read_file", arguments={"path": "x"}), ToolCall(id="b", name="finish")),
        text="both",
    )


def test_native_ids_are_made_present_and_unique():
    reply = native("", ("", "a", "{}"), ("z", "b", " {} "), ("z", "c", "{\n}"), tools=(READ,))
    assert isinstance(reply, ToolCalls)
    assert [call.id for call in reply.calls] == ["call_1", "z", "call_3"]


def test_native_reads_calls_that_a_server_left_in_the_text():
    text = '<tool_call>\n{"name": "run_command", "arguments": {"command": "ls -l"}}\n</tool_call>'
    assert native(text) == LS


@each(
    ("reply", "why"),
    [
        (("",), "empty"),
        (("<think>only</think>",), "empty"),
        (("<tool_call>{",), "written as text"),
        (("<tool_call>{}</tool_call> and more",), "written as text"),
        (("", ("1", "run_command", '{"command":"ls"')), "cut off"),
        (("", ("1", "run_command", "ls")), "not a JSON object"),
        (("", ("1", "run_command", "{}{}")), "not"),
        (("", ("1", "run_command", '{"command":"a"}{"command":"b"}')), "not one JSON object"),
        (("", ("1", "run_command", '["ls"]')), "not a JSON object"),
        (("", ("1", "run_command", "{}")), '"command" is missing'),
        (("", ("1", "run command", "{}")), "is no tool name"),
        (("", ("1", "run_command", '{"command":"a"}'), ("2", "run_command", '{"command":"b"}')), "must stand alone"),
    ],
)
def test_native_refuses(reply: tuple, why: str):
    with pytest.raises(PlannerError) as caught:
        native(*reply)
    assert why in caught.value.message


def test_native_refuses_what_was_cut():
    with pytest.raises(PlannerError, match="cut at the token limit"):
        native("half a sent", finish=CUT)
    with pytest.raises(PlannerError, match="cut at the token limit"):
        native("", ("1", "run_command", '{"command":"rm -rf /tmp"}'), finish=CUT)


def test_an_unknown_codec_is_a_configuration_error():
    with pytest.raises(ConfigError, match="no codec called 'xml'"):
        make_codec("xml")


@pytest.mark.parametrize("name", CODEC_NAMES)
@pytest.mark.parametrize("tools", [(), (READ,)])
def test_instructions_name_what_is_offered(name: str, tools: tuple[ToolSpec, ...]):
    codec = make_codec(name, tools)
    told = codec.instructions() + " ".join(tool.name for tool in codec.wire_tools)
    assert "How to reply" in told
    assert ("read_file" in told) == bool(tools)


@pytest.mark.parametrize("name", ["mode-json", "plan-json"])
@pytest.mark.parametrize("tools", [(), (READ,)])
def test_schemas_are_json_and_closed(name: str, tools: tuple[ToolSpec, ...]):
    schema = make_codec(name, tools).schema()
    assert schema is not None
    forms = schema.get("anyOf", [schema])
    assert all(form["additionalProperties"] is False for form in forms)
    assert json.loads(json.dumps(schema)) == schema


RUN = ToolSpec(name="run_command", description="Run it.", parameters={"type": "object", "properties": {}})


@pytest.mark.covers("S2-2")
@pytest.mark.covers("S2-3")
@pytest.mark.covers("S2-4")
@each("name", ["mode-json", "plan-json", "small-json", "native"])
def test_where_only_calls_may_come_one_of_run_command_is_a_call_like_any_other(name: str) -> None:
    """A single JSON object with a plan and calls in their order; native calls where the server has them."""
    codec = make_codec(name, (READ, RUN), calls_only=True)
    if name == "native":
        done = (ToolCallDone(id="a", name="run_command", arguments_json='{"command": "make"}'),)
        found = codec.parse("build it", done, STOP)
        assert [tool.name for tool in codec.wire_tools] == ["read_file", "run_command"]
        assert found == ToolCalls(
            calls=(ToolCall(id="a", name="run_command", arguments={"command": "make"}),), text="build it"
        )
        return
    assert codec.name == "plan-json"
    calls = [{"tool_name": "run_command", "arguments": {"command": "make"}}]
    only = codec.parse(json.dumps({"plan": "build it", "tool_calls": calls}), (), STOP)
    assert isinstance(only, ToolCalls)
    assert (only.plan, [(call.name, call.arguments) for call in only.calls]) == (
        "build it",
        [("run_command", {"command": "make"})],
    )
    calls.append({"tool_name": "read_file", "arguments": {"path": "a"}})
    both = codec.parse(json.dumps({"plan": "", "tool_calls": calls}), (), STOP)
    assert isinstance(both, ToolCalls)
    assert [call.name for call in both.calls] == ["run_command", "read_file"]
