"""The MCP server: it offers the tools and resources that the settings choose."""
