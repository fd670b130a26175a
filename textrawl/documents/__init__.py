"""Documents: files and texts before they are stored. This package needs no database.

kinds       the kind of each file, by the end of its name
chunking    texts that are cut into chunks, at headings, functions and paragraphs
"""
