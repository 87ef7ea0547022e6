"""What the tests of clients share: both servers, which start with the first test and end with the last one."""

import atexit
import functools
import unittest

from servers import Both


@functools.cache
def the_servers():
    both = Both()
    atexit.register(both.discard)
    return both


class ClientCase(unittest.TestCase):
    """A test with the daemon `tonearm` and MPD as `peer`, both without a queue."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.both = the_servers()
        cls.tonearm, cls.peer = cls.both.tonearm, cls.both.peer

    def setUp(self):
        for server in (self.tonearm, self.peer):
            server.reset()


def with_both(test):
    """Runs a test with each server as its last argument."""

    @functools.wraps(test)
    def run(self):
        for server in (self.tonearm, self.peer):
            with self.subTest(server=server.name):
                test(self, server)

    return run
