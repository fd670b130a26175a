"""The socket of a memory: other programs of the same OS user ask a process that has it open.

Opening a memory takes a second, and a hook of an editor runs at every prompt. Therefore each server
listens on a Unix socket too, and `textrawl resident` is a small process that does only this.

- `client` finds the socket from the settings, and asks the process behind it. It uses only the
  standard library, `environment` and modules of `values`, because it runs before anything else is
  imported.
- `listener` accepts connections. One process of a memory does so at a time: a server, or
  `textrawl resident`, which it also runs.
- `answers` reads a request, and calls a tool: of `client.local`, or of `remote`, which sends the
  call to a server over HTTP.
"""
