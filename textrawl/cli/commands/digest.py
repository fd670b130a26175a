"""`textrawl digest`: the facts that matter at the start of a conversation."""

from typing import Annotated

import typer

from textrawl.cli.answering import find_answer
from textrawl.cli.inputs import AsJson, MaxTokens, SpaceName, read_name
from textrawl.cli.quick import build_digest, show

_Project = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", parser=read_name, help="Name of the project that you begin to work on."
    ),
]


def digest(
    project: _Project = None,
    max_tokens: MaxTokens = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Print the facts that matter at the start of a conversation.

    They are about the project, people, preferences and open questions. Without --max-tokens they
    have at most TEXTRAWL_DIGEST_TOKENS tokens (300).
    """
    request = build_digest(as_json=as_json, project=project, max_tokens=max_tokens, space=space)
    show(find_answer(request), as_json=as_json)
