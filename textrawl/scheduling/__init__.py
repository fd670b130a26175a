"""Scheduling: order and fairness between the concurrent calls of one process."""
