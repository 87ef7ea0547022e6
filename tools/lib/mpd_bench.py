"""The rows of tools/bench about MPD's protocol: long answers of the daemon, beside MPD 0.23 with the same folder.

They need the engine for x86_64, and Debian's `mpd`.
"""

import os
import socket
import statistics
import subprocess
import time

import library_bench
from streaming_bench import row

MPD = "/usr/bin/mpd"
ENTRIES = 10_000
#: In seconds, for a scan of all files, and for anything else that is waited for.
SCAN_LIMIT, LIMIT = 600, 60
#: Name of the row, command, number of songs in its answer, and the bound, in times of MPD's own time. The queue has
#: 10,000 entries, and the library 100,000 songs.
QUESTIONS = [
    ("mpd-playlistinfo", "playlistinfo", ENTRIES, 1.5),
    ("mpd-listallinfo", "listallinfo", library_bench.FILES, 1.2),
    ("mpd-search-one", 'search any "077777"', 1, 1.0),
    ("mpd-search-all", 'search any "the"', library_bench.FILES, 1.2),
]


def measure(root, folder, pairs):
    """All rows, as `row` makes them. `folder` has the files of library_bench, or gets them."""
    music = f"{folder}/library/0"
    if not os.path.exists(music):
        library_bench.make_files(f"{folder}/library", folder)
    folder = f"{folder}/mpd"
    os.mkdir(folder)
    with Tonearm(root, folder, music) as ours, Peer(folder, music) as theirs:
        for server in (ours, theirs):
            # Ten folders of a thousand songs.
            for number in range(ENTRIES // 1000):
                server.ask(f'add "{number:03}"')
        return [compare(*question, ours, theirs, pairs) for question in QUESTIONS]


def compare(name, command, songs, bound, ours, theirs, pairs):
    """The time of an answer until it is read to its end, as a ratio to MPD's."""
    for server in (ours, theirs):
        # This warms the caches, too.
        found = (b"\n" + server.ask(command)).count(b"\nfile: ")
        assert found == songs, f"{server.name}: {command}: {found} songs"
    times = [(ours.time(command), theirs.time(command)) for _ in range(pairs)]
    (mine, mine_busy), (other, other_busy) = (
        [statistics.median(values) for values in zip(*side)] for side in zip(*times))
    ratio = mine / other
    text = (f"{ratio:.2f} x mpd {theirs.version}: {mine * 1000:.1f}, {other * 1000:.1f} ms "
            f"(busy {mine_busy * 1000:.1f}, {other_busy * 1000:.1f} ms)")
    return row(name, ratio, text, f"<= {bound}", ratio <= bound)


class Server:
    """A server of the protocol in a process, and a client of it."""

    def __init__(self, command, path):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        self.buffer = bytearray(1 << 20)
        self.socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                self.socket.connect(path)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                assert self.process.poll() is None, f"{self.name} does not start"
                assert time.monotonic() < deadline, f"{self.name} accepts no connection"
                time.sleep(0.01)
        self.socket.settimeout(LIMIT)
        greeting = self.socket.recv(100)
        assert greeting.startswith(b"OK MPD "), greeting

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.wait(LIMIT)

    def ask(self, command):
        """The bytes of an answer, which is no failure."""
        answer = bytearray()
        self.send(command, answer)
        return bytes(answer)

    def send(self, command, answer=None):
        """Reads an answer to its end, into `answer` or nowhere."""
        self.socket.sendall(f"{command}\n".encode())
        view, end = memoryview(self.buffer), b""
        while True:
            count = self.socket.recv_into(view)
            assert count, f"{self.name} closed the connection during {command}"
            if answer is not None:
                answer += view[:count]
            end = (end + view[max(0, count - 200):count].tobytes())[-200:]
            if end.endswith(b"\nOK\n") or end == b"OK\n":
                return
            last = end.split(b"\n")[-2:]
            assert not (last[0].startswith(b"ACK ") and not last[-1]), f"{self.name}: {command}: {last[0].decode()}"

    def time(self, command):
        """Seconds of a command, and seconds of processors that its server took."""
        began, busy = time.monotonic(), self.processor_time()
        self.send(command)
        return time.monotonic() - began, self.processor_time() - busy

    def processor_time(self):
        nanoseconds = 0
        for task in os.scandir(f"/proc/{self.process.pid}/task"):
            with open(f"{task.path}/schedstat") as file:
                nanoseconds += int(file.read().split()[0])
        return nanoseconds / 1e9

    def wait_for_songs(self):
        deadline = time.monotonic() + SCAN_LIMIT
        wanted = f"songs: {library_bench.FILES}\n".encode()
        while wanted not in self.ask("stats") or b"updating_db" in self.ask("status"):
            assert time.monotonic() < deadline, f"{self.name}: {self.ask('stats').decode()}"
            time.sleep(0.2)


class Tonearm(Server):
    """The daemon of the engine that ships."""

    name = "tonearm"

    def __init__(self, root, folder, music):
        with open(f"{folder}/tonearm.conf", "w") as file:
            file.write(f"[audio]\ndevice = null\nrealtime-priority = 0\n[player]\nstate = {folder}/state\n"
                       f"[control]\nsocket = {folder}/control\nmode = 0600\n[library]\nfolders = {music}\n"
                       f"playlists = {folder}/playlists\n[mpd]\nsocket = {folder}/tonearm.mpd\n")
        super().__init__([f"{root}/build/x86_64/tonearm", "run", "--config", f"{folder}/tonearm.conf"],
                         f"{folder}/tonearm.mpd")
        self.wait_for_songs()


class Peer(Server):
    """MPD, whose answers may be as long as they are."""

    name = "mpd"

    def __init__(self, folder, music):
        state = f"{folder}/peer"
        os.mkdir(state)
        with open(f"{folder}/mpd.conf", "w") as file:
            file.write(f'music_directory "{music}"\ndb_file "{state}/db"\nplaylist_directory "{state}"\n'
                       f'bind_to_address "{state}/socket"\nauto_update "no"\nzeroconf_enabled "no"\n'
                       'max_output_buffer_size "262144"\n'
                       'audio_output {\n    type "null"\n    name "null"\n}\n')
        output = subprocess.run([MPD, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.version = ".".join(output.split()[3].split(".")[:2])
        super().__init__([MPD, "--no-daemon", "--stderr", f"{folder}/mpd.conf"], f"{state}/socket")
        self.ask("update")
        self.wait_for_songs()
