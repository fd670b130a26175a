"""OAuth 2.1 resource server: verification of an identity provider's access tokens.

    documents  metadata and other documents of one issuer, from addresses that can be trusted
    keys       the usable keys of a key set (JWKS)
    keyring    the keys of one issuer: found through its metadata, cached, and fetched again
    issuer     verification of a token, and the identity in the token
    code_flow  the sign-in of a person at the issuer, for the explorer

This package does not use the database. An access token is never sent to another process. The
content of a token never decides from which address keys are fetched.
"""
