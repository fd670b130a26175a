"""Values: the rules for text, instants and types that users send, without any dependency."""
