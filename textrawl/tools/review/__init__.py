"""The `review` toolset: reviewers see proposals and decide them."""
