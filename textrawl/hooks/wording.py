"""The reminders that hooks give to models, and the cost of the frame around facts."""

FRAME_TOKENS = 45  # more than the words and tags around facts cost

REMINDER = (
    "textrawl: before this session ends, store what will still matter in later sessions and is "
    "not in the memory yet: decisions and their reasons, preferences, facts about people and "
    "projects. Use remember_fact or build_knowledge, without secrets. If there is nothing, do "
    "nothing, and do not mention this reminder."
)
AFTER_COMPACTION = (
    "textrawl: this conversation was compacted. If the summary holds something that will still "
    "matter in later sessions and is not in the memory yet, store it with remember_fact or "
    "build_knowledge, without secrets. If there is nothing, do nothing, and do not mention this "
    "reminder."
)


def is_reminder(prompt: str) -> bool:
    """Return whether a prompt is a reminder of ours. Some clients send reminders as prompts."""
    return prompt.lstrip().startswith((REMINDER[:60], AFTER_COMPACTION[:40]))
