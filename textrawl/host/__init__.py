"""The host of a memory, and who uses it on this machine: pipes and questions.

Opening a memory takes a second. Therefore one process has it open for a person, the host, and all
others of this OS user ask it through a Unix socket.

- `entrance` makes the address of a host from the settings, and starts one. `pipe` passes the lines
  of a client over stdio on, and `conversation` is what another host has to know of the client.
  `question` is one call of a command or a hook. These modules use only the standard library,
  `environment` and modules of `values`, because they run before anything else is imported.
- `listener` accepts connections. `answers` reads a request and calls a tool or an operation: of
  `client.local`, or of `remote`, which sends the call to a server over HTTP.
- `server.sessions` serves the sessions of pipes.
"""
