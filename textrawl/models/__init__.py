"""Requests to embedding providers and LLMs: errors, checks of answers, retries, circuit breaker."""
