"""A real daemon with music and its web server, whose sound device plays in real time.

Environment:
  TONEARM  the program; without it .build/debug/tonearm of the repository
"""

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from music import make_music

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("TONEARM", REPOSITORY / ".build/debug/tonearm")).resolve()
#: In seconds, for everything that is waited for.
LIMIT = 60
#: In seconds, until something is asked again for which the daemon sends no event.
PAUSE = 0.2
#: The bytes of a second of the device: 44,100 frames of two samples of 32 bits.
BYTE_RATE = 44_100 * 2 * 4

CONFIGURATION = """
[audio]
device = {device}
first-volume = 0 dB
normalization = off
realtime-priority = 0
[player]
state = {folder}/state
[control]
socket = {folder}/control
mode = 0600
[board]
power-off = echo off >> {folder}/commands
restart = echo restart >> {folder}/commands
network-restart = echo network >> {folder}/commands
[library]
folders = {folder}/music
playlists = {folder}/playlists
[web]
address = 127.0.0.1
port = {port}
folder = {page}
password-file = {password_file}
{settings}
"""


def make_page(folder):
    """Makes the folder with the page as it is installed."""
    subprocess.run([REPOSITORY / "tools/page", folder], check=True)


class Speaker:
    """The daemon, its music in `folder`, and the address of its page."""

    def __init__(self):
        self._temporary = tempfile.TemporaryDirectory(prefix="tonearm-page-")
        self.folder = Path(self._temporary.name)
        self.music = self.folder / "music"
        self.playlists = self.folder / "playlists"
        self.playlists.mkdir()
        make_music(self.music)
        make_page(self.folder / "page")
        os.mkfifo(self.folder / "sound")
        self._sound = Listener(self.folder / "sound")
        self.daemon = None
        self._port = free_port()
        self.address = f"http://127.0.0.1:{self._port}"
        self.start()
        self.wait("the scan of the music", lambda ask: ask("library-status")["scans"] > 0)

    def start(self, device=None, password=None, settings=""):
        """Starts the daemon, with another sound device, with a password for the page, or with further settings."""
        password_file = self.folder / "password"
        password_file.write_text(f"{password}\n")
        configuration = CONFIGURATION.format(
            folder=self.folder, page=self.folder / "page", port=self._port, settings=settings,
            device=device or f"file:FILE={self.folder}/sound,FORMAT=raw",
            password_file=password_file if password else "none")
        (self.folder / "tonearm.conf").write_text(configuration)
        with (self.folder / "log").open("a") as log:
            self.daemon = subprocess.Popen([PROGRAM, "run", "--config", self.folder / "tonearm.conf"],
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        deadline = time.monotonic() + LIMIT
        # The daemon is ready when both of its servers accept connections, or it ends.
        while not self.is_reachable():
            try:
                self.daemon.wait(0.05)
                raise AssertionError(f"the daemon ended: {self.log()}")
            except subprocess.TimeoutExpired:
                assert time.monotonic() < deadline, f"the daemon accepts no connection: {self.log()}"

    def is_reachable(self):
        try:
            Control(self).close()
            socket.create_connection(("127.0.0.1", self._port), LIMIT).close()
        except OSError:
            return False
        return True

    def stop(self):
        """Ends the daemon."""
        self.daemon.terminate()
        self.daemon.wait(LIMIT)
        self.daemon.stdout.close()

    def restart(self, **changes):
        self.stop()
        self.start(**changes)

    def discard(self):
        self.stop()
        self._sound.stop()
        self._temporary.cleanup()

    def log(self):
        return (self.folder / "log").read_text()[-2000:]

    def ask(self, name, /, **fields):
        """Sends one request and returns its reply, which must not be a refusal."""
        control = Control(self)
        try:
            return control.ask(name, **fields)
        finally:
            control.close()

    def wait(self, what, is_so):
        """Waits until `is_so(ask)` is true. It is asked again at each event of the daemon, and after PAUSE."""
        control, events = Control(self), Control(self)
        try:
            events.ask("subscribe")
            deadline = time.monotonic() + LIMIT
            while not is_so(control.ask):
                assert time.monotonic() < deadline, f"waited {LIMIT} s for {what}: {control.ask('status')}"
                events.wait_for_event()
        finally:
            control.close()
            events.close()

    def wait_for_status(self, what, **members):
        self.wait(what, lambda ask: members.items() <= ask("status").items())

    def reset(self):
        """Stops playback, and removes everything that a test may have left."""
        self.ask("stop")
        self.ask("queue-clear")
        for name in self.names():
            self.ask("playlist-delete", name=name)
        for entry in self.ask("library-list", list="favourites")["entries"]:
            self.ask("favourite", path=entry["path"], on=False)
        for setting in self.ask("config-get")["settings"]:
            if setting["origin"] == "set at run time":
                self.ask("config-unset", key=setting["key"])
        self.ask("volume", percent=50)
        self.ask("mute", on=False)
        self.ask("shuffle", on=False)
        self.ask("repeat", mode="off")

    def names(self):
        return [entry["name"] for entry in self.ask("playlists")["entries"]]

    def fill_queue(self, *folders, play=False):
        """Sets the queue to the music of folders below that of all music. Returns the names of its files."""
        products = [{"path": str(self.music / folder)} for folder in folders]
        self.ask("queue-set", products=products, play=play)
        return self.queue()

    def queue(self):
        return [Path(entry["file"]).name for entry in self.ask("queue")["entries"]]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Control:
    """A connection to the control socket."""

    def __init__(self, speaker):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(LIMIT)
        try:
            self._socket.connect(str(speaker.folder / "control"))
        except OSError:
            self._socket.close()
            raise
        self._lines = self._socket.makefile("rb")

    def close(self):
        self._lines.close()
        self._socket.close()

    def ask(self, name, /, **fields):
        self._socket.sendall(json.dumps({"request": name, **fields}).encode() + b"\n")
        reply = json.loads(self._lines.readline())
        assert reply["ok"], f"{name} {fields}: {reply}"
        return reply

    def wait_for_event(self):
        self._socket.settimeout(PAUSE)
        with contextlib.suppress(TimeoutError):
            self._socket.recv(65_536)


class Listener:
    """Reads the sound from a pipe in real time, as a sound card would. ALSA's device `null` plays at once."""

    def __init__(self, pipe):
        # Also open for writing, so that the pipe stays open without a daemon.
        self._pipe = os.open(pipe, os.O_RDWR)
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        due = time.monotonic()
        while not self._has_ended.is_set():
            read = len(os.read(self._pipe, BYTE_RATE // 20))
            due = max(due, time.monotonic() - 0.1) + read / BYTE_RATE
            self._has_ended.wait(max(0, due - time.monotonic()))

    def stop(self):
        self._has_ended.set()
        os.write(self._pipe, b"\0")
        self._thread.join(LIMIT)
        os.close(self._pipe)
