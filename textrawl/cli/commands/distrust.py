"""`textrawl distrust`: takes back what `textrawl trust` recorded."""

from pathlib import Path

from textrawl.cli.commands.trust import TrustedFolder
from textrawl.cli.console import write_message
from textrawl.environment import find_user_file, name_local_file
from textrawl.trusted_folders import distrust as drop_trust


def distrust(folder: TrustedFolder = Path()) -> None:
    """Take back the trust in the `.env` of a folder.

    The folder does not need to exist any more.
    """
    file = name_local_file(folder)
    state = "no longer" if drop_trust(find_user_file().parent, file) else "not"
    write_message(f"{file} is {state} trusted.")
