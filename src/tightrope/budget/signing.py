"""Ed25519 signatures of a ledger's heads and receipts. Without the package ``cryptography`` a ledger is not signed, and
says so."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tightrope.errors import LedgerError

KEY_VARIABLE = "TIGHTROPE_LEDGER_KEY"
_MISSING = LedgerError(
    "signatures", "the package cryptography is not installed", "Install it with pip install 'tightrope[ledger]'."
)


def can_sign() -> bool:
    """Whether the package that signs is installed."""
    return find_spec("cryptography") is not None


@dataclass(frozen=True)
class Signer:
    """A private key at work."""

    public_key: str
    _key: Any = field(repr=False, compare=False)

    def sign(self, message: bytes) -> str:
        """The signature, in hexadecimal; the same for the same message."""
        made: bytes = self._key.sign(message)
        return made.hex()


def signer_in(path: Path) -> Signer:
    """The key in a file of 64 hexadecimal digits."""
    try:
        seed = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        raise LedgerError("the key", f"{path} is not there", "Give key= or set " + KEY_VARIABLE + ".") from None
    except (OSError, ValueError) as wrong:
        raise LedgerError("the key", f"{path} cannot be read ({wrong})") from None
    return _signer(seed, path)


def new_signer(path: Path) -> Signer:
    """A new key, written to a file that only its owner can read."""
    if not can_sign():
        raise _MISSING
    seed = os.urandom(32)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return signer_in(path)
    except OSError as wrong:
        raise LedgerError("the key", f"{path} cannot be written ({wrong})") from None
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(seed.hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    return _signer(seed, path)


def _signer(seed: bytes, path: Path) -> Signer:
    if not can_sign():
        raise _MISSING
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if len(seed) != 32:
        raise LedgerError("the key", f"{path} does not hold 64 hexadecimal digits")
    key = Ed25519PrivateKey.from_private_bytes(seed)
    return Signer(key.public_key().public_bytes_raw().hex(), key)


def signature_holds(public_key: str, message: bytes, signature: str) -> bool:
    """Whether the signature of the message was made with the key that belongs to this public key."""
    if not can_sign():
        raise _MISSING
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True
