"""The client that the settings name."""

import subprocess
import sys
from typing import Any

import pytest

from textrawl.errors import StartRefused
from textrawl.models.choice import choose_llm
from textrawl.settings import read_settings


def test_without_a_provider_there_is_no_client() -> None:
    assert choose_llm(read_settings()) is None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"llm_provider": "openai"}, "TEXTRAWL_LLM_API_KEY is not set"),
        ({"llm_provider": "openai", "llm_base_url": "http://x/v1"}, "TEXTRAWL_LLM_MODEL"),
        ({"llm_provider": "ollama", "llm_base_url": "ftp://x"}, "TEXTRAWL_LLM_BASE_URL is not an"),
        ({"llm_provider": "ollama", "llm_api_key": "two words"}, "characters that no key has"),
    ],
)
def test_a_setting_that_cannot_work_is_told_by_its_name(given: dict[str, Any], told: str) -> None:
    with pytest.raises(StartRefused) as caught:
        choose_llm(read_settings(**given))

    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("given", "model", "address"),
    [
        ({"llm_provider": "openai", "llm_api_key": "k"}, "gpt-4.1-mini", "https://api.openai.com"),
        ({"llm_provider": "ollama"}, "llama3.2:3b-instruct-q4_K_M", "http://127.0.0.1:11434"),
        (
            {"llm_provider": "ollama", "llm_base_url": "big:1234", "llm_model": "qwen3"},
            "qwen3",
            "http://big:1234",
        ),
    ],
)
def test_each_provider_has_a_model_and_an_address(
    given: dict[str, Any], model: str, address: str
) -> None:
    llm = choose_llm(read_settings(**given))

    assert llm is not None
    assert (llm.endpoint.model, llm.endpoint.address) == (model, address)


def test_a_client_that_is_not_used_loads_no_package_of_a_provider() -> None:
    program = (
        "import sys; from textrawl.models.choice import choose_llm; "
        "from textrawl.settings import read_settings; "
        "choose_llm(read_settings(llm_provider='openai', llm_api_key='k')); "
        "choose_llm(read_settings(llm_provider='ollama')); "
        "sys.exit(' '.join({'openai', 'ollama'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)

    assert done.stderr.strip() == b""
