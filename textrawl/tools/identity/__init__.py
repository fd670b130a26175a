"""The `identity` toolset: who the agent is, as files that several programs share."""
