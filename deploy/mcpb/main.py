"""The entry of the bundle: the server over stdio, as `textrawl` starts it."""

from textrawl.__main__ import main

if __name__ == "__main__":
    main([])
