"""Log levels of libraries."""

import logging


def silence_libraries() -> None:
    """Drop the warnings of libraries that repeat what textrawl reports itself.

    psycopg warns of each connection that is closed on purpose, dotenv of a bad line at each read.
    """
    for library in ("psycopg", "dotenv"):
        logging.getLogger(library).setLevel(logging.ERROR)
