"""What only this dialect does: giving up what a server rejects, ends that are not quite ends, models chosen by themselves."""

from __future__ import annotations

import json

import pytest

from agent.protocol.errors import ProviderError, Unauthorized
from agent.protocol.messages import ToolSpec
from agent.providers import openai_wire
from agent.providers.catalog import build_provider, load_catalog
from tests.support.each import each
from tests.support.fake_llm_server import Behaviour, FakeLLMServer
from tests.support.provider_harness import QUICK, ask, run, text_of

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
TOOL = ToolSpec(name="ls", description="List.", parameters={"type": "object"})


def provider(server: FakeLLMServer, name: str = "custom"):
    return build_provider(load_catalog().entry(name), base_url=server.base_url, api_key="k", http=QUICK)


@each("field", ["response_format", "stream_options", "tools", "temperature"])
def test_a_rejected_field_is_left_out_and_remembered(field: str) -> None:
    request = ask(schema=SCHEMA, tools=(TOOL,), temperature=0.1)
    picky = Behaviour(rejects=(field,))
    with FakeLLMServer(picky, picky) as server:
        client = provider(server)
        for _ in range(2):
            assert text_of(run(client, request)) == "ok"
        sent = [seen.body for seen in server.requests]
    assert [field in body for body in sent] == [True, False, False]
    others = {"response_format", "stream_options", "tools", "temperature"} - {field}
    assert all(others <= set(body) for body in sent), "nothing else is given up"


def test_several_rejected_fields_one_after_the_other() -> None:
    picky = Behaviour(rejects=("response_format", "stream_options", "temperature"))
    with FakeLLMServer(picky) as server:
        assert text_of(run(provider(server), ask(schema=SCHEMA, temperature=0.1))) == "ok"
        assert len(server.requests) == 4


def test_what_one_model_rejects_another_may_take() -> None:
    with FakeLLMServer(Behaviour(rejects=("response_format",))) as server:
        client = provider(server)
        run(client, ask(schema=SCHEMA))
        run(client, ask(schema=SCHEMA, model="other"))
        assert "response_format" in server.requests[-1].body


def test_the_old_name_of_the_token_limit() -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    with FakeLLMServer(Behaviour(status=400, error={"error": {"message": message}})) as server:
        run(provider(server), ask(max_output_tokens=9))
        assert server.requests[-1].body["max_completion_tokens"] == 9
        assert "max_tokens" not in server.requests[-1].body


def test_an_unexplained_rejection_is_tried_once_without_the_optional_parts_and_then_told_as_it_was() -> None:
    first = Behaviour(status=400, error={"error": {"message": "first reason"}})
    second = Behaviour(status=400, error={"error": {"message": "second reason"}})
    with FakeLLMServer(first, second) as server:
        with pytest.raises(ProviderError, match="first reason"):
            run(provider(server), ask(schema=SCHEMA))
        assert len(server.requests) == 2


@pytest.mark.parametrize("ending", ["stay-open"])
def test_a_server_that_never_closes_a_complete_stream(monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setattr(openai_wire, "AFTER_FINISH_SILENCE", 0.05)
    with FakeLLMServer(Behaviour(pieces=("all",), ending=ending)) as server:
        pieces = run(provider(server))
    assert text_of(pieces) == "all"
    assert pieces[-1].usage.input_tokens == 12


def test_a_connection_that_breaks_after_the_end_is_no_fault() -> None:
    chunk = {"choices": [{"delta": {"content": "all"}, "finish_reason": "stop"}]}
    body = f'data: {json.dumps(chunk)}\n\ndata: {{"us'.encode()
    with FakeLLMServer(Behaviour(body=body, content_type="text/event-stream")) as server:
        assert text_of(run(provider(server))) == "all"


def test_an_end_without_its_blank_line() -> None:
    chunk = {"choices": [{"delta": {"content": "all"}}]}
    with FakeLLMServer(
        Behaviour(body=f"data: {json.dumps(chunk)}\n\ndata: [DONE]".encode(), content_type="text/event-stream")
    ) as server:
        assert text_of(run(provider(server))) == "all"


def test_a_server_that_cannot_stream_answers_whole() -> None:
    body = json.dumps({"choices": [{"message": {"content": "whole"}}]}).encode()
    with FakeLLMServer(Behaviour(body=body, content_type="")) as server:
        assert text_of(run(provider(server))) == "whole"


def test_cost_of_a_router() -> None:
    with FakeLLMServer(Behaviour(cost=0.0125)) as server:
        assert run(provider(server, "openrouter"))[-1].usage.cost == 0.0125
        assert server.requests[0].body["usage"] == {"include": True}


def test_a_local_server_without_a_chosen_model_gives_its_first() -> None:
    with FakeLLMServer(models=("zeta", "alpha")) as server:
        run(provider(server, "llamacpp"), ask(model=""))
        assert server.requests[-1].body["model"] == "alpha"


def test_no_model_anywhere_is_said() -> None:
    with FakeLLMServer(models=()) as server, pytest.raises(ProviderError, match="no model is chosen"):
        run(provider(server, "llamacpp"), ask(model=""))


def test_a_missing_key_sends_nothing() -> None:
    with pytest.raises(Unauthorized) as caught:
        run(build_provider(load_catalog().entry("openrouter"), api_key=" "))
    assert "OPENROUTER_API_KEY" in caught.value.hint
