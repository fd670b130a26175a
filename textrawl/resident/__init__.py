"""The socket of a memory: other programs of the same OS user ask a process that has it open.

Opening a memory takes a second, and a hook of an editor runs at every prompt. Therefore each server
listens on a Unix socket too, and `textrawl resident` is a small process that does only this.

- `client` finds the socket from the settings, and says in each request whose rights it has.
- `question` asks the process behind the socket, and starts one if there is none. Both use only the
  standard library, `environment` and modules of `values`, because they run before anything else is
  imported.
- `listener` accepts connections. One process of a memory does so at a time: a server, or
  `textrawl resident`, which it also runs.
- `answers` reads a request, and calls a tool or an operation: of `client.local`, or of `remote`,
  which sends the call to a server over HTTP.
"""
