"""The rows of tools/bench about playing, and about what else needs no network."""

import math
import os
import re
import statistics
import subprocess
import sys
import time

import library_bench
import mpd_bench
from bench_music import encode_aac, encode_mp3, encode_ogg, high_resolution, make_album


def measure(root, folder, host, embedded, pairs, minutes):
    """All rows, as `result` makes them, for the host's build and the Embedded one."""
    results = []
    album, movements, signal = make_album(folder, minutes)
    flac = ["flac", "-s", "-d", "-c"]
    bare = [build_bare_decoder(root, folder)]
    loudness = ["--normalize", "album", "--format", "S16_LE"]
    for suffix, binary in (("", host), ("-embedded", embedded)):
        results.append(cpu(f"cpu{suffix}", play(binary, album), [*flac, *album], "flac -d -c", pairs, 0.9))
        normalized = play(binary, album, *loudness)
        results.append(cpu(f"cpu-loudness{suffix}", normalized, [*flac, *album], "flac -d -c", pairs, 1.0))
        results.append(
            cpu(f"cpu-bare{suffix}", normalized, [*bare, *album], "libFLAC alone", pairs, 1.15, one_processor()))
    results.append(memory("memory", embedded, album, folder, 10))
    results += codecs(folder, embedded, album, pairs)
    for name, rate, limit in (("memory-192", 192_000, 10), ("memory-384", 384_000, 12)):
        results.append(memory(name, embedded, high_resolution(folder, rate), folder, limit))
    results.append(play_latency(root, album[0]))
    results.append(start_latency(host, album[0], folder))
    results.append(queue_operations(root))
    results += events(root, folder)
    results += library_bench.measure(root, folder)
    results += mpd_bench.measure(root, folder, pairs)
    results.append(client_line(root, host, folder))
    results += offline_library(root, folder)
    results.append(size(root))
    results.append(boundaries(embedded, movements, signal, folder))
    results.append(daemon_against_aplay(root))
    return results


def codecs(folder, binary, album, pairs):
    """The lossy codecs and the conversion of rates."""
    processor = one_processor()
    files = {
        "mp3": [encode_mp3(file) for file in album],
        "vorbis": [encode_ogg(file, "ogg", ["oggenc", "-Q", "-q", "5", "-o"]) for file in album],
        "opus": [encode_ogg(file, "opus", ["opusenc", "--quiet", "--bitrate", "128", "-"]) for file in album],
        "aac": [encode_aac(file) for file in album],
    }
    # oggdec takes several files, opusdec, faad and sox one.
    references = {
        "mp3": ("mpg123 -q -t", ["mpg123", "-q", "-t", *files["mp3"]]),
        "vorbis": ("oggdec", ["oggdec", "-Q", "-R", "-o", "/dev/null", *files["vorbis"]]),
        "opus": ("opusdec", each_file("opusdec --quiet --float FILE -", files["opus"])),
        "aac": ("faad -q -w", each_file("faad -q -w FILE", files["aac"])),
    }
    results = []
    for codec, (name, reference) in references.items():
        # The reference does not scale its samples either.
        played = play(binary, files[codec], "--volume", "100")
        results.append(cpu(f"cpu-{codec}", played, reference, name, pairs, 1.1, processor))
        results.append(memory(f"memory-{codec}", binary, files[codec], folder, 10))
    converted = play(binary, album, "--rate", "48000")
    reference = each_file("sox -V1 FILE -t raw - rate -v 48000", album)
    results.append(cpu("cpu-resample", converted, reference, "sox rate -v", pairs, 1.3, processor))
    results.append(start_of_vbr(binary, album[0], folder))
    return results


def each_file(command, files):
    """A command that runs `command` for each file, which FILE stands for."""
    loop = "for file; do " + command.replace("FILE", '"$file"') + " >/dev/null; done"
    return ["sh", "-c", loop, "sh", *files]


