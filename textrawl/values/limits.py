"""The limits of arguments, which tools, commands, the socket and the Python client share.

Lengths are in characters. The commands that have to be fast and the hooks read these values too, so
this module imports nothing.
"""

NAME_LENGTH = 200
FACT_LENGTH = 2000
QUERY_LENGTH = 1000
RELATION_LENGTH = 100
REASON_LENGTH = 500  # of a revision or of a rejection

MOST_FACTS = 50  # of a search
MOST_PROPOSALS = 100  # of a list or of one decision
LEAST_TOKENS, MOST_TOKENS = 50, 25_000  # of an answer
DIGEST_TOKENS = 300  # of a digest, by default
