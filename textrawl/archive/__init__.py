"""A memory in a file: backups by pg_dump, exports and imports of its contents.

The commands `backup`, `restore`, `export`, `import` and `mirror` use this package.
"""
