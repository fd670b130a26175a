"""Documents: files and texts before they are stored. This package needs no database.

kinds       the kind of each file, by the end of its name
folders     the files of an ingest, and the paths of their sources
files       the bytes of files, of bounded size
reading     the texts of files: plain text, Markdown, code, HTML and PDF
chunking    texts that are cut into chunks, at headings, functions and paragraphs
"""
