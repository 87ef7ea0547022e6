"""Archives that the kernel unpacks as its first root: the "new ASCII" format of cpio, written without being root."""

import stat


class Archive:
    """Collects files; `data` is the archive. Folders above a file are made as they are needed."""

    def __init__(self):
        self._parts = []
        self._paths = {""}

    def add_file(self, path, content, executable=False):
        self._add(path, stat.S_IFREG | (0o755 if executable else 0o644), content)

    def add_link(self, path, target):
        self._add(path, stat.S_IFLNK | 0o777, target.encode())

    def add_character_device(self, path, major, minor):
        self._add(path, stat.S_IFCHR | 0o600, b"", (major, minor))

    @property
    def data(self):
        # The kernel wants each archive of several to begin at a multiple of 4.
        return b"".join(self._parts) + _entry("TRAILER!!!", 0, b"", (0, 0), 0)

    def _add(self, path, mode, content, device=(0, 0)):
        path = path.strip("/")
        parent = path.rpartition("/")[0]
        if parent not in self._paths:
            self._add(parent, stat.S_IFDIR | 0o755, b"")
        self._paths.add(path)
        self._parts.append(_entry(path, mode, content, device, len(self._parts) + 1))


def _entry(path, mode, content, device, inode):
    name = path.encode() + b"\0"
    # inode, mode, uid, gid, links, mtime, size, device of the file system, device of the file, length of name, checksum
    fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(header + name) + _padded(content)


def _padded(data):
    return data + bytes(-len(data) % 4)
