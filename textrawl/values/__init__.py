"""Values: rules for texts, instants and types from users. They need no database and no server."""
