"""A memory in a file: backups of all of it by pg_dump, exports and imports of its content.

    database       what is asked of Postgres here, in one snapshot
    place          which memory, and the programs of Postgres that fit it
    files          files that are there whole or not at all
    programs       pg_dump and pg_restore, with no password on a command line
    dumps          writing a backup, and what one holds
    restoration    a backup into a database without a memory
    exports        content as JSON Lines
    lines          a line of those, held to the rules of the tools
    streams        lines of a file as they come
    imports        lines into a memory, in batches, each accounted for
    replacements   what is linked once all facts are there

Commands of the same names are what people run.
"""
