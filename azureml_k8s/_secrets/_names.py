"""Which names stand for a secret."""

from __future__ import annotations

MASK = "***"
_ENDINGS = ("connectionstring", "password", "secret", "token", "key")
_SEPARATORS = str.maketrans("", "", "_- ")


def is_secret_name(name: str) -> bool:
    """Tell whether a value of this name is a secret: ends in connectionString, password, secret, token or key.

    Case, ``_``, ``-`` and blanks do not count, so ``relay_connection_string`` is one too.
    """
    return name.lower().translate(_SEPARATORS).endswith(_ENDINGS)
