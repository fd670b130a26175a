"""Log levels of libraries."""

import logging


def silence_libraries() -> None:
    """Drop needless warnings of libraries, and warnings of problems that textrawl reports itself.

    psycopg warns of each connection that is closed on purpose. dotenv warns of a bad line each time
    that the file is read.
    """
    for library in ("psycopg", "dotenv"):
        logging.getLogger(library).setLevel(logging.ERROR)
