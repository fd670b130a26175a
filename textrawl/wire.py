"""The SDK's models of messages, of which a server needs a tenth."""

from contextlib import suppress


def postpone_models() -> None:
    """Has those of each protocol version built when they are first used. Before the SDK is loaded.

    `defer_build` is an option of pydantic; the SDK offers no place to set it. Where its modules are
    arranged otherwise all are built at the start, as before.
    """
    with suppress(ImportError, AttributeError):
        from mcp_types._wire_base import WireModel  # noqa: PLC0415

        WireModel.model_config["defer_build"] = True
