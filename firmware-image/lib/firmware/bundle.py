"""Makes an update bundle:

    python3 -m firmware.bundle SLOT BOARD VERSION KEY BUNDLE

    0       signature: ECDSA with P-256 and SHA-256 of the next 960 bytes, r and s with 32 bytes each
    64      manifest: lines of text, filled up with line ends
    1024    the pieces of the slot, one behind the other

The manifest's lines are `tonearm-update 1`, `board=`, `version=`, then `piece=OFFSET SIZE SHA256` for each piece: where
it goes in the slot, in bytes. Piece 2 is the slot's header with kernel and initramfs: it is written last.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

from . import disk

SIGNATURE_SIZE = 64
MANIFEST_SIZE = 960


def make(slot, board, version, key):
    root = slot[:disk.HEADER].rstrip(b"\0")
    root = slot[:-(-len(root) // 4096) * 4096]
    pieces = [(0, root), (disk.HEADER, slot[disk.HEADER:])]
    lines = ["tonearm-update 1", f"board={board}", f"version={version}"]
    lines += [f"piece={place} {len(content)} {hashlib.sha256(content).hexdigest()}" for place, content in pieces]
    manifest = "".join(f"{line}\n" for line in lines).encode().ljust(MANIFEST_SIZE, b"\n")
    return signature(manifest, key) + manifest + b"".join(content for _, content in pieces)


def signature(message, key):
    """r and s, as openssl gives them in DER."""
    command = ["openssl", "dgst", "-sha256", "-sign", key]
    der = subprocess.run(command, input=message, capture_output=True, check=True).stdout
    numbers, place = [], 2
    for _ in range(2):
        # Each an INTEGER, with a zero before it where its highest bit is set.
        length = der[place + 1]
        numbers.append(int.from_bytes(der[place + 2:place + 2 + length], "big"))
        place += 2 + length
    return b"".join(number.to_bytes(SIGNATURE_SIZE // 2, "big") for number in numbers)


if __name__ == "__main__":
    slot_path, board_name, version_text, key_path, bundle_path = sys.argv[1:]
    Path(bundle_path).write_bytes(make(Path(slot_path).read_bytes(), board_name, version_text, key_path))
