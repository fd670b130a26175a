"""Scheduling: the order of concurrent calls in one process, and limits for each person."""
