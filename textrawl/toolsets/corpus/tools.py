"""The tools of the `corpus` toolset."""

from textrawl.toolsets.corpus.correcting import apply, correct
from textrawl.toolsets.corpus.declaration import corpus
from textrawl.toolsets.corpus.forgetting import forget
from textrawl.toolsets.corpus.recalling import recall
from textrawl.toolsets.corpus.remembering import remember
from textrawl.toolsets.corpus.statistics import stats

__all__ = ["apply", "corpus", "correct", "forget", "recall", "remember", "stats"]
