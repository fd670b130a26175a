"""Order and fairness between the calls that one process answers at the same time."""
