"""The emulator as a process, and the two sockets that it is handled through."""

import atexit
import contextlib
import json
import shutil
import socket
import subprocess
import time

#: The machine, whose device tree QEMU makes.
MACHINE = ("-M", "virt,acpi=off", "-cpu", "cortex-a72", "-m", "512")

#: In seconds: how long anything may take that takes a moment on a machine that has nothing else to do.
PATIENCE = 90


class Deadline:
    """When to give up waiting. `clock` may stand still while the emulator waits for a processor
    (`VirtualBoard.fair_clock`), but not for ever."""

    def __init__(self, seconds=PATIENCE, clock=time.monotonic):
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds
        self._last = time.monotonic() + 3 * seconds

    @property
    def has_passed(self):
        return self._clock() > self._end or time.monotonic() > self._last


class BoardOff(Exception):
    """The board was used while it was off, or it went off while something was expected of it."""


def connect(path, process, seconds=PATIENCE):
    """A connection to a socket that `process` is about to make, as a file for both directions. Reading from it may take
    so many seconds; None is for ever."""
    deadline = Deadline()
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
            connection.settimeout(seconds)
            with connection:
                return connection.makefile("rwb")
        except OSError:
            connection.close()
            if process.poll() is not None or deadline.has_passed:
                raise BoardOff(f"the emulator did not make {path.name}") from None
            time.sleep(0.005)


def read_line(stream, what):
    """A line from the emulator; `what` is for the error's message."""
    try:
        return stream.readline()
    except TimeoutError:
        raise TimeoutError(f"{what} did not come from the emulator in {PATIENCE} s") from None


def close(stream):
    """Closes a stream to an emulator that may be gone, so that what is still buffered has nowhere to go."""
    with contextlib.suppress(OSError):
        stream.close()


class Monitor:
    """QMP: what is plugged into the machine. Errors are `MonitorError`s with QEMU's own words."""

    def __init__(self, stream):
        self._stream = stream
        self._events = []
        self._read()
        self.execute("qmp_capabilities")

    def execute(self, command, **arguments):
        self._stream.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        self._stream.flush()
        while True:
            answer = self._read(f"the answer to {command}")
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise MonitorError(f"{command}: {answer['error']['desc']}")
            self._events.append(answer)

    def close(self):
        close(self._stream)

    def wait_for(self, event, **data):
        """Waits for an event whose data contain `data`."""
        while True:
            for known in self._events:
                if known.get("event") == event and data.items() <= known.get("data", {}).items():
                    self._events.remove(known)
                    return
            self._events.append(self._read(f"{event} {data}"))

    def _read(self, what="the monitor's answer"):
        line = read_line(self._stream, what)
        if not line:
            raise BoardOff("the emulator has ended")
        return json.loads(line)


class MonitorError(Exception):
    pass


class QTest:
    """QEMU's qtest socket. One call takes about half a millisecond."""

    def __init__(self, stream):
        self._stream = stream

    def read(self, address):
        """A register of 32 bits of the machine."""
        return int(self._ask(f"readl {address:#x}")[1], 16)

    def close(self):
        close(self._stream)

    def _ask(self, command):
        self._stream.write(f"{command}\n".encode())
        self._stream.flush()
        answer = read_line(self._stream, f"the answer to {command}").split()
        if answer[:1] != [b"OK"]:
            raise BoardOff(f"qtest answered {answer!r}")
        return answer


class Pins(QTest):
    """The lines of the board's GPIO chip."""

    #: Of the PL061: the levels of all lines (Arm DDI 0190B, 3.3.2: bits 9 to 2 of the address select lines), and which
    #: of them are outputs.
    _DATA, _DIRECTION = 0x0903_03fc, 0x0903_0400

    def __init__(self, stream, chip):
        """`chip` is the chip's path in QEMU's tree of objects."""
        super().__init__(stream)
        self._chip = chip

    def set(self, line, level):
        """An input's level."""
        self._ask(f"set_irq_in {self._chip} unnamed-gpio-in {line} {int(level)}")

    def get(self, line):
        """Whether the board drives a line high."""
        return bool((self.read(self._DIRECTION) & self.read(self._DATA)) >> line & 1)


