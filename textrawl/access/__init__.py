"""Access control: principals, their scopes, and the tokens by which they are known."""
