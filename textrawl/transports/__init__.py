"""Transports: stdio for one client, Streamable HTTP for any number.

    framing   lines, ids of broken messages, JSON-RPC messages
    stdio     a session through the SDK, and the answers given before the SDK is loaded
    http      the application, its guards, and the server that runs it

This file imports nothing: a stdio server must not load the HTTP server.
"""
