"""usage: ask_pictures.py PICTURE… -- PROGRAM…

Starts tonearm-pictures as the daemon does, and asks for a thumbnail of 16 pixels of each picture.

Prints a line for each, `ok` or `FAILED` first. Exit codes: 0 all were made, 1 one was not.
"""

import array
import os
import socket
import struct
import subprocess
import sys
import tempfile

SIDE = 16
#: Seconds for an answer, under an emulator.
PATIENCE = 60


def main():
    middle = sys.argv.index("--")
    own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    own.settimeout(PATIENCE)
    program = subprocess.Popen(sys.argv[middle + 1 :], stdin=other, stdout=subprocess.DEVNULL)
    other.close()
    good = True
    for picture in sys.argv[1:middle]:
        answer = ask(own, picture)
        good = good and answer.startswith("ok ")
        print(answer)
    own.close()
    code = program.wait(PATIENCE)
    if code != 0:
        print(f"FAILED tonearm-pictures: exit code {code}")
    return 0 if good and code == 0 else 1


def ask(connection, picture):
    """Asks for one thumbnail; the line."""
    name = "/".join(picture.split("/")[-2:])
    with open(picture, "rb") as source, tempfile.TemporaryFile() as result:
        request = struct.pack("<IIQQ", 1, SIDE, 0, os.fstat(source.fileno()).st_size)
        files = array.array("i", [source.fileno(), result.fileno()])
        connection.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        packet = connection.recv(64)
        if len(packet) != 16:
            return f"FAILED thumbnail of {name}: no answer"
        _, outcome, width, height, size = struct.unpack("<IIHHI", packet)
        thumbnail = result.read()
        if outcome or max(width, height) != SIDE or len(thumbnail) != size or not thumbnail.startswith(b"\xff\xd8"):
            return f"FAILED thumbnail of {name}: outcome {outcome}, {width} x {height} pixels, {len(thumbnail)} bytes"
        return f"ok thumbnail of {name}: {width} x {height} pixels, {size} bytes"


if __name__ == "__main__":
    sys.exit(main())
