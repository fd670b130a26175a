"""Access control: principals, their scopes, and their access tokens."""
