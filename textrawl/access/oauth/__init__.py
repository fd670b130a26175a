"""OAuth 2.1 resource server: verification of an identity provider's access tokens.

    keys       the usable keys of a key set (JWKS)
    keyring    the keys of one issuer: found through its metadata, cached, and fetched again
    issuer     verification of a token, and the identity that it contains

It needs no database. A token never leaves this process, and nothing in it decides where keys come
from.
"""
