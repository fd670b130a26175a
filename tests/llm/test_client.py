"""The client of the LLM against a server that speaks OpenAI's and Ollama's protocols."""

import time

import pytest

from tests.llm.conftest import Open
from tests.support.llm_server import LlmServer
from tests.support.provider_server import AnyFault, Clock, Fault, LlmFault
from textrawl.errors import LlmBadOutput, LlmFailed, LlmModelMissing, LlmUnreachable
from textrawl.models.llm import Meter, Prompt

pytestmark = pytest.mark.anyio

PROMPT = Prompt("Summarise.", "Ada likes tea and chess", max_tokens=50)
SAID: dict[AnyFault, tuple[type[LlmFailed], str]] = {
    Fault.DOWN: (LlmUnreachable, "cannot be reached: start it"),
    Fault.HANG: (LlmUnreachable, "did not answer within 0.4 s"),
    Fault.DRIP: (LlmUnreachable, "did not answer within 0.4 s"),
    Fault.RATE_LIMITED: (LlmUnreachable, "rate limit or quota"),
    Fault.FAILING: (LlmUnreachable, "an internal error (HTTP 500)"),
    Fault.KEY_REFUSED: (LlmUnreachable, "refused the key (HTTP 401): check TEXTRAWL_LLM_API_KEY"),
    Fault.MODEL_MISSING: (LlmModelMissing, "does not have the model test-model"),
    LlmFault.NOT_FOUND: (LlmUnreachable, "answered HTTP 404: check TEXTRAWL_LLM_BASE_URL"),
    Fault.TEXT_REFUSED: (LlmBadOutput, "refused the request (HTTP 400)"),
    Fault.TEAPOT: (LlmUnreachable, "answered HTTP 418"),
    Fault.BAD_JSON: (LlmBadOutput, "a response that is not of its protocol"),
    Fault.OTHER_JSON: (LlmBadOutput, "a response that is not of its protocol"),
    Fault.ENDLESS: (LlmBadOutput, "a response that is not of its protocol"),
    Fault.PACKED: (LlmBadOutput, "a response that is not of its protocol"),
    Fault.ELSEWHERE: (LlmUnreachable, "answered HTTP 307"),
    Fault.TRUNCATED: (LlmUnreachable, "closed the connection"),
    LlmFault.NULL: (LlmBadOutput, "sent an empty answer"),
    LlmFault.BLANK: (LlmBadOutput, "sent an empty answer"),
    LlmFault.CUT: (LlmBadOutput, "was not finished after 50 tokens"),
    LlmFault.NO_CHOICE: (LlmBadOutput, "a response that is not of its protocol"),
}


@pytest.mark.parametrize("fault", SAID)
async def test_every_fault_is_one_of_four_errors_that_says_what_to_do(
    fault: AnyFault, server: LlmServer, open_llm: Open
) -> None:
    llm = open_llm(llm_timeout=5)
    await llm.complete_text(PROMPT)  # the client of the provider is loaded
    slow = fault in (Fault.HANG, Fault.DRIP)
    llm = open_llm(llm_timeout=0.4) if slow else llm
    server.fail(fault)

    started = time.monotonic()
    with pytest.raises(LlmFailed) as caught:
        await llm.complete_text(PROMPT)

    kind, message = SAID[fault]
    assert isinstance(caught.value, kind)
    assert message in caught.value.fix
    assert time.monotonic() - started < 30
    assert "canary" not in str(caught.value)
    assert "chess" not in str(caught.value)


async def test_an_answer_is_the_text_of_the_model(server: LlmServer, open_llm: Open) -> None:
    meter = Meter()

    assert await open_llm().complete_text(PROMPT, meter) == "- likes tea"

    [request] = server.requests
    assert (request.system, request.user) == ("Summarise.", "Ada likes tea and chess")
    assert (meter.requests, meter.tokens_in, meter.tokens_out) == (1, 5, 7)


async def test_the_key_reaches_the_provider(
    provider: str, server: LlmServer, open_llm: Open
) -> None:
    url = server.openai_url if provider == "openai" else server.url
    await open_llm(llm_base_url=url).complete_text(PROMPT)

    assert server.requests[0].authorization == "Bearer canary-key"


async def test_thoughts_before_an_answer_are_left_out(server: LlmServer, open_llm: Open) -> None:
    server.write = lambda request: "<think>\nlet me see\n</think>\n\n- likes tea"

    assert await open_llm().complete_text(PROMPT) == "- likes tea"


@pytest.mark.parametrize("fault", [Fault.RATE_LIMITED, Fault.FAILING, Fault.TRUNCATED])
async def test_a_short_fault_is_repeated_until_it_is_over(
    fault: Fault, server: LlmServer, open_llm: Open
) -> None:
    server.fail(fault, times=1)
    meter = Meter()

    assert await open_llm().complete_text(PROMPT, meter) == "- likes tea"

    assert meter.requests == 2


@pytest.mark.parametrize(
    "fault",
    [Fault.KEY_REFUSED, Fault.MODEL_MISSING, LlmFault.NOT_FOUND, LlmFault.NULL, Fault.BAD_JSON],
)
async def test_a_lasting_fault_is_not_repeated(
    fault: AnyFault, server: LlmServer, open_llm: Open
) -> None:
    server.fail(fault)

    with pytest.raises(LlmFailed):
        await open_llm().complete_text(PROMPT)

    assert len(server.requests) == 1


async def test_while_the_provider_is_down_calls_fail_without_a_request(
    server: LlmServer, clock: Clock, open_llm: Open
) -> None:
    llm = open_llm()
    server.fail(Fault.KEY_REFUSED)
    for _ in range(3):
        with pytest.raises(LlmUnreachable):
            await llm.complete_text(PROMPT)

    with pytest.raises(LlmUnreachable, match="calls are skipped"):
        await llm.complete_text(PROMPT)
    assert len(server.requests) == 3

    server.heal()
    clock.now += 60
    assert await llm.complete_text(PROMPT) == "- likes tea"


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
@pytest.mark.parametrize("model", ["test-model", "gpt-5-mini"])
async def test_a_model_that_refuses_the_limit_of_tokens_gets_the_other_one(
    model: str, server: LlmServer, open_llm: Open
) -> None:
    server.refused = {"max_tokens"} if model == "test-model" else {"max_completion_tokens"}
    llm = open_llm(llm_model=model)

    await llm.complete_text(PROMPT)
    await llm.complete_text(PROMPT)

    assert len(server.requests) == 3  # the second call knows
    assert ("temperature" in server.requests[-1].body) == (model == "gpt-5-mini")


@pytest.mark.parametrize("provider", ["ollama"], indirect=True)
async def test_ollama_gets_a_context_that_holds_the_whole_prompt(
    server: LlmServer, open_llm: Open
) -> None:
    await open_llm().complete_text(Prompt("Summarise.", "word " * 6_000))

    options = server.requests[0].body["options"]
    assert options["num_ctx"] == 16_384
    assert options["num_predict"] == 2_000
    assert server.requests[0].body["stream"] is False
