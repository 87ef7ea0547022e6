"""The row of tools/bench about what the service is owed while it plays: events, and the streaming privileges.

It needs build/x86_64, of tools/cross, and the host's release build. It takes as long as the music that it plays.
"""

import os
import random
import subprocess
import threading
import time

from streaming_bench import Origin, encode, make_certificate, row

TRACKS = (1, 2, 3)
SECONDS = 180
BYTES_PER_SECOND = 44100 * 4

# Wake-ups of a processor that are at most so long apart count as one, in seconds: a request and its answer on this
# machine take less.
MOMENT = 0.1
LOOK = 0.02


def measure(root, folder):
    """One row, as `result` makes it: two daemons play the same products beside each other. One sends events and holds
    the privileges; the other one's events are turned off, and its service has no privileges."""
    folder = f"{folder}/events"
    os.mkdir(folder)
    certificate, key = make_certificate(folder)
    faults = f"{folder}/faults"
    with open(faults, "w") as file:
        file.write("[fault none]\npath = /v1/rt/*\nstatus = 404\n")
    origins = []
    for name, options in (("owed", []), ("free", ["--faults", faults])):
        music = f"{folder}/{name}"
        os.mkdir(music)
        for track in TRACKS:
            # Noise of eight bits: FLAC makes about half of it, as of much music.
            samples = bytearray(BYTES_PER_SECOND * SECONDS)
            samples[::2] = random.Random(track).randbytes(len(samples) // 2)
            encode(bytes(samples), f"{music}/{track}.flac")
        origins.append(Origin(root, music, certificate, key, "--manifest", "bts", *options))
    with origins[0] as owed, origins[1] as free:
        listeners = [Listener(root, f"{folder}/listener-owed", owed, certificate, "yes"),
                     Listener(root, f"{folder}/listener-free", free, certificate, "no")]
        for listener in listeners:
            listener.play()
        seconds = SECONDS * len(TRACKS)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for listener in listeners:
                listener.look()
            time.sleep(LOOK)
        wake_ups = [listener.moments for listener in listeners]
        for listener in listeners:
            listener.stop()
    more = (wake_ups[0] - wake_ups[1]) * 30 / seconds
    return [row("events-wake-ups", more, f"{more:.2f} more wake-ups in 30 s while it streams, with events and "
                f"privileges than without ({wake_ups[0]} and {wake_ups[1]} in {seconds} s)", "<= 1", more <= 1)]


class Listener:
    """The Embedded engine, whose sound is taken at the pace of the music."""

    def __init__(self, root, folder, origin, certificate, events):
        os.mkdir(folder)
        self.program, self.socket, self.pipe = f"{root}/build/x86_64/tonearm", f"{folder}/socket", f"{folder}/pipe"
        os.mkfifo(self.pipe)
        with open(f"{folder}/conf", "w") as file:
            file.write(f"[audio]\ndevice = file:FILE={self.pipe},FORMAT=raw\nrealtime-priority = 0\n"
                       f"[player]\nstate = {folder}/state\n[control]\nsocket = {self.socket}\nmode = 0600\n"
                       f"[service]\nurl = https://localhost:{origin.port}\n[network]\nca-file = {certificate}\n"
                       f"[events]\nplay-log = {events}\nstatistics = {events}\n")
        self.switches, self.last, self.moments = {}, 0, 0
        threading.Thread(target=self.listen, daemon=True).start()
        self.process = subprocess.Popen([self.program, "run", "--config", f"{folder}/conf"], stdin=subprocess.DEVNULL)
        while not os.path.exists(self.socket):
            time.sleep(0.01)

    def play(self):
        subprocess.run([self.program, "queue", "set", "--play", *[f"tonearm:track/{track}" for track in TRACKS],
                        "--socket", self.socket], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def listen(self):
        with open(self.pipe, "rb", buffering=0) as reader:
            began, taken = None, 0
            while samples := reader.read(BYTES_PER_SECOND // 10):
                began, taken = began or time.monotonic(), taken + len(samples)
                time.sleep(max(0, began + taken / BYTES_PER_SECOND - time.monotonic()))

    def look(self):
        """Counts the moments at which threads woke up that neither make nor decode sound. Control looks at the position
        several times a second anyway."""
        switches = {}
        for task in os.scandir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"{task.path}/status") as status:
                    lines = status.read().split("\n")
            except FileNotFoundError:
                continue
            if lines[0].split("\t")[1] not in ("audio", "decoder", "control"):
                switches[task.name] = next(line for line in lines if line.startswith("voluntary"))
        if switches != self.switches:
            now = time.monotonic()
            if now - self.last > MOMENT:
                self.moments += 1
            self.switches, self.last = switches, now
