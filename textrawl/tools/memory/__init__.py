"""The `memory` toolset: facts about entities, stored, related, recalled and forgotten."""
