"""The signature that Prolific adds to the links of studies with a secure URL."""

import json
from datetime import timedelta
from functools import cache
from urllib.parse import parse_qsl, urlsplit

KEY_ID = "study-key-1"


@cache
def _key():
    from cryptography.hazmat.primitives.asymmetric import rsa

    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Signer:
    """Signs links, and publishes the key."""

    def key_set(self):
        import jwt

        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(_key().public_key()))
        return {"keys": [{**public, "kid": KEY_ID, "alg": "RS256", "use": "sig", "key_ops": ["verify"]}]}

    def signed(self, url, submission, workspace, at):
        """Return the address with the parameter `prolific_token`, good for two minutes."""
        return f"{url}{'&' if '?' in url else '?'}prolific_token={self.token(url, submission, workspace, at)}"

    def token(self, url, submission, workspace, at, **changes):
        import jwt

        claims = {
            "iss": "https://www.prolific.com",
            "iat": int(at.timestamp()),
            "exp": int((at + timedelta(minutes=2)).timestamp()),
            "aud": url,
            "sub": submission,
            "prolific": {**dict(parse_qsl(urlsplit(url).query)), "workspace_id": workspace},
            **changes,
        }
        return jwt.encode(claims, _key(), "RS256", headers={"kid": KEY_ID})
