"""Signing keys: Ed25519 (RFC 8032), one file for the secret half and one for the public half.

Keys live outside every run, in the user's data folder (XDG base directories), readable by their
owner alone.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
    load_ssh_public_key,
)

from harness.evidence.canonical import sha256_hex
from harness.evidence.user_data import data_folder
from harness.verdicts import ConfigurationError


class KeyFileError(ConfigurationError):
    """A key file is missing, unsafe, already there, or no Ed25519 key."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The secret half, ready to sign."""

    secret: Ed25519PrivateKey

    @property
    def public(self) -> bytes:
        """The public half, 32 bytes."""
        return self.secret.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def fingerprint(self) -> str:
        """What the signer is called: SHA-256 of the public half, hexadecimal."""
        return fingerprint(self.public)

    def sign(self, data: bytes) -> bytes:
        """Give the 64-byte signature of `data`."""
        return self.secret.sign(data)


def fingerprint(public: bytes) -> str:
    """Give a public key's fingerprint: SHA-256 of its 32 bytes, 64 hexadecimal digits."""
    return sha256_hex(public)


def signature_holds(public: bytes, signature: bytes, data: bytes) -> bool:
    """Tell whether `signature` over `data` was made with the secret half of `public`."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError, UnsupportedAlgorithm):
        return False
    return True


def default_key_path() -> Path:
    """Give where `key new` puts the key and a run looks for it."""
    return data_folder() / "keys" / "signing.pem"


def make_key(path: Path) -> SigningKey:
    """Make a new key at `path` (mode 0600) with its public half beside it (`.pub`).

    Raises KeyFileError if either file is there already: a key is never overwritten.
    """
    public_path = path.with_suffix(".pub")
    for taken in (path, public_path):
        if taken.exists():
            raise KeyFileError(
                str(taken),
                expected="no key there yet",
                found="a file",
                remedy="name another file with --out, or move the old key away",
            )
    key = SigningKey(Ed25519PrivateKey.generate())
    secret = key.secret.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = key.secret.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _create(path, secret, 0o600)
        _create(public_path, public, 0o644)
    except OSError as error:
        raise KeyFileError(
            str(path),
            expected="a place where a key can be written",
            found=error.strerror or str(error),
            remedy="name another file with --out",
        ) from error
    return key


def load_signing_key(path: Path | None = None) -> SigningKey | None:
    """Give the signing key at `path`, or the user's own, or None if the user has made none.

    Raises KeyFileError if a named key is missing, or if the file can be read by others, or is no
    Ed25519 key.
    """
    where = path or default_key_path()
    if path is None and not where.exists():
        return None
    try:
        mode = stat.S_IMODE(where.stat().st_mode)
        if mode & 0o077:
            raise KeyFileError(
                str(where),
                expected="a key that its owner alone can read (mode 0600)",
                found=f"mode {mode:04o}",
                remedy="take the rights of group and others away, or make a new key",
            )
        secret = load_pem_private_key(where.read_bytes(), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _no_key(where, "the secret half of an Ed25519 key (PEM)", error) from error
    if not isinstance(secret, Ed25519PrivateKey):
        raise _no_key(where, "the secret half of an Ed25519 key (PEM)", TypeError("another kind"))
    return SigningKey(secret)


def load_public_key(path: Path) -> bytes:
    """Give the 32 bytes of a public key file (PEM or OpenSSH form); raises KeyFileError."""
    expected = "the public half of an Ed25519 key (PEM or OpenSSH)"
    try:
        data = path.read_bytes()
        if data.startswith(b"ssh-"):
            key: object = load_ssh_public_key(data)
        else:
            key = load_pem_public_key(data)
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        raise _no_key(path, expected, error) from error
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(path, expected, TypeError("a key of another kind"))
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def _no_key(path: Path, expected: str, error: Exception) -> KeyFileError:
    reason = error.strerror if isinstance(error, OSError) else None
    return KeyFileError(
        str(path),
        expected=expected,
        found=reason or "something else",
        remedy="name the file that `sicbo-hil key new` wrote",
    )


def _create(path: Path, data: bytes, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(fd, "wb") as stream:
        os.fchmod(stream.fileno(), mode)
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
