"""The `connector` toolset: `search` and `fetch` in the form that ChatGPT needs for citations."""
