"""The vault: a folder of Markdown notes. Promoted memories become notes in it."""
