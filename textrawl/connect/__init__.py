"""The configuration files of client programs: where they are, and how textrawl is added to them."""