def find_chip(monitor):
    """The path of the PL061, the GPIO chip of QEMU's `virt` machine."""
    for entry in monitor.execute("qom-list", path="/machine/unattached"):
        if entry["type"] == "child<pl061>":
            return f"/machine/unattached/{entry['name']}"
    raise LookupError("the machine has no PL061")


def start(folder, kernel, root, data_disk, clock=None, counts=False, translations=None):
    """Starts QEMU with a kernel and its root; the guest sees `data_disk`, a raw image, as its first disk. Its clock
    starts at `clock`. `translations` are a file, an address and a size: each block of instructions there is written
    down when it is translated, which is when it runs first. See `_start` for the rest."""
    words = ["-kernel", kernel, "-initrd", root, "-append", "console=ttyAMA0 loglevel=4 panic=-1"]
    if clock:
        words += ["-rtc", f"base={clock}"]
    if translations:
        log, address, size = translations
        words += ["-d", "in_asm", "-D", log, "-dfilter", f"{address:#x}+{size:#x}"]
    return _start(folder, data_disk, words, counts)


def start_image(folder, boot_loader, flash, disk, counts=False, tree=None):
    """Starts QEMU with a firmware image: U-Boot, the flash chip with its environment, and the image as the disk; with a
    watchdog, whose restart ends QEMU as any other does. `tree` is a file in place of QEMU's own device tree. See
    `_start` for the rest."""
    flash_drive = f"if=pflash,unit=1,format=raw,file={flash},readonly=on"
    words = ["-dtb", tree] if tree else []
    return _start(folder, disk, ["-bios", boot_loader, "-drive", flash_drive, "-device", "i6300esb", *words], counts)


def _start(folder, disk, boot, counts):
    """QEMU's sockets are `agent`, `qmp` and `qtest` in `folder`, the guest's console is `console.log`, what a USB sound
    card plays `speaker.wav`; the guest sees `share` there. With `counts` its clock counts instructions, one in 2 ns,
    which is about the speed on a quiet machine: what the guest measures then depends on the number of instructions
    alone. An idle guest skips to its next timer; with `counts="waits"` it waits for it, so that its timers do not run
    ahead of a medium."""
    program = shutil.which("qemu-system-aarch64")
    if program is None:
        raise FileNotFoundError("qemu-system-aarch64 is missing: run tools/setup --board")

    def server(name):
        return f"unix:{folder / name},server=on,wait=off"

    sleep = "on" if counts == "waits" else "off"
    processors = ["-smp", "1", "-icount", f"shift=1,sleep={sleep}"] if counts else ["-smp", "2"]
    words = [
        # With a boot loader and ACPI there would be another GPIO chip.
        program, *MACHINE, *processors, "-nodefaults", "-no-reboot",
        "-display", "none", "-serial", f"file:{folder / 'console.log'}",
        "-qmp", server("qmp"), "-qtest", server("qtest"), "-qtest-log", "/dev/null",
        *boot,
        "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={folder / 'agent'},server=on,wait=off",
        "-device", "virtserialport,chardev=agent,name=board.agent",
        "-fsdev", f"local,id=share,path={folder / 'share'},security_model=none",
        "-device", "virtio-9p-pci,fsdev=share,mount_tag=host",
        "-drive", f"file={disk},if=none,id=data,format=raw", "-device", "virtio-blk-pci,drive=data",
        "-netdev", "user,id=network", "-device", "virtio-net-pci,id=ethernet,netdev=network,romfile=",
        "-device", "qemu-xhci,id=usb",
        # One rate for as long as QEMU runs: what is played at another would be resampled.
        "-audiodev", f"wav,id=speaker,path={folder / 'speaker.wav'},out.frequency=48000",
    ]
    with (folder / "qemu.log").open("wb") as log:
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    # If the tests end otherwise than by discarding the board.
    atexit.register(process.kill)
    return process
