"""The firmware image's scripts that give an interface its addresses, by themselves."""

import unittest

from virtual_board.script_root import ScriptRoot


class LinkLocal(unittest.TestCase):
    """An address where no server gives one."""

    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("crc32", "echo 12345678")
        self.root.write("sys/class/net/eth0/address", "52:54:00:12:34:56\n")

    def addresses(self):
        return [line.split()[3] for line in self.root.calls if line.startswith("ip address replace")]

    def test_it_has_the_same_address_each_time_unless_that_is_taken(self):
        self.root.program("arping", "[ ! -e /run/taken ]")
        for _ in range(2):
            self.root.run("link-local", "eth0")
            (self.root.folder / "run/link-local-eth0").rmdir()
        first, second = self.addresses()
        self.assertEqual(first, second)
        self.root.program("arping", f'case "$*" in *{first.split("/")[0]}) exit 1 ;; esac')
        self.root.run("link-local", "eth0")
        third = self.addresses()[2]
        self.assertNotEqual(third, first)
        self.assertRegex(third, r"^169\.254\.[0-9]+\.[0-9]+/16$")

    def test_a_network_without_a_free_address_is_tried_again_later(self):
        self.root.program("arping", "exit 1")
        self.root.run("link-local", "eth0")
        self.assertEqual(self.addresses(), [])
        self.assertFalse((self.root.folder / "run/link-local-eth0").exists())

    def test_it_stays_beside_the_address_of_a_server(self):
        self.root.program("arping", "")
        self.root.run("address", "leasefail", interface="eth0")
        self.root.wait_until(lambda: len(self.addresses()) == 1)
        self.root.run("address", "deconfig", interface="eth0")
        self.root.run("address", "bound", interface="eth0", ip="10.0.0.2", mask="24")
        self.root.run("address", "leasefail", interface="eth0")
        self.assertEqual(self.addresses()[1:], ["10.0.0.2/24"])
        flushes = [line for line in self.root.calls if "flush" in line]
        self.assertEqual(flushes, ["ip -4 address flush dev eth0 scope global"])


if __name__ == "__main__":
    unittest.main()
