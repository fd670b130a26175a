"""A memory in a file: backups by pg_dump, exports and imports of its contents.

The commands `backup`, `restore`, `export` and `import` use this package.
"""
