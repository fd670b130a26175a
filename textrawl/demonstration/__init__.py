"""A small memory to try the server with: facts and relations about the PostgreSQL project.

`postgresql.json` holds `facts` and `relations` in the shape that build_knowledge takes (more than
one call's worth), `questions` to search it with, and `entity`, a name worth looking up. The facts
were written for this project from public knowledge about PostgreSQL.

    material   that file, read
    session    a real client of a real `textrawl serve` on a folder of its own
    costs      what one answer costs in each format
    play       store, ask, look up: what `textrawl demo` shows
"""
