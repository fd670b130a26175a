"""The `curation` toolset: wrong facts are put right, and facts go to other spaces."""
