"""The rows of tools/bench about tonearm-origin: what a scan of many files costs, and what one long track does."""

import base64
import concurrent.futures
import json
import os
import random
import re
import subprocess
import time
import urllib.request

FILES = 100_000
HOUR = 3600
CLIENTS = 50


def measure(root, folder):
    """All rows, as `streaming_bench.row` makes them."""
    return [*scan(root, folder), *long_track(root, folder)]


def row(name, value, text, bound_text, holds):
    return {"name": name, "value": value, "text": text, "bound": bound_text, "holds": holds}


class Origin:
    """A `tonearm-origin` that has scanned its folder."""

    def __init__(self, root, music, state):
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [f"{root}/.build/release/tonearm-origin", "serve", music, "--port", "0", "--state", state],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.line("serving ").split()[-1]
        self.line(" new or changed")
        self.scanned = time.monotonic() - self.began

    def line(self, part):
        for line in self.process.stdout:
            if part in line:
                return line
        raise SystemExit("tools/bench: tonearm-origin has ended")

    def memory(self):
        """The most resident memory so far, in MB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) / 1000

    def end(self):
        self.process.terminate()
        self.process.wait()


def encode(samples, path, *options):
    subprocess.run(
        ["flac", "-s", "-f", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2", "--bps=16",
         "--sample-rate=44100", *options, "-o", path, "-"], input=samples, check=True)


def scan(root, folder):
    """Many files of one album, and as many again in albums of ten: their number is all that may matter."""
    rates = []
    for kind in ("one-album", "albums"):
        music = f"{folder}/scan-{kind}"
        os.mkdir(music)
        encode(random.Random(3).randbytes(4000), f"{folder}/tiny.flac", "--tag=ALBUM=0000000000", "--tag=ALBUMARTIST=A")
        with open(f"{folder}/tiny.flac", "rb") as file:
            tiny = file.read()
        for number in range(FILES):
            album = f"{number // 10 if kind == 'albums' else 1:010}".encode()
            part = f"{music}/{number // 1000:03}"
            if number % 1000 == 0:
                os.mkdir(part)
            with open(f"{part}/{number:06}.flac", "wb") as file:
                file.write(tiny.replace(b"0000000000", album))
        origin = Origin(root, music, f"{folder}/scan-{kind}-state")
        rates.append((kind, FILES / origin.scanned))
        origin.end()
    ratio = rates[0][1] / rates[1][1]
    text = ", ".join(f"{kind} {rate:.0f} files/s" for kind, rate in rates)
    return [row("origin-scan", ratio, f"{FILES} files: {text}", "ratio ≥ 0.5", ratio >= 0.5)]


def get(address):
    with urllib.request.urlopen(address) as answer:
        return answer.read()


def long_track(root, folder):
    """An hour in quality HIGH: the first manifest, its first segment, and many clients at once."""
    music = f"{folder}/hour"
    os.mkdir(music)
    encode(random.Random(4).randbytes(44100 * 4 * 10) * (HOUR // 10), f"{music}/1.flac")
    origin = Origin(root, music, f"{folder}/hour-state")
    began = time.monotonic()
    info = json.loads(get(f"{origin.address}/v1/tracks/1/playbackinfo?audioquality=HIGH&manifest=dash"))
    first = time.monotonic() - began
    media = re.search(r' media="([^"]+)"', base64.b64decode(info["manifest"]).decode())[1]
    get(media.replace("$Number$", "1"))
    segment = time.monotonic() - began
    get(media.replace("$Number$", str(HOUR // 4 - 10)))
    all_of_it = time.monotonic() - began
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
        numbers = (str(number % (HOUR // 4 - 10) + 1) for number in range(CLIENTS * 8))
        for _ in clients.map(lambda number: get(media.replace("$Number$", number)), numbers):
            pass
    memory = origin.memory()
    origin.end()
    return [
        row("origin-first-segment", segment, f"manifest {first:.1f} s, first segment {segment:.1f} s, "
            f"all {all_of_it:.0f} s", "5 s", segment <= 5),
        row("origin-memory", memory, f"{memory:.0f} MB with {CLIENTS} clients of one track", "200 MB", memory <= 200),
    ]
