"""Transports: stdio for one client, Streamable HTTP for any number of clients.

    framing   lines, ids of broken messages, JSON-RPC messages
    stdio     a session through the SDK, and the answers before the SDK is loaded
    http      the application, its guards, and the server that runs it

This file imports nothing, because a stdio server must not load the HTTP server.
"""
