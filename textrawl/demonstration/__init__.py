"""A small memory to try the server with: facts and relations about the PostgreSQL project.

`postgresql.json` has `facts` and `relations` as arguments for several calls of build_knowledge. It
also has `questions` to search for, and the name of an `entity` to look up. The facts were written
for this project from public knowledge about PostgreSQL.

    material   the content of that file
    session    a real client of a real `textrawl serve`, with a separate data folder
    costs      the tokens of one answer in each format
    run        the run that `textrawl demo` shows: store, search, look up
"""
