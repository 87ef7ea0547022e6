"""The named long parts of the tests: what the default run leaves out, because it takes minutes."""

#: By name, what a part is about. Each takes less than 25 minutes on two cores.
PARTS = {
    "board-playing": "playing: all sample rates, streaming, USB cards, shared devices, buttons",
    "board-daemon": "the daemon: measurements, offline copies, its start, the emulator itself",
    "board-cuts-1": "fifty power cuts",
    "board-cuts-2": "fifty other power cuts",
    "board-cuts-offline": "power cuts while it downloads and validates",
    "image-starting": "starts, slots, fallback",
    "image-updates": "updates, and power cuts while one is written",
    "image-cuts": "power cuts during the first start and while it plays",
    "image-data": "the data partition, resets",
    "image-network": "sticks, Wi-Fi, the clock, no way in",
    "image-setup": "the set-up from a phone, and Wi-Fi by request",
    "image-boards": "the images of the Raspberry Pis",
}


def long(part, why):
    """Takes a test, or all tests of a class, out of the default run and into a long part. `why` says what takes long or
    which default test proves the same in short."""
    assert part in PARTS, part

    def mark(test):
        test.long_part = part
        test.long_reason = why
        return test

    return mark


def part_of(test):
    """The long part of a test case and the reason for it; None and None for a default test."""
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    for marked in (method, type(test)):
        if getattr(marked, "long_part", None):
            return marked.long_part, marked.long_reason
    return None, None
