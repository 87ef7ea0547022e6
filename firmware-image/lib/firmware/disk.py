"""The disk: its partition table, the boot state before the first partition, and the pieces of a slot.

    sector 0        partition table
    1 MiB, 5 MiB    the boot state, twice: far apart, so that one worn block of a card does not take both
    6 MiB           a copy of boot.scr, for a boot partition that cannot be read
    8 MiB           1: boot partition, FAT
    72 MiB          2: slot a        136 MiB  3: slot b
    200 MiB         4: data, up to the end of the card after the first boot
"""

import struct
from typing import NamedTuple

from . import uboot

MIB = 1 << 20
SECTOR = 512

STATES = (1 * MIB, 5 * MIB)
BOOT_SCRIPT = 6 * MIB
#: The most bytes of it that U-Boot reads.
BOOT_SCRIPT_SIZE = 64 << 10
SLOT_SIZE = 64 * MIB
#: Of a slot: where its header is, behind the root file system. Kernel and initramfs follow.
HEADER = 40 * MIB

#: Kinds of partitions: FAT16 by sector numbers, Linux.
FAT, LINUX = 0x0E, 0x83


class Partition(NamedTuple):
    start: int
    size: int
    kind: int


#: With room for an update bundle beside its own files.
BOOT = Partition(8 * MIB, 64 * MIB, FAT)
SLOT_A = Partition(72 * MIB, SLOT_SIZE, LINUX)
SLOT_B = Partition(136 * MIB, SLOT_SIZE, LINUX)
DATA = Partition(200 * MIB, 8 * MIB, LINUX)
PARTITIONS = (BOOT, SLOT_A, SLOT_B, DATA)

SIZE = DATA.start + DATA.size


def partition_table(signature):
    """A master boot record: the boot ROM of a Raspberry Pi 3 knows no other."""
    entries = b"".join(
        # Addresses by cylinder and head are not used: the greatest ones say so.
        struct.pack("<B3sB3sII", 0x80 if part is BOOT else 0, b"\xfe\xff\xff", part.kind, b"\xfe\xff\xff",
                    part.start // SECTOR, part.size // SECTOR)
        for part in PARTITIONS)
    return bytes(440) + bytes.fromhex(signature) + bytes(2) + entries + b"\x55\xaa"


def slot(root, kernel, ramdisk, version):
    """The content of a slot partition: root file system, header, and what `bootm` takes."""
    if len(root) > HEADER:
        raise ValueError(f"the root file system takes {len(root)} bytes, the slot has room for {HEADER}")
    first = HEADER // SECTOR + 1
    second = first + _sectors(kernel)
    header = uboot.environment({
        "kernel": f"{first:x}", "kernel_sectors": f"{_sectors(kernel):x}",
        "ramdisk": f"{second:x}", "ramdisk_sectors": f"{_sectors(ramdisk):x}", "slot_version": version,
    }, uboot.STATE_SIZE)
    content = root.ljust(HEADER, b"\0") + header + _padded(kernel) + _padded(ramdisk)
    if len(content) > SLOT_SIZE:
        raise ValueError(f"kernel and initramfs end {len(content) - SLOT_SIZE} bytes behind the slot")
    return content


def state(sequence, **variables):
    first = {"seq": f"{sequence:x}", "slot": "a", "good": "a", "tries": "0"}
    return uboot.environment(first | variables, uboot.STATE_SIZE)


def write(path, signature, script, boot, slot_a, **variables):
    """The whole image, sparse. The second slot is empty; the data partition is made at the first
    boot, as the boot state says that it never was."""
    with open(path, "wb") as disk:
        disk.write(partition_table(signature))
        for sequence, place in enumerate(STATES, 1):
            disk.seek(place)
            disk.write(state(sequence, data="new", **variables))
        if len(script) > BOOT_SCRIPT_SIZE:
            raise ValueError(f"boot.scr has {len(script)} bytes, its copy has room for {BOOT_SCRIPT_SIZE}")
        disk.seek(BOOT_SCRIPT)
        disk.write(script)
        for part, content in ((BOOT, boot), (SLOT_A, slot_a)):
            disk.seek(part.start)
            for at in range(0, len(content), MIB):
                block = content[at:at + MIB]
                if block.count(0) == len(block):
                    disk.seek(len(block), 1)
                else:
                    disk.write(block)
        disk.truncate(SIZE)


def _sectors(content):
    return -(-len(content) // SECTOR)


def _padded(content):
    return content.ljust(_sectors(content) * SECTOR, b"\0")
