"""Stdio: one client, greeted before the SDK is loaded."""
