"""The rows of tools/bench about the library: the first scan, the second look, a search, and the size of the index."""

import os
import random
import subprocess

FILES = 100_000


def measure(root, folder):
    """All rows, as `streaming_bench.row` makes them."""
    music = f"{folder}/library"
    words = make_files(music, folder)
    meter = [f"{root}/.build/release/Meter", "library"]
    index = f"{folder}/library.db"
    # The cache is warm: the files were written just now.
    files, seconds, size, *searches = numbers([*meter, index, music, *words])
    search, each = max(searches), ", ".join(f"{time:.0f}" for time in searches)
    # As many names again, of the same files.
    subprocess.run(["cp", "--recursive", "--link", f"{music}/0", f"{music}/1"], check=True)
    numbers([*meter, index, music])
    again, look, read = numbers([*meter, index, music])
    return [
        row("library-scan", files / seconds, f"{files:.0f} files, {files / seconds:.0f} files/s", "≥ 500 files/s",
            files == FILES and files / seconds >= 500),
        row("library-look", look, f"{again:.0f} files without a change: {look:.1f} s", "10 s",
            again == 2 * FILES and read == 0 and look <= 10),
        row("library-search", search, f"{files:.0f} tracks: {each} ms", "20 ms", search <= 20),
        row("library-size", size / files, f"{size / files:.0f} bytes a track", "1024 bytes", size / files <= 1024),
    ]


def row(name, value, text, bound_text, holds):
    return {"name": name, "value": value, "text": text, "bound": bound_text, "holds": holds}


def numbers(command):
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(word) for word in output.split()]


def make_files(music, folder):
    """Albums of ten tracks. Returns what to search for: one track, a part of a word, many tracks, and none."""
    tags = {"TITLE": "t" * 24, "ARTIST": "a" * 14, "ALBUM": "l" * 18, "GENRE": "Rock", "DATE": "1997-05-20",
            "TRACKNUMBER": "00"}
    samples = random.Random(3).randbytes(400)
    subprocess.run(
        ["flac", "-s", "-f", "--no-padding", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2",
         "--bps=16", "--sample-rate=44100", *(f"--tag={name}={text}" for name, text in tags.items()),
         "-o", f"{folder}/tiny.flac", "-"], input=samples, check=True)
    with open(f"{folder}/tiny.flac", "rb") as file:
        tiny = file.read()
    source = random.Random(4)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(source.choice(letters) for _ in range(source.randint(3, 9))) for _ in range(5000)]

    def text(key, *parts):
        return " ".join(parts)[:len(tags[key])].ljust(len(tags[key]), "x").encode()

    for number in range(FILES):
        album = number // 10
        part = f"{music}/0/{album // 100:03}/{album:05}"
        if number % 10 == 0:
            os.makedirs(part)
        title = text("TITLE", source.choice(words), source.choice(words), f"{number:06}")
        file = tiny.replace(tags["TITLE"].encode(), title)
        file = file.replace(tags["ARTIST"].encode(), text("ARTIST", "the", words[album // 10]))
        file = file.replace(tags["ALBUM"].encode(), text("ALBUM", words[album % 5000], f"{album:05}"))
        file = file.replace(b"TRACKNUMBER=00", f"TRACKNUMBER={number % 10 + 1:02}".encode())
        with open(f"{part}/{number:06}.flac", "wb") as output:
            output.write(file)
    return ["077777", words[7][1:], "the", "qqqqq", f"{words[3]} {words[4]}"]
