"""The virtual board, as it would be on a table: a plug, buttons, a USB socket, a network cable, a console."""

import contextlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from . import qemu
from .agent import Agent, script_of
from .cpio import Archive
from .host import run
from .qemu import PATIENCE, BoardOff, Deadline, Monitor, Pins

IMAGE = Path(__file__).parents[3] / "build/board"

#: The size in bytes of the header that QEMU writes.
WAV_HEADER = 44

#: The lines of the GPIO chip, each with a button.
BUTTON_LINES = range(8)


class VirtualBoard:
    """One board and its data disk. It begins switched off; what is under /data survives power cuts.

        with VirtualBoard(programs={"tonearm": path}) as board:
            board.power_on()
            print(board.run("tonearm", "--version").stdout)
            board.power_off()

    Sound cards: `HiFi` is a loop that gives back bit by bit what is played to it (see `sound.Recorder`); a USB sound
    card is there once it is plugged in.
    """

    #: In microseconds, between two looks of `wait_until`.
    _pause = 10_000

    def __init__(self, programs=None, music=None, files=None, disk_megabytes=256):
        """- programs: executables for /usr/bin of the board, by name.
        - music: a folder that the data disk begins with, as /data/music.
        - files: texts that the data disk begins with, by their names under /data.
        """
        self._prepare()
        self._data_disk = self.folder / "data.ext4"
        self._make_root(programs or {})
        self._make_data_disk(music, files or {}, disk_megabytes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.discard()

    def discard(self):
        """Removes the board and its files, once or more (tools/board-test --keep: leaves its folder)."""
        self.cut_power()
        if os.environ.get("TONEARM_BOARD_KEEP"):
            print(f"kept: {self.folder}", file=sys.stderr)
        elif self.folder.exists():
            shutil.rmtree(self.folder)

    # Power

    @property
    def share(self):
        """The folder of this machine that the board, since it was switched on, sees as /host."""
        return self._boot / "share"

    @property
    def data_disk(self):
        """The image of the data disk, a file of this machine."""
        return self._data_disk

    def power_on(self, network=True, held=(), clock=None, counts=False, translations=None):
        """Starts the board and returns when it can run programs. Only the buttons at the lines `held` are pressed. Its
        clock shows this machine's time, or starts at `clock`, as in `1970-01-01T00:00:00`. With `counts` the clock
        counts instructions, and `translations` are what QEMU writes down (`qemu.start`)."""
        assert self._qemu is None, "the board is on"
        self._clock = clock
        self._counts = counts
        self._translations = translations
        self._boots += 1
        self._boot = self.folder / str(self._boots)
        self.share.mkdir(parents=True)
        self._qemu = self._start_machine()
        try:
            self._monitor = self._connect(Monitor, "qmp")
            self._pins = self._connect(Pins, "qtest", qemu.find_chip(self._monitor))
            for line in BUTTON_LINES:
                self._pins.set(line, line not in held)
            if not network:
                self.pull_cable()
            self.wait_for_agent()
        except (BoardOff, TimeoutError) as problem:
            # The time limit's message ends with them.
            words = "" if isinstance(problem, TimeoutError) else self.last_words()
            raise type(problem)(f"{problem}\n{words}") from None

    def wait_for_agent(self):
        """Waits until the board can run programs."""
        # It listens for as long as the board is on.
        self._agent = self._connect(Agent, "agent", self.share, self.fair_clock, self.last_words, seconds=None)
        self._agent.wait_until_ready()

    def power_off(self):
        """Turns the board off as an init system does: programs are asked to end, the disk is unmounted."""
        self._agent.start("exec power-down")
        self.wait_until_off()

    def wait_until_off(self):
        """Waits until the board has turned itself off."""
        deadline = self.deadline()
        while self._qemu.poll() is None:
            if deadline.has_passed:
                raise TimeoutError(f"the board has not turned itself off in {deadline.seconds} s\n{self.last_words()}")
            time.sleep(0.01)
        self._forget()

    def cut_power(self):
        """Pulls the plug: data that the board's kernel has not yet written to its disk is lost."""
        if self._qemu is not None:
            self._qemu.kill()
            self._qemu.wait(PATIENCE)
            self._forget()

    # The console

    def run(self, *words, seconds=PATIENCE):
        """Runs a program and waits for its end; a `Result`. `TimeoutError` when it takes longer."""
        return self.start(*words).wait(seconds)

    def start(self, *words):
        """Starts a program in the background; a `Program`."""
        return self._agent.start(script_of(words))

    def run_script(self, script, seconds=PATIENCE):
        """As `run`, for the lines of a shell script."""
        return self.start_script(script).wait(seconds)

    def start_script(self, script):
        return self._agent.start(script)

    def wait_until(self, condition, seconds=PATIENCE):
        """Waits until a shell command succeeds."""
        self.run_script(f"until {condition}; do usleep {self._pause}; done", seconds)

    def put(self, content, path):
        """Writes a file of the board."""
        (self.share / "file").write_bytes(content)
        self._copy("/host/file", path)

    def fetch(self, path):
        """The content of a file of the board."""
        self._copy(path, "/host/file")
        return (self.share / "file").read_bytes()

    def clock(self):
        """The board's monotonic clock in nanoseconds, which kernel and programs stamp events with."""
        return int(self.run_script("exec sed -n 's/^now at \\(.*\\) nsecs/\\1/p;3q' /proc/timer_list").stdout)

    def fair_clock(self):
        """Seconds on a clock that stands still while the emulator waits for a processor of this machine: by it, limits
        of time hold on a machine that is busy with something else too."""
        return time.monotonic() - self.waiting()

    def deadline(self, seconds=PATIENCE):
        """A limit of time by the fair clock."""
        return Deadline(seconds, self.fair_clock)

    def last_words(self):
        """The end of what emulator, kernel and daemon have written, for the message of a failure."""
        words = []
        for name in ("qemu.log", "console.log", "share/service"):
            path = self._boot / name
            if path.exists() and (text := path.read_text(errors="replace")[-2000:]):
                words.append(f"The end of {path.name}:\n{text}")
        return "\n".join(words)

    def waiting(self):
        """For how many seconds the emulator has waited for a processor of this machine since it was switched on: by so
        much the board's own clock may run ahead of what the board could do."""
        # Of its threads, most of them idle, the one that waited longest held the board up.
        return max(self.waits().values(), default=0)

    def waits(self):
        """For how many seconds each of the emulator's threads has waited for a processor; empty while it is off."""
        waits, qemu = {}, self._qemu
        if qemu is not None:
            for thread in Path(f"/proc/{qemu.pid}/task").glob("*/schedstat"):
                # A thread may end at any moment.
                with contextlib.suppress(OSError, IndexError):
                    waits[thread.parent.name] = int(thread.read_text().split()[1]) / 1e9
        return waits

    # Buttons

    def set_line(self, line, level):
        """Sets an input of the GPIO chip: a button connects it to ground (False) or releases it (True)."""
        self._pins.set(line, level)

    def line(self, line):
        """Whether the board drives a line of the GPIO chip high."""
        return self._pins.get(line)

    def press(self, line, seconds=0.1, bounces=0):
        """Presses a button and releases it."""
        with self.holding(line, bounces):
            time.sleep(seconds)

    @contextlib.contextmanager
    def holding(self, line, bounces=0):
        """Holds a button, releases it and leaves it alone for a moment, so that the next press is one. Its contact
        opens and closes again `bounces` times, in about 1 ms each, before it stays closed; of edges so close together
        the kernel may see only some, as on every board."""
        for _ in range(bounces):
            self._pins.set(line, False)
            self._pins.set(line, True)
        self._pins.set(line, False)
        yield
        if self._qemu is not None:
            self._pins.set(line, True)
            time.sleep(0.1)

    # Plugs

    def plug_sound_card(self):
        """Plugs in the USB sound card: 48 kHz, 16 bit, two channels, with a volume control."""
        self._waiting_at_plug = self.waiting()
        self._monitor.execute("device_add", driver="usb-audio", id="dac", bus="usb.0", audiodev="speaker")

    def unplug_sound_card(self):
        """Pulls the USB sound card out. What it played since it was plugged in, as interleaved samples of 16 bit."""
        self._monitor.execute("device_del", id="dac")
        self._monitor.wait_for("DEVICE_DELETED", device="dac")
        self.waited_while_plugged = self.waiting() - self._waiting_at_plug
        return (self._boot / "speaker.wav").read_bytes()[WAV_HEADER:]

    def plug_stick(self, name, image):
        """Plugs in a USB stick with the content of the file `image`."""
        self._monitor.execute("blockdev-add", driver="raw", file={"driver": "file", "filename": str(image)},
                              **{"node-name": name})
        self._monitor.execute("device_add", driver="usb-storage", id=name, drive=name, bus="usb.0")

    def unplug_stick(self, name):
        self._monitor.execute("device_del", id=name)
        self._monitor.wait_for("DEVICE_DELETED", device=name)
        self._monitor.execute("blockdev-del", **{"node-name": name})

    def plug_cable(self):
        """Plugs the Ethernet cable in, as it is when the board starts."""
        self._monitor.execute("set_link", name="ethernet", up=True)

    def pull_cable(self):
        self._monitor.execute("set_link", name="ethernet", up=False)

    def forward(self, port, to):
        """Leads connections to `port` of this machine's loopback to the board's port `to`, as long as it is on."""
        command = f"hostfwd_add network tcp:127.0.0.1:{port}-:{to}"
        # The answer of such a command is a text, with an error in it.
        if problem := self._monitor.execute("human-monitor-command", **{"command-line": command}):
            raise OSError(problem.strip())

    # Inside

    def _prepare(self):
        # A socket's path must be short: not below the repository.
        self.folder = Path(tempfile.mkdtemp(prefix="board-"))
        #: One folder for each time the board is on: `1`, `2` ...
        self._boot = None
        self._boots = 0
        self._qemu = None
        self._pins = None
        self._counts = False
        #: For how many seconds the emulator waited for a processor while the USB sound card was last plugged in.
        self.waited_while_plugged = 0
        self._connections = contextlib.ExitStack()

    def _start_machine(self):
        return qemu.start(self._boot, IMAGE / "kernel", self.folder / "root.cpio", self._data_disk, self._clock,
                          self._counts, self._translations)

    def _make_root(self, programs):
        """The root, and behind it an archive with the programs: the kernel unpacks both."""
        archive = Archive()
        for name, path in programs.items():
            archive.add_file(f"usr/bin/{name}", Path(path).read_bytes(), executable=True)
        (self.folder / "root.cpio").write_bytes((IMAGE / "root.cpio").read_bytes() + archive.data)

    def _make_data_disk(self, music, files, megabytes):
        content = self.folder / "content"
        content.mkdir()
        if music is not None:
            shutil.copytree(music, content / "music")
        for name, text in files.items():
            (content / name).write_text(text)
        run(["/sbin/mke2fs", "-q", "-t", "ext4", "-d", content, self._data_disk, f"{megabytes}M"],
            check=True, capture_output=True)
        shutil.rmtree(content)

    def _copy(self, source, target):
        result = self.run("cp", source, target)
        if result.exit_code != 0:
            raise OSError(result.stderr.strip())

    def _connect(self, kind, name, *arguments, seconds=PATIENCE):
        connection = kind(qemu.connect(self._boot / name, self._qemu, seconds), *arguments)
        return self._connections.enter_context(contextlib.closing(connection))

    def _forget(self):
        self._qemu = None
        self._pins = None
        self._connections.close()
