"""A time server for the board: this machine, on NTP's own port."""

import socket
import struct
import threading
import time

from .qemu import PATIENCE

#: From 1900, where NTP begins, to 1970, in seconds.
NTP_EPOCH = 2_208_988_800


def serve_time(test):
    """Answers the board's questions for the time with this machine's, until the test case ends. Skips the test where
    the port cannot be used."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        server.bind(("127.0.0.1", 123))
    except OSError as error:
        server.close()
        test.skipTest(f"NTP's port cannot be used: {error}")

    # Without an end by the test, it ends by itself.
    server.settimeout(3 * PATIENCE)

    def answer():
        while True:
            try:
                question, client = server.recvfrom(1024)
            except TimeoutError:
                return
            if not question:
                return
            now = int((time.time() + NTP_EPOCH) * 2**32).to_bytes(8, "big")
            # RFC 5905, 7.3: version 4, a server, stratum 2; the question's own time is given back.
            server.sendto(struct.pack(">BBbbII4s", 0x24, 2, 6, -20, 0, 0, b"TEST") + now + question[40:48] + now
                          + now, client)

    def stop():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", ("127.0.0.1", 123))
        thread.join(PATIENCE)
        server.close()

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    test.addCleanup(stop)