def start_of_vbr(binary, file, folder):
    """From the start of the process to the first byte of three hours of MP3, made of the MP3 beside `file`. No header
    has their length."""
    seconds = float(answer(["soxi", "-D", file]))
    with open(f"{os.path.splitext(file)[0]}.mp3", "rb") as source:
        frames = source.read()
    # Without ID3v2 and the frame with the index of LAME.
    if frames[:3] == b"ID3":
        size = frames[6] << 21 | frames[7] << 14 | frames[8] << 7 | frames[9]
        frames = frames[10 + size:]
    second = frames.index(frames[:2], frames.index(b"LAME"))
    frames = frames[second:]
    path = f"{folder}/hours.mp3"
    with open(path, "wb") as target:
        for _ in range(math.ceil(3 * 3600 / seconds)):
            target.write(frames)
    times = []
    for number in range(5):
        pipe = f"{folder}/vbr{number}"
        os.mkfifo(pipe)
        start = time.monotonic()
        process = subprocess.Popen(
            [binary, "play", "--device", f"file:FILE={pipe},FORMAT=raw", path], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL)
        with open(pipe, "rb", buffering=0) as reader:
            reader.read(1)
            times.append((time.monotonic() - start) * 1000)
            process.terminate()
        process.wait()
    text = f"{statistics.median(times):.0f} ms, at most {max(times):.0f}"
    return result("start-vbr", max(times), text, 150, "<= 150 ms")


def build_bare_decoder(root, folder):
    """The program of Tests/Support/BareFLAC, on the same libFLAC as the host's build."""
    program = f"{folder}/bare-flac"
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "flac"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    subprocess.run(["gcc", "-O2", f"{root}/Tests/Support/BareFLAC/BareFLAC.c", "-o", program, *flags], check=True)
    return program


def run(command, processors=None):
    """User CPU in seconds of one run."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=lambda: os.sched_setaffinity(0, processors) if processors else None)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"tools/bench: {' '.join(command)}: exit code {process.returncode}\n{errors.decode()}")
    return usage.ru_utime


def play(binary, files, *options):
    return [binary, "play", "--device", "null", *options, *files]


def cpu(name, ours, theirs, reference, pairs, bound, processors=None):
    times = [(run(ours, processors), run(theirs, processors)) for _ in range(pairs + 1)]
    times = times[1:]  # the first pair warms the caches
    ratio = statistics.median(mine for mine, _ in times) / statistics.median(other for _, other in times)
    ratios = [mine / other for mine, other in times]
    text = f"{ratio:.2f} x {reference} ({min(ratios):.2f}-{max(ratios):.2f})"
    return result(name, ratio, text, bound, f"<= {bound}")


def one_processor():
    return {max(os.sched_getaffinity(0))}


def memory(name, binary, album, folder, limit):
    # The kernel's own high-water mark, read while it plays: wait4's number includes this program's memory.
    pipe = f"{folder}/pipe-{name}"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [binary, "play", "--device", f"file:FILE={pipe},FORMAT=raw", *album], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL)
    peak = 0
    with open(pipe, "rb", buffering=0) as reader:
        while reader.read(1 << 20):
            with open(f"/proc/{process.pid}/status") as status:
                marks = [int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM")]
            peak = max([peak, *marks])
    process.wait()
    return result(name, peak, f"{peak / 1e6:.1f} MB", limit * 1e6, f"<= {limit} MB")


def play_latency(root, file):
    times = [float(line) for line in answer([f"{root}/.build/release/Meter", "start", file, "30"]).split()]
    text = f"{statistics.median(times):.1f} ms, at most {max(times):.1f}"
    return result("play-latency", max(times), text, 50, "<= 50 ms")


def answer(command):
    """What a program prints."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def start_latency(binary, file, folder):
    times = []
    for number in range(15):
        pipe = f"{folder}/pipe{number}"
        os.mkfifo(pipe)
        start = time.monotonic()
        process = subprocess.Popen(
            [binary, "play", "--device", f"file:FILE={pipe},FORMAT=raw", file], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL)
        with open(pipe, "rb", buffering=0) as reader:
            reader.read(1)
            times.append((time.monotonic() - start) * 1000)
            while reader.read(1 << 20):
                pass
        process.wait()
    return result(
        "start-latency", max(times), f"{statistics.median(times):.0f} ms, at most {max(times):.0f}", 150, "<= 150 ms")


