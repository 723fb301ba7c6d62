"""Which names stand for a secret."""

from __future__ import annotations

MASK = "***"
_ENDINGS = ("connectionstring", "password", "secret", "token", "key")
_SEPARATORS = str.maketrans("", "", "_- ")


class SecretText(str):
    """A token or a signed URL as text, which a debugger or a traceback with local variables does not show."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(MASK)


def is_secret_name(name: str) -> bool:
    """Tell whether a value of this name is a secret: ends in connectionString, password, secret, token or key.

    Case, ``_``, ``-`` and blanks do not count, so ``relay_connection_string`` is one too.
    """
    return name.lower().translate(_SEPARATORS).endswith(_ENDINGS)
