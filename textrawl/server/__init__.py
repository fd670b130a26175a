"""The MCP server: settings in, tools and resources out."""
