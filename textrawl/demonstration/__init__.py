"""A small memory to try the server with: facts and relations about the PostgreSQL project.

`postgresql.json` has `facts` and `relations` as arguments of build_knowledge (more than one call
takes), `questions` to search for, and the name of an `entity` to look up. The facts were written
for this project from public knowledge about PostgreSQL.

    material   the content of that file
    session    a real client of a real `textrawl serve` on a folder of its own
    costs      the tokens of one answer in each format
    run        the run that `textrawl demo` shows: store, search, look up
"""
