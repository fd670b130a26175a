"""A memory in a file: backups by pg_dump, exports and imports of its contents.

    files           files that are written completely or not at all
    programs        pg_dump and pg_restore, with no password on a command line
    dumps           writing and reading a backup
    restoration     restoring a backup into a database without a memory
    exports         writing the contents as JSON Lines
    lines           models of these lines, with the rules of the tools
    streams         reading the lines of a file one by one
    imports         storing lines in a memory, in batches, with a count of each outcome
    replacements    links between facts, made after all facts are stored
    server_memory   the file of the reference memory server

The commands `backup`, `restore`, `export` and `import` use this package.
"""
