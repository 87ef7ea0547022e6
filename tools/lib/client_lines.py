"""How long the daemon is busy with the longest and most absurd lines that a client may send.

usage: client_lines.py TONEARM FOLDER

Prints the slowest line's time in milliseconds, the median of several, and its name.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import time

#: Bytes of a line, with its line break.
LONGEST = 65_536


def padded(start, piece, end):
    """A line of almost LONGEST bytes: `piece` as often as it fits between the two."""
    return start + piece * ((LONGEST - len(start) - len(end) - 2) // len(piece)) + end


#: By name. Each is one line within the limit.
LINES = {
    "blanks": padded("{", " ", '"request":"ping"}'),
    "a long name": padded('{"request":"', "p", '"}'),
    "a long key": padded('{"request":"ping","', "k", '":1}'),
    "many keys": '{"request":"ping"' + "".join(f',"key{n:05}":{n:05}' for n in range(3_600)) + "}",
    "deep arrays": padded('{"request":"ping","a":', "[", ""),
    "many arrays": padded('{"request":"ping","a":[[]', ",[]", "]}"),
    "a long number": padded('{"request":"seek","position":1', "0", "}"),
    "a long string": padded('{"request":"config-set","key":"audio.device","value":"', "\\u0001", '"}'),
    "not JSON": padded("{", "}", ""),
    "not UTF-8": padded("", "\udcff", ""),
    "many paths": padded('{"request":"queue-add","products":[{"path":"/x"}', ',{"path":"/x"}', "]}"),
    "many ranges": padded('{"request":"queue","from":1,"count":1', ',"count":1', "}"),
}


def slowest_line(binary, folder):
    """The name and the milliseconds of the slowest of LINES."""
    state = os.path.join(folder, "client-lines")
    os.mkdir(state)
    with open(f"{state}/tonearm.conf", "w") as configuration:
        configuration.write(
            f"[audio]\ndevice = null\n[control]\nsocket = {state}/control\n[player]\nstate = {state}/state\n")
    daemon = subprocess.Popen(
        [binary, "run", "--config", f"{state}/tonearm.conf"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        client, other = (connect(daemon, f"{state}/control") for _ in range(2))
        times = {
            name: statistics.median(answer_beside(client, other, line) for _ in range(15))
            for name, line in LINES.items()}
    finally:
        daemon.terminate()
        daemon.communicate()
    slowest = max(times, key=times.get)
    return slowest, times[slowest] * 1000


def connect(daemon, path):
    client = socket.socket(socket.AF_UNIX)
    while True:
        try:
            client.connect(path)
            return client.makefile("rwb", buffering=0)
        except (FileNotFoundError, ConnectionRefusedError):
            if daemon.poll() is not None:
                raise SystemExit(f"the daemon does not start: {daemon.stderr.read().decode()}") from None
            time.sleep(0.01)


def answer_beside(client, other, line):
    """Seconds until the other client has its answer, which waits until the daemon has handled the line."""
    client.write(line.encode(errors="surrogateescape") + b"\n")
    start = time.monotonic()
    other.write(b'{"request":"ping"}\n')
    receive(other)
    elapsed = time.monotonic() - start
    receive(client)
    return elapsed


def receive(client):
    reply = bytearray()
    while not reply.endswith(b"\n"):
        reply += client.read(1 << 20)
    return json.loads(reply)


if __name__ == "__main__":
    name, milliseconds = slowest_line(*sys.argv[1:])
    print(f"{milliseconds:.2f} {name}")
