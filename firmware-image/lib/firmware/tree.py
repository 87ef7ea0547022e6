"""The root file system as a folder: files of packages, the libraries they are linked with, kernel modules."""

import lzma
import re
import shutil
import subprocess
from pathlib import Path

from . import lists

#: Where Debian 12 keeps libraries of arm64.
LIBRARY_FOLDERS = ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu", "lib", "usr/lib")

SIGNATURE_MARK = b"~Module signature appended~\n"

LOADER = "ld-linux-aarch64.so.1"

#: The package of the modules that are built beside those of the kernel.
OWN_MODULES = "tonearm-kernel-modules"


class Tree:
    """Collects the root in `folder`. `packages` holds a folder of unpacked files for each package."""

    def __init__(self, folder, packages):
        self.folder = folder
        self._packages = packages
        #: Package of each file, by its path in the root: for the list of what takes the room.
        self.owner = {}
        self._libraries = set()

    def make_folders(self):
        for name in ("usr/bin", "usr/lib", "etc", "dev", "proc", "sys", "run", "tmp", "data", "boot", "root", "var"):
            (self.folder / name).mkdir(parents=True)
        for name, target in (("bin", "usr/bin"), ("sbin", "usr/bin"), ("lib", "usr/lib"), ("usr/sbin", "bin"),
                             ("var/run", "../run"), ("etc/resolv.conf", "../run/resolv.conf"),
                             ("var/lib", "../run"), ("media", "run/media")):
            (self.folder / name).symlink_to(target)

    def add_listed(self, list_path):
        for package, name in lists.files_of_packages(list_path):
            self.add_from_package(package, name)

    def add_from_package(self, package, name, target=None):
        """One file or folder of a package, with the libraries that it is linked with."""
        source = self._packages / package / name
        if not source.exists():
            raise FileNotFoundError(f"package {package} has no {name}")
        files = [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.is_file())
        for file in files:
            place = target or str(file.relative_to(self._packages / package))
            if re.match(r"(usr/)?s?bin/", place):
                place = f"usr/bin/{file.name}"
            self.add(place, file, package)
            self._add_libraries(file)

    def add(self, place, source, package):
        """Copies a file to `place`. Its owner and times do not matter, its permissions become the usual ones."""
        place = re.sub(r"^lib/", "usr/lib/", place)
        copy = self.folder / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        copy.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)
        self.owner[place] = package

    def write(self, place, content, package="tonearm"):
        """Writes a file; `content` is text or bytes."""
        copy = self.folder / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content.encode() if isinstance(content, str) else content)
        copy.chmod(0o644)
        self.owner[place] = package

    def link(self, place, target):
        (self.folder / place).symlink_to(target)

    def _add_libraries(self, file):
        if file.read_bytes()[:4] != b"\x7fELF":
            return
        dynamic = subprocess.run(["readelf", "--dynamic", file], capture_output=True, text=True, check=True).stdout
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
            if name in self._libraries:
                continue
            self._libraries.add(name)
            package, library = self._find_library(name, file)
            self.add(f"usr/lib/{name}", library, package)
            if name == LOADER:
                (self.folder / "usr/lib" / name).chmod(0o755)
            self._add_libraries(library)

    def _find_library(self, name, user):
        for package in sorted(self._packages.iterdir()):
            for folder in LIBRARY_FOLDERS:
                path = package / folder / name
                if path.is_file():
                    return package.name, path.resolve()
        raise FileNotFoundError(f"{user.name} needs {name}: add its package to firmware-image/packages.list")


class Modules:
    """The modules of a kernel package, and those that were built beside it."""

    def __init__(self, package, extra):
        self.version = next((package / "lib/modules").iterdir()).name
        self._folder = package / "lib/modules" / self.version
        (self._folder / "extra").mkdir(exist_ok=True)
        for module in sorted(extra.glob("*.ko")) if extra else []:
            shutil.copyfile(module, self._folder / "extra" / module.name)
        subprocess.run(["/sbin/depmod", "-b", package, self.version], check=True)
        self._needs = {}
        for line in (self._folder / "modules.dep").read_text().splitlines():
            path, _, needed = line.partition(":")
            self._needs[path] = needed.split()
        self._path_of = {_module_name(path): path for path in self._needs}
        self._builtin = {_module_name(path) for path in (self._folder / "modules.builtin").read_text().split()}
        self._soft = {}
        for line in (self._folder / "modules.softdep").read_text().splitlines():
            words = line.split()
            if words[:1] == ["softdep"]:
                self._soft[words[1].replace("-", "_")] = [word for word in words[2:] if not word.endswith(":")]

    def in_order(self, names):
        """The paths of these modules and of those that they need, each behind what it needs."""
        chosen = []

        def choose(name):
            name = name.replace("-", "_")
            if name in self._builtin:
                return
            if name not in self._path_of:
                raise FileNotFoundError(f"kernel {self.version} has no module {name}")
            path = self._path_of[name]
            # modules.dep lists the nearest first.
            for needed in (*reversed(self._needs[path]), path):
                if needed not in chosen:
                    chosen.append(needed)
                    for soft in self._soft.get(_module_name(needed), []):
                        if soft.replace("-", "_") in self._path_of:
                            choose(soft)

        for name in names:
            choose(name)
        return chosen

    def content(self, path):
        """A module as the kernel loads it, without the package's compression and without its signature: the kernel does
        not insist on it, checking it takes most of the time of loading, and the slot as a whole is signed."""
        data = (self._folder / path).read_bytes()
        if path.endswith(".xz"):
            data = lzma.decompress(data)
        if not data.endswith(SIGNATURE_MARK):
            return data
        # Linux, include/linux/module_signature.h: the last 4 of 12 bytes are the signature's length.
        end = len(data) - len(SIGNATURE_MARK)
        return data[:end - 12 - int.from_bytes(data[end - 4:end], "big")]

    def add_to(self, tree, names, package):
        """Copies modules with their indexes. `modules.builtin` says what is not to be looked for."""
        target = f"usr/lib/modules/{self.version}"
        for path in self.in_order(names):
            place = f"{target}/{path.removesuffix('.xz')}"
            copy = tree.folder / place
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(self.content(path))
            copy.chmod(0o644)
            tree.owner[place] = OWN_MODULES if path.startswith("extra/") else package
        for name in ("modules.builtin", "modules.order", "modules.builtin.modinfo"):
            if (self._folder / name).exists():
                tree.add(f"{target}/{name}", self._folder / name, package)
        subprocess.run(["/sbin/depmod", "-b", tree.folder, self.version], check=True)
        for index in (tree.folder / target).glob("modules.*"):
            # BusyBox reads the texts; the rest is for kmod.
            if index.suffix == ".bin" or index.name in ("modules.order", "modules.builtin.modinfo", "modules.devname"):
                index.unlink()
                tree.owner.pop(f"{target}/{index.name}", None)
            else:
                tree.owner[f"{target}/{index.name}"] = package


def _module_name(path):
    return re.sub(r"\.ko(\.xz)?$", "", Path(path).name).replace("-", "_")
