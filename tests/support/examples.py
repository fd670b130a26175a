"""The number of examples of a rule that holds for all inputs."""

from hypothesis import settings

EXAMPLES = settings().max_examples
"""The default: 30, and 1,200 in `weekly.yml`. Import it only where tests are, after the choice."""
