"""Hooks: commands that a client program runs at events of a session, such as a prompt.

The command is `textrawl hook CLIENT EVENT`. The client writes JSON to its stdin and reads JSON from
its stdout. A hook has nothing to say if the memory cannot be reached, and never fails.

- `events` is the description of the clients' events. Everything else is made from it.
  It also reads the JSON of a client.
- `sessions` remembers what a session has seen.
- `transcripts` reads the texts of a session and stores them.
- `response` decides what a hook says, and `command` runs it.
- `plugins` writes what clients need to run hooks.

A hook runs at every prompt. Therefore all modules but the last import only the standard library,
`environment`, `host.question` and modules like themselves.
"""
