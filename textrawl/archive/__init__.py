"""A memory in a file: backups by pg_dump, exports and imports of its contents.

    files           files that are written completely or not at all
    programs        pg_dump and pg_restore, without a password on the command line
    dumps           writing and reading a backup
    restoration     restoring a backup into a database without a memory
    exports         writing the contents as JSON Lines
    line_fields     fields that several of these lines have
    graph_lines     models of the lines of nodes and edges
    lines           models of these lines, with the rules for arguments of tools
    streams         reading the lines of a file one by one
    imports         storing lines in a memory, in batches, with counts of their outcomes
    bundles         files, folders and zips of other systems, read in bounded memory
    formats         readers of these systems, which yield items
    detection       the choice of a format, and the plan of an import
    replacements    links from facts to their replacements, made after all facts are stored
    server_memory   the file of the reference memory server

The commands `backup`, `restore`, `export` and `import` use this package.
"""
