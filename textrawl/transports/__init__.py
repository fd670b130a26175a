"""How clients reach the server: one over stdio, any number over Streamable HTTP.

    stdio     lines on stdin and stdout, through the SDK
    reception, greeting (shapes)     what a client is answered before the SDK is loaded
    wire, outlines, messages         lines, ids of broken ones, JSON-RPC messages
    http      the application, every guard before it, and how it is served
    listening, connections     sockets and what uvicorn is told
    authentication, hosts, limits (windows), bodies, deadlines, requests     the guards
    probes, metrics, refusals  what is answered beside MCP

This file stays empty of imports: whoever speaks stdio loads no HTTP server.
"""
