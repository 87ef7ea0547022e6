"""The rows of tools/bench about offline copies.

They need build/x86_64, of tools/cross, and the release build of the host."""

import base64
import json
import os
import random
import resource
import statistics
import subprocess
import time
import urllib.request

from streaming_bench import (
    Origin,
    build_bare_download,
    encode,
    highest_mark,
    make_certificate,
    median,
    processor_has_aes,
    row,
)

TRACKS = (1, 2, 3)
SECONDS = 300


def measure(root, folder, pairs):
    """All rows, as `result` makes them."""
    folder = f"{folder}/offline"
    os.mkdir(folder)
    certificate, key = make_certificate(folder)
    music = f"{folder}/music"
    os.mkdir(music)
    for track in TRACKS:
        # Noise of eight bits: FLAC makes about half of it, as of much music.
        samples = bytearray(44100 * 4 * SECONDS)
        samples[::2] = random.Random(track).randbytes(len(samples) // 2)
        encode(bytes(samples), f"{music}/{track}.flac")
    state = f"{folder}/state"
    with Origin(root, music, certificate, key, "--manifest", "bts") as origin:
        results = downloads(root, folder, state, origin, certificate, pairs)
        address = f"https://localhost:{origin.port}"
    # Without the origin.
    results.append(memory(root, state, address, certificate))
    results.append(play_latency(root, state))
    return results


class Daemon:
    """The Embedded engine with a state folder, and commands to it."""

    def __init__(self, root, state, address, certificate):
        self.program, self.socket = f"{root}/build/x86_64/tonearm", f"{state}.socket"
        configuration = f"{state}.conf"
        with open(configuration, "w") as file:
            file.write(f"[audio]\ndevice = null\nrealtime-priority = 0\n[player]\nstate = {state}\n"
                       f"[control]\nsocket = {self.socket}\nmode = 0600\n[service]\nurl = {address}\n"
                       f"[network]\nca-file = {certificate}\n[offline]\nfree-space = 0\n")
        self.process = subprocess.Popen([self.program, "run", "--config", configuration], stdin=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        while not os.path.exists(self.socket):
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, *words):
        subprocess.run([self.program, *words, "--socket", self.socket], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, check=True)

    def play(self, product):
        """To its end."""
        watch = subprocess.Popen([self.program, "status", "--watch", "--json", "--socket", self.socket],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        watch.stdout.readline()
        self.ask("queue", "set", "--play", product)
        states = (json.loads(line).get("state") for line in watch.stdout)
        for state in ("playing", "stopped"):
            next(found for found in states if found == state)
        watch.terminate()
        watch.wait()

    def processor_time(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            words = stat.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


PRODUCTS = [f"tonearm:track/{track}" for track in TRACKS]


def downloads(root, folder, state, origin, certificate, pairs):
    """An album, all tracks at once: downloaded, sealed, synced and checked."""
    bare = build_bare_download(root, folder)
    ours, theirs = [], []
    with Daemon(root, state, f"https://localhost:{origin.port}", certificate) as daemon:
        for _ in range(pairs + 1):
            ours.append(keep(daemon))
            theirs.append(reference(bare, folder, origin, certificate))
            daemon.ask("offline", "remove", "--all")
        keep(daemon)
    ours, theirs = ours[1:], theirs[1:]  # the first pair warms the caches
    speed = median(theirs, 0) / median(ours, 0)
    processor = median(ours, 1) / median(theirs, 1)
    text = "of libcurl, AES-GCM, fsync and flac -t"
    return [
        row("offline-downloads", speed, f"{speed:.2f} x the throughput {text}", ">= 0.9", speed >= 0.9),
        row("offline-downloads-cpu", processor, f"{processor:.2f} x the processor time {text}", "<= 1.2",
            processor <= 1.2),
    ]


def keep(daemon):
    """Seconds, and seconds of processors."""
    began, used = time.monotonic(), daemon.processor_time()
    daemon.ask("offline", "add", *PRODUCTS)
    # It ends with the last download.
    daemon.ask("offline", "status", "--watch")
    return time.monotonic() - began, daemon.processor_time() - used


def reference(bare, folder, origin, certificate):
    """The same by programs of libraries alone: each track is downloaded, sealed and synced, then decoded and compared
    with its MD5."""
    environment = dict(os.environ)
    if processor_has_aes():
        environment["BARE_DOWNLOAD_AES"] = "1"
    addresses = [address_of(origin, track) for track in TRACKS]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    running = [
        subprocess.Popen(
            ["sh", "-c", '"$0" synced "$1" "$2" "$3" && flac -s -t "$4"', bare, address, certificate,
             f"{folder}/{track}.sealed", f"{folder}/music/{track}.flac"],
            stdout=subprocess.DEVNULL, env=environment)
        for track, address in zip(TRACKS, addresses)]
    codes = [process.wait() for process in running]
    assert not any(codes), codes
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (time.monotonic() - began,
            after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def address_of(origin, track):
    """Where the file of a track is, as the service says."""
    import ssl

    context = ssl._create_unverified_context()
    url = (f"https://localhost:{origin.port}/v1/tracks/{track}/playbackinfo"
           "?audioquality=LOSSLESS&playbackmode=OFFLINE&assetpresentation=FULL&manifest=bts")
    with urllib.request.urlopen(url, context=context) as answer:
        info = json.load(answer)
    return json.loads(base64.b64decode(info["manifest"]))["urls"][0]


def memory(root, state, address, certificate):
    with Daemon(root, state, address, certificate) as daemon:
        daemon.play(PRODUCTS[0])
        peak = highest_mark(daemon.process.pid)
    return row("offline-memory", peak, f"{peak / 1e6:.1f} MB", "<= 7 MB", peak <= 7e6)


def play_latency(root, state):
    answer = subprocess.run([f"{root}/.build/release/Meter", "start", PRODUCTS[0], "30", state],
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    times = [float(line) for line in answer.split()]
    text = f"{statistics.median(times):.1f} ms, at most {max(times):.1f}"
    return row("offline-play-latency", max(times), text, "<= 60 ms", max(times) <= 60)
