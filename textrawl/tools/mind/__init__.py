"""The `mind` toolset: nodes and edges with confidence, evidence and properties."""
