"""`textrawl recall`: facts for a question, in the form that a model reads."""

from typing import Annotated

import typer

from textrawl.cli.answering import find_answer
from textrawl.cli.inputs import AsJson, FactLimit, MaxTokens, SpaceName, read_query
from textrawl.cli.quick import STDIN, build_recall, read_stdin, show

_Question = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[QUESTION...]",
        help="A question or keywords. - or nothing means the text on stdin.",
    ),
]


def recall(
    question: _Question = None,
    limit: FactLimit = 10,
    max_tokens: MaxTokens = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Print facts that answer a question, in few tokens and quickly.

    Each fact is one line with its score from 0 to 100, below the name of its entity. If a server or
    `textrawl resident` has the memory open, the answer takes some milliseconds.
    """
    words = question or []
    text = read_stdin() if words in ([], [STDIN]) else " ".join(words)
    if text is None:
        raise typer.BadParameter("give a question, or pipe one to stdin", param_hint="QUESTION")
    request = build_recall(
        read_query(text, "QUESTION"),
        as_json=as_json,
        limit=limit,
        max_tokens=max_tokens,
        space=space,
    )
    show(find_answer(request), as_json=as_json)