def queue_operations(root):
    lines = answer([f"{root}/.build/release/CutProgram", "queue", "times", "10000"]).splitlines()
    times = {name: int(time) / 1000 for name, time in (line.split() for line in lines)}
    slowest = max(times, key=times.get)
    return result("queue", times[slowest], f"{times[slowest]:.2f} ms: {slowest}", 1, "<= 1 ms")


def events(root, folder):
    meter = [f"{root}/.build/release/Meter", "events"]
    few = f"{folder}/few-events"
    os.mkdir(few)
    for place, count in ((folder, "100000"), (few, "100")):
        subprocess.run([*meter, place, count, "fill"], check=True)
    start, new, kilobytes = (float(word) for word in answer([*meter, folder, "100000"]).split())
    # What a hundred events cost as well: the library, the connection and its cache.
    kilobytes -= float(answer([*meter, few, "100"]).split()[2])
    return [
        result("events-start", start, f"{start:.1f} ms", 50, "<= 50 ms"),
        result("events-new", new, f"{new:.3f} ms", 1, "<= 1 ms"),
        result("events-memory", kilobytes, f"{kilobytes:.0f} kB more than with 100", 200, "<= 200 kB"),
    ]


def client_line(root, binary, folder):
    time_, name = answer([sys.executable, f"{root}/tools/lib/client_lines.py", binary, folder]).split(maxsplit=1)
    milliseconds = float(time_)
    return result("client-line", milliseconds, f"{milliseconds:.1f} ms: {name.strip()}", 5, "<= 5 ms")


def offline_library(root, folder):
    library = f"{folder}/offline-library"
    os.makedirs(library)
    lines = answer([f"{root}/.build/release/Meter", "offline", library, "100000"]).split("\n")
    values = {name: int(value) for name, value in (line.split() for line in lines if line)}
    return [
        result("offline-start", values["start"] / 1e3, f"{values['start'] / 1e3:.0f} ms", 500, "<= 500 ms"),
        result("offline-state", values["state"], f"{values['state']} us", 100, "<= 100 us"),
        result("offline-due", values["due"] / 1e3, f"{values['due'] / 1e3:.1f} ms", 10, "<= 10 ms"),
        result("offline-bytes", values["bytes"], f"{values['bytes']} bytes a product", 1024, "<= 1024 bytes"),
    ]


def size(root):
    bytes_ = os.path.getsize(f"{root}/build/aarch64/tonearm")
    return result("size", bytes_, f"{bytes_ / 1e6:.2f} MB", 7.95e6, "<= 7.95 MB")


def boundaries(binary, movements, signal, folder):
    out = f"{folder}/boundaries.raw"
    run([binary, "play", "--device", f"file:FILE={out},FORMAT=raw", "--format", "S16_LE", *movements])
    with open(out, "rb") as played:
        heard = played.read()
    if heard == signal:
        wrong = 0
    else:
        wrong = abs(len(heard) - len(signal)) // 4 or sum(
            heard[at:at + 4] != signal[at:at + 4] for at in range(0, len(signal), 4))
    return result("boundaries", wrong, f"{wrong} frames at {len(movements) - 1} boundaries", 0, "0 frames")


def daemon_against_aplay(root):
    test = "test_daemon_measures.Measures.test_the_processor_s_time_against_aplay"
    measured = subprocess.run(
        [f"{root}/tools/board-test", "--no-build", test], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"of aplay's: ([\d.]+) times", measured.stdout)
    if not found:
        print(measured.stdout[-4000:], file=sys.stderr)
        sys.exit("tools/bench: the virtual board did not measure the daemon; its last words are above")
    return result("daemon-aplay", float(found[1]), f"{found[1]} x aplay", 1.8, "<= 1.8")


def result(name, value, text, bound, bound_text):
    return {"name": name, "value": value, "text": text, "bound": bound_text, "holds": value <= bound}
