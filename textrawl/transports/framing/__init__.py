"""Framing: lines of JSON-RPC, their ids, and the messages in them."""
