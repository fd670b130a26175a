"""Access tokens of an identity provider: an OAuth 2.1 resource server's half, without a database.

    keys       what may be used of a key set (JWKS)
    keyring    the keys of one issuer: found through its metadata, kept, fetched again when due
    issuer     a bearer token in, who that is out

A token never leaves this process, and nothing in it decides where keys come from.
"""
