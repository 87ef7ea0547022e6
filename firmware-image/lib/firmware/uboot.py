"""What U-Boot reads: legacy images with a checksum, and environments."""

import struct
import zlib

MAGIC = 0x27051956
LINUX, ARM64 = 5, 22
KERNEL, RAMDISK, SCRIPT = 2, 3, 6
UNCOMPRESSED, GZIP = 0, 1

#: The size in bytes of one copy of the boot state, which is one sector: it is written whole or not at all.
STATE_SIZE = 512


def image(content, kind, name, load=0, compression=UNCOMPRESSED, time=0):
    """A legacy image (U-Boot, include/image.h): `bootm` compares the checksums of header and content."""
    if kind == SCRIPT:
        content = struct.pack(">II", len(content), 0) + content

    def header(checksum):
        return struct.pack(">7I4B32s", MAGIC, checksum, time, len(content), load, load, zlib.crc32(content),
                           LINUX, ARM64, kind, compression, name.encode())

    return header(zlib.crc32(header(0))) + content


def environment(variables, size):
    """Variables with a checksum before them, as `env import -c` and U-Boot's own storage read them."""
    text = b"".join(f"{name}={value}\0".encode() for name, value in sorted(variables.items())) + b"\0"
    assert len(text) <= size - 4, "the environment is too long"
    data = text.ljust(size - 4, b"\0")
    return struct.pack("<I", zlib.crc32(data)) + data
