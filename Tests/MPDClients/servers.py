"""The servers that clients of MPD's protocol are tried with: the daemon, and Debian's MPD with the same music.

Environment:
  TONEARM  the program; without it .build/debug/tonearm of the repository
"""

import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from music import draw_cover, ffmpeg, make_music
from speaker import LIMIT, PROGRAM, Listener, free_port

#: In seconds, before something is asked again that no server reports.
PAUSE = 0.02
#: Of the music of Tests/WebPage; the track without tags is one of them.
SONGS = 15
#: A song with a picture inside, and the album that it is from.
PICTURED, ALBUM = "Björk/Vespertine/01.flac", "Björk/Vespertine"


class Refused(Exception):
    """A command was answered with ACK; its text is that line."""


class Server:
    """A server in a process, its music, and the addresses of its socket and its port.

    `host` is the socket, as clients take it from MPD_HOST.
    """

    def __init__(self, music, command, folder):
        self.music, self.folder = music, folder
        with (folder / "log").open("a") as log:
            self.process = subprocess.Popen([*map(str, command)], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait("the server's port", self.is_reachable)

    def is_reachable(self):
        assert self.process.poll() is None, f"{self.name} ended: {self.log()}"
        try:
            with Connection(self.host), Connection(("127.0.0.1", self.port)):
                return True
        except OSError:
            return False

    def stop(self):
        self.process.terminate()
        self.process.wait(LIMIT)

    def log(self):
        return (self.folder / "log").read_text(errors="replace")[-2000:]

    def wait(self, what, is_so):
        """Waits until `is_so()` is true; its value."""
        deadline = time.monotonic() + LIMIT
        while not (value := is_so()):
            assert time.monotonic() < deadline, f"{self.name}: waited {LIMIT} s for {what}: {self.log()}"
            time.sleep(PAUSE)
        return value

    def ask(self, *commands):
        """The lines of the last answer, without `OK`."""
        with Connection(self.host) as connection:
            return [connection.ask(command) for command in commands][-1]

    def status(self):
        return fields(self.ask("status"))

    def wait_for_status(self, **values):
        """Waits until `status` has these fields; all of them."""
        wanted = {key: str(value) for key, value in values.items()}

        def has_them():
            status = self.status()
            return status if wanted.items() <= status.items() else None

        return self.wait(f"{wanted} in status", has_them)

    def reset(self):
        """Stops playback, and removes everything that a test may have left."""
        with Connection(self.host) as connection:
            for command in ("stop", "clear", "clearerror", "repeat 0", "random 0", "single 0", "enableoutput 0",
                            "setvol 50", "replay_gain_mode off"):
                connection.ask(command)
            for line in connection.ask("listplaylists"):
                key, name = line.split(": ", 1)
                if key == "playlist":
                    connection.ask(f"rm {quoted(name)}")


class Tonearm(Server):
    """The daemon, whose sound device plays in real time."""

    name = "tonearm"

    def __init__(self, music, folder, settings=""):
        self.host, self.port = str(folder / "mpd"), free_port()
        os.mkfifo(folder / "sound")
        self._sound = Listener(folder / "sound")
        (folder / "playlists").mkdir()
        (folder / "tonearm.conf").write_text(
            f"[audio]\ndevice = file:FILE={folder}/sound,FORMAT=raw\nnormalization = off\nrealtime-priority = 0\n"
            f"first-volume = 0 dB\n[player]\nstate = {folder}/state\n[control]\nsocket = {folder}/control\n"
            f"mode = 0600\n[library]\nfolders = {music}\nplaylists = {folder}/playlists\n"
            f"[mpd]\nsocket = {self.host}\naddress = 127.0.0.1\nport = {self.port}\n{settings}")
        super().__init__(music, [PROGRAM, "run", "--config", folder / "tonearm.conf"], folder)
        self.wait("the scan of the music", lambda: "updating_db" not in self.status() and self.has_all_songs())

    def has_all_songs(self):
        return fields(self.ask("stats"))["songs"] == str(SONGS)

    def stop(self):
        super().stop()
        self._sound.stop()


class Peer(Server):
    """Debian's MPD. Its output `null` plays in real time."""

    name = "mpd"

    def __init__(self, music, folder):
        self.host, self.port = str(folder / "socket"), free_port()
        (folder / "playlists").mkdir()
        (folder / "mpd.conf").write_text(
            f'music_directory "{music}"\ndb_file "{folder}/db"\nplaylist_directory "{folder}/playlists"\n'
            f'sticker_file "{folder}/stickers"\nstate_file "{folder}/state"\nauto_update "no"\nzeroconf_enabled "no"\n'
            f'bind_to_address "{self.host}"\nbind_to_address "127.0.0.1:{self.port}"\n'
            'audio_output {\n type "null"\n name "null"\n mixer_type "software"\n}\n')
        super().__init__(music, ["/usr/bin/mpd", "--no-daemon", "--stderr", folder / "mpd.conf"], folder)
        self.ask("update")
        self.wait("the update", lambda: "updating_db" not in self.status())


class Both:
    """Both servers with one folder of music, until they are discarded."""

    def __init__(self):
        self._temporary = tempfile.TemporaryDirectory(prefix="tonearm-mpd-")
        folder = Path(self._temporary.name)
        music = folder / "music"
        make_music(music)
        draw_cover(folder / "picture.jpg", "#427b58")
        subprocess.run(["metaflac", f"--import-picture-from={folder}/picture.jpg", music / PICTURED], check=True)
        self.picture = (folder / "picture.jpg").read_bytes()
        # Larger than the answer that a client gets without asking for more.
        ffmpeg("-f", "lavfi", "-i", "nullsrc=size=200x200,geq=random(1)*255:128:128", "-frames:v", "1",
               str(music / ALBUM / "cover.png"))
        (music / ALBUM / "cover.jpg").unlink()
        self.cover = (music / ALBUM / "cover.png").read_bytes()
        for name in ("ours", "theirs"):
            (folder / name).mkdir()
        self.tonearm = Tonearm(music, folder / "ours")
        try:
            self.peer = Peer(music, folder / "theirs")
        except BaseException:
            self.tonearm.stop()
            raise

    def discard(self):
        self.tonearm.stop()
        self.peer.stop()
        self._temporary.cleanup()


class Connection:
    """A client that shares no code with the servers: lines on a socket."""

    def __init__(self, address):
        """- address: the path of a socket, or host and port."""
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self._socket = socket.socket(family)
        self._socket.settimeout(LIMIT)
        try:
            self._socket.connect(address)
            self._lines = self._socket.makefile("rb")
            self.greeting = self.line()
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._lines.close()
        self._socket.close()

    def send(self, *lines):
        self._socket.sendall("".join(f"{line}\n" for line in lines).encode())

    def line(self):
        line = self._lines.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError(f"closed after {line}")
        return line[:-1].decode()

    def answer(self):
        """The lines before `OK`. `binary` is followed by the bytes themselves instead of a line."""
        lines = []
        while (line := self.line()) != "OK":
            if line.startswith("ACK "):
                raise Refused(line)
            lines.append(line)
            if line.startswith("binary: "):
                lines.append(self._lines.read(int(line[8:])))
                assert self._lines.read(1) == b"\n"
        return lines

    def ask(self, command):
        self.send(command)
        return self.answer()


def fields(lines):
    """The fields of an answer in which each is there once."""
    pairs = [line.split(": ", 1) for line in lines]
    result = dict(pairs)
    assert len(result) == len(pairs), lines
    return result


def quoted(text):
    """An argument of a command."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
