"""The groups and summaries of all commands, for the help of `textrawl`.

The summaries are repeated here, because the help would take seconds if it imported all commands. A
test compares each summary with the first line of the command's own help.
"""

PANELS: dict[str, dict[str, str]] = {
    "Daily": {
        "search": "Search the memory by words and by meaning.",
        "recall": "Print facts that answer a question, in few tokens and quickly.",
        "digest": "Print the facts that matter at the start of a conversation.",
        "explain": "Explain why a search finds some facts and leaves out others.",
        "show": "Show an entity with its newest facts and its relations.",
        "remember": "Store a fact about an entity.",
        "revise": "Mark a fact as wrong, say why, and store what is right.",
        "entity": "Give entities aliases, and merge two entities that are one.",
        "forget": "Delete an entity, or one fact of it, for good.",
        "ingest": "Add files to a graph, as sources that `recall` searches.",
        "journal": "Consolidate the journal.",
        "explore": "Look into the memory in a browser: search, entities, history.",
        "stats": "Show what the memory holds, how it grows, and what answers cost.",
    },
    "Clients": {
        "connect": "Add textrawl to the configuration of a client.",
        "disconnect": "Take back what `textrawl connect` added to a client.",
    },
    "Server": {
        "serve": "Serve the memory to an MCP client. `textrawl` without a command does the same.",
        "resident": "Keep the memory open for hooks and quick commands.",
        "hook": "Answer an event of a client program, such as a prompt. Client programs run it.",
        "demo": "See memory at work: store facts about PostgreSQL, ask questions, count tokens.",
        "doctor": "Check everything that a call needs, from settings to embeddings.",
        "settings": "Show the current settings and where each value comes from.",
        "trust": "Let the `.env` of a folder set all settings, until the file changes.",
        "distrust": "Take back the trust in the `.env` of a folder.",
        "toolsets": "List the toolsets that a server can offer.",
        "cost": "Show what the server costs a client in tokens.",
    },
    "Team": {
        "space": "Create, list, rename and archive spaces: named parts of the memory.",
        "review": "See proposals, and accept or reject them.",
        "grant": "Set, list and revoke what actors may do in spaces.",
        "token": "Create, list, rotate and revoke access tokens.",
        "share": "Copy or move an entity, or some of its facts, to another space.",
        "log": "Show who did what to the memory, newest first, without the content.",
        "undo": "Undo what one author wrote since a time.",
        "analyst": "Create, list and drop logins that read the memory in SQL.",
    },
    "Database": {
        "migrate": "Create the database schema, or bring it up to date.",
        "cluster": "See the workers of a distributed memory, and move spaces between them.",
        "backup": "Write the whole memory to a file.",
        "restore": "Restore a backup into an empty database.",
        "export": "Write entities, facts, relations, reflections and documents as JSON Lines.",
        "import": "Add an export to the memory.",
        "embed": "Change the embedding model while servers keep answering.",
        "upgrade": "Move the embedded Postgres to a new major version of PostgreSQL.",
        "psql": "Open psql on the memory, as a role that can only read.",
    },
}
"""The groups of the help with the summaries of their commands, in the order of the help."""

COMMANDS = {name: panel for panel, names in PANELS.items() for name in names}
"""The group of each command, by name."""
