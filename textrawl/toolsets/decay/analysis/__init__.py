"""Analysis of a text without a language model: its entities, its strength and its intents."""
