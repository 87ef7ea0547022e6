"""Whose updates an image takes: the public half of a key on P-256."""

import subprocess
from pathlib import Path

TEST_KEY = Path(__file__).parents[2] / "test-key.pem"
#: In place of a key's file: the image takes no updates.
NO_KEY = "none"
#: Of a public key on P-256 in DER (RFC 5480), and of the point at its end: 0x04, x, y.
P256_KEY_SIZE, P256_POINT_SIZE = 91, 65


def trusted(name):
    """The point of the key in the PEM file `name`, in hexadecimal digits, as /etc/tonearm/update-key has it. Without a
    name that of the tests' key; None for `NO_KEY`."""
    if name == NO_KEY:
        return None
    source = ["-pubin", "-in", name] if name else ["-in", TEST_KEY]
    encoded = subprocess.run(["openssl", "pkey", *source, "-pubout", "-outform", "DER"], check=True,
                             capture_output=True).stdout
    if len(encoded) != P256_KEY_SIZE:
        raise ValueError(f"{name or TEST_KEY.name} is not a key on P-256")
    return encoded[-P256_POINT_SIZE:].hex()
