"""Makes the virtual board's kernel and root out of unpacked Debian packages.

    python3 -m virtual_board.root_image PACKAGES BOARD OUTPUT

PACKAGES is a folder of unpacked packages, BOARD the folder with the lists `packages` and `modules`, the program `init`,
those for /usr/bin, and the profile `board.conf`; OUTPUT gets `kernel` and `root.cpio`.
"""

import re
import shutil
import sys
from pathlib import Path

from .cpio import Archive
from .host import run

#: Of the folder BOARD, for /usr/bin.
PROGRAMS = ("power-down", "service-manager", "stamp")

LIBRARY_FOLDERS = ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu")


def make(packages, board, output):
    modules_folder = next((packages / "lib/modules").iterdir())
    root = Archive()
    root.add_character_device("dev/console", 5, 1)
    root.add_file("init", (board / "init").read_bytes(), executable=True)
    for name in PROGRAMS:
        root.add_file(f"usr/bin/{name}", (board / name).read_bytes(), executable=True)
    root.add_file("etc/tonearm/board.conf", (board / "board.conf").read_bytes())
    _add_files(root, packages, _listed_files(board / "packages"))
    _add_modules(root, packages, modules_folder, board / "modules")
    loop = (modules_folder / "kernel/sound/drivers/snd-aloop.ko").read_bytes()
    root.add_file("lib/modules/hdmi.ko", hdmi_card(loop))
    output.mkdir(parents=True, exist_ok=True)
    (output / "root.cpio").write_bytes(root.data)
    shutil.copyfile(packages / f"boot/vmlinuz-{modules_folder.name}", output / "kernel")


def _lines(path):
    """The lines of a list, without comments."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def _listed_files(path):
    return [file for line in _lines(path) for file in line.partition(":")[2].split()]


def _add_files(root, packages, files):
    libraries = {}
    for name in files:
        source = packages / name
        for file in [source] if source.is_file() else sorted(p for p in source.rglob("*") if p.is_file()):
            executable = bool(file.stat().st_mode & 0o100)
            root.add_file(str(file.relative_to(packages)), file.read_bytes(), executable)
            _find_libraries(packages, file, libraries)
    for name, file in libraries.items():
        root.add_file(f"lib/{name}", file.read_bytes(), executable=True)


def _find_libraries(packages, file, found):
    """Adds to `found` the libraries that `file` is linked with, and theirs."""
    if file.read_bytes()[:4] != b"\x7fELF":
        return
    dynamic = run(["readelf", "--dynamic", file], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if name not in found:
            found[name] = next(p for folder in LIBRARY_FOLDERS if (p := packages / folder / name).exists())
            _find_libraries(packages, found[name], found)


def _add_modules(root, packages, folder, wanted):
    run(["depmod", "-b", packages, folder.name], check=True)
    dependencies = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        path, _, needed = line.partition(":")
        dependencies[path] = needed.split()
    path_of = {_module_name(path): path for path in dependencies}
    lines = _lines(wanted)
    chosen = {}
    for line in lines:
        path = path_of[_module_name(line.split()[0])]
        for needed in (path, *dependencies[path]):
            chosen[needed] = dependencies[needed]
    target = f"lib/modules/{folder.name}"
    for path in chosen:
        root.add_file(f"{target}/{path}", (folder / path).read_bytes())
    table = "".join(f"{path}: {' '.join(needed)}\n" for path, needed in chosen.items())
    root.add_file(f"{target}/modules.dep", table.encode())
    root.add_file("etc/modules", "".join(f"{line}\n" for line in lines).encode())


def hdmi_card(loop):
    """The driver `snd-aloop` as a card like the HDMI socket of a Raspberry Pi (vc4-hdmi): its only format is
    IEC958_SUBFRAME_LE. The driver hands on bytes, whatever their format, so another list of formats is enough, and
    another name, so that both can be loaded."""
    # S16, S24, S32 and FLOAT, S24_3; each of both byte orders.
    formats = sum(1 << number for number in (2, 3, 6, 7, 10, 11, 14, 15, 32, 33)).to_bytes(8, "little")
    assert loop.count(formats) == 1, "this version of snd-aloop has other formats"
    loop = loop.replace(formats, (1 << 18).to_bytes(8, "little")).replace(b"snd_aloop", b"snd_ahdmi")
    # The kernel takes a module without a signature, but none with a wrong one.
    mark = b"~Module signature appended~\n"
    if loop.endswith(mark):
        length = int.from_bytes(loop[-len(mark) - 4:-len(mark)], "big")
        loop = loop[:-len(mark) - 12 - length]
    return loop


def _module_name(path):
    return Path(path).name.removesuffix(".ko").replace("-", "_")


if __name__ == "__main__":
    make(*(Path(argument) for argument in sys.argv[1:4]))
