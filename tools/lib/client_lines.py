"""How long the daemon is busy with the longest lines that a client may send: real requests and absurd ones.

usage: client_lines.py TONEARM FOLDER

Prints the slowest line's time in milliseconds, the median of several, and its name.
"""

import json
import os
import select
import socket
import statistics
import subprocess
import sys
import time
import wave

#: Bytes of a line, with its line break.
LONGEST = 65_536
#: How often each line is sent.
TIMES = 15
#: So many lines fill the queue first. With those that are measured it stays below 100,000 entries, its limit, for a
#: path of more than 20 bytes.
FILLING = 20


def padded(start, piece, end):
    """A line of almost LONGEST bytes: `piece` as often as it fits between the two."""
    return start + piece * ((LONGEST - len(start) - len(end) - 2) // len(piece)) + end


#: Lines that are refused, or say little in many bytes, by name. Each is one line within the limit.
ABSURD = {
    "blanks": padded("{", " ", '"request":"status"}'),
    "a long name": padded('{"request":"', "p", '"}'),
    "a long key": padded('{"request":"status","', "k", '":1}'),
    "many keys": '{"request":"status"' + "".join(f',"key{n:05}":{n:05}' for n in range(3_600)) + "}",
    "deep arrays": padded('{"request":"status","a":', "[", ""),
    "many arrays": padded('{"request":"status","a":[[]', ",[]", "]}"),
    "a long number": padded('{"request":"seek","position":1', "0", "}"),
    "a long string": padded('{"request":"config-set","key":"audio.device","value":"', "\\u0001", '"}'),
    "not JSON": padded("{", "}", ""),
    "not UTF-8": padded("", "\udcff", ""),
    "many paths that are not there": padded('{"request":"queue-add","products":[{"path":"/x"}', ',{"path":"/x"}', "]}"),
    "a long id": padded('{"request":"version","id":"', "\\u0001", '"}'),
    "a long address": padded('{"request":"offline-verify","product":"tonearm:track/', "1", '"}'),
    "many ranges": padded('{"request":"queue","from":1,"count":1', ',"count":1', "}"),
}


def products(request, file, rest=""):
    """A request for as many products as a line holds: always the same file, which counts each time."""
    product = f'{{"path":"{file}"}}'
    return padded(f'{{"request":"{request}"{rest},"products":[{product}', f",{product}", "]}")


def kept(request, turn, digits):
    """A request for as many products of the service as a line holds, with ids of so many digits."""
    pieces, length = [], 200
    while length < LONGEST:
        pieces.append(f'{{"path":"tonearm:track/{turn * 10_000 + len(pieces):0{digits}}"}}')
        length += len(pieces[-1]) + 1
    return f'{{"request":"{request}","products":[{",".join(pieces[:-1])}]}}'


def real(file, first, count):
    """Requests that a large queue makes expensive, by name: functions of how often each was sent before.

    They come in this order. `first` is the id of the queue's first entry, and `count` how many it has.
    """
    def ids(turn):
        share = count // TIMES
        return ",".join(str(first + turn * share + place) for place in range(share))

    return {
        "queue-add": lambda turn: products("queue-add", file),
        "queue-insert": lambda turn: products("queue-insert", file, ',"index":0'),
        "queue-move": lambda turn: f'{{"request":"queue-move","entry":{first + count - 1 - turn},"index":0}}',
        "queue": lambda turn: padded("{", " ", f'"request":"queue","from":{turn * 1_000},"count":500}}'),
        "shuffle": lambda turn: '{"request":"shuffle"}',
        "repeat": lambda turn: '{"request":"repeat","mode":"all"}',
        "config-get": lambda turn: '{"request":"config-get"}',
        "queue-remove": lambda turn: f'{{"request":"queue-remove","entries":[{ids(turn)}]}}',
        "queue-set": lambda turn: products("queue-set", file, ',"play":false'),
        "offline-add": lambda turn: kept("offline-add", turn, 1),
        "offline-add, long ids": lambda turn: kept("offline-add", turn, 256),
        "offline-jobs": lambda turn: padded("{", " ", f'"request":"offline-jobs","after":{turn * 1_500}}}'),
        "offline-jobs, long ids": lambda turn: f'{{"request":"offline-jobs","after":{TIMES * 1_500 + turn * 50}}}',
        "offline-items": lambda turn: '{"request":"offline-items"}',
        "offline-status": lambda turn: '{"request":"offline-status"}',
        "offline-pause": lambda turn: kept("offline-pause", turn, 1),
        "offline-resume": lambda turn: kept("offline-resume", turn, 1),
        "offline-remove": lambda turn: kept("offline-remove", turn, 256),
        "offline-remove, all": lambda turn: '{"request":"offline-remove","all":true}',
    }


def slowest_line(binary, folder):
    """The name and the milliseconds of the slowest line."""
    state = os.path.join(folder, "client-lines")
    os.mkdir(state)
    file = f"{state}/a.wav"
    silence(file)
    with open(f"{state}/tonearm.conf", "w") as configuration:
        configuration.write(
            f"[audio]\ndevice = null\n[control]\nsocket = {state}/control\n[player]\nstate = {state}/state\n"
            # Nothing listens there: the downloads wait.
            "[service]\nurl = http://127.0.0.1:9\n")
    daemon = subprocess.Popen(
        [binary, "run", "--config", f"{state}/tonearm.conf"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        client, other = (connect(daemon, f"{state}/control") for _ in range(2))
        times = {}
        for name, line in ABSURD.items():
            times[name] = statistics.median(longest_wait(client, other, line)[0] for _ in range(TIMES))
        first, count = fill(client, file)
        for name, line in real(file, first, count).items():
            waits = []
            for turn in range(TIMES):
                wait, reply = longest_wait(client, other, line(turn))
                check(name, reply)
                waits.append(wait)
            times[name] = statistics.median(waits)
    finally:
        daemon.terminate()
        daemon.communicate()
    slowest = max(times, key=times.get)
    return slowest, times[slowest] * 1000


def silence(path):
    """A second of it: something that can be opened and waits there."""
    with wave.open(path, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(8_000)
        file.writeframes(bytes(4 * 8_000))


def fill(client, file):
    """Fills the queue, without playing it.

    Returns the id of the first entry, and the number of entries: their ids follow each other.
    """
    first, count = None, 0
    for _ in range(FILLING):
        client.write(products("queue-add", file).encode() + b"\n")
        reply = receive(client)
        check("queue-add", reply)
        if first is None:
            first = reply["entry"]
        count += reply["added"]
    return first, count


def check(name, reply):
    """A refusal would take less time than the request."""
    if not reply["ok"]:
        raise SystemExit(f"the request {name} was refused: {reply}")


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


def longest_wait(client, other, line):
    """The seconds that the other client waits at most for an answer until the line has its own, and that answer.

    Some of the work comes later than the line: what was found in other threads is added to the queue, for example.
    """
    client.write(line.encode(errors="surrogateescape") + b"\n")
    longest = 0.0
    while True:
        start = time.monotonic()
        other.write(b'{"request":"version"}\n')
        receive(other)
        longest = max(longest, time.monotonic() - start)
        if select.select([client], [], [], 0)[0]:
            return longest, receive(client)


def receive(client):
    reply = bytearray()
    while not reply.endswith(b"\n"):
        reply += client.read(1 << 20)
    return json.loads(reply)


if __name__ == "__main__":
    name, milliseconds = slowest_line(*sys.argv[1:])
    print(f"{milliseconds:.2f} {name}")
