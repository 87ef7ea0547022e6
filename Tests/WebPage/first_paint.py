"""Measures how soon the page is there when the arm64 engine on the virtual board serves it: the first contentful paint
in Chromium, with nothing in the cache, and the requests and bytes until the player is shown. Prints a line for each
run, and their medians in the last one.

    tools/page-test --first-paint
"""

import gzip
import statistics
import tempfile
from pathlib import Path

from page_case import SIZES, the_browser
from speaker import LIMIT, free_port, make_page
from virtual_board.daemon import Daemon, board_with_daemon

RUNS = 5
#: The port of `[web]` on the board.
PORT = 8080
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]"


def board_with_page():
    """The daemon on a board that is on; its page, as it is installed, lies on the data disk."""
    with tempfile.TemporaryDirectory(prefix="tonearm-paint-") as name:
        make_page(Path(name) / "page")
        for file in sorted((Path(name) / "page").iterdir()):
            if file.suffix != ".png":
                (file.parent / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
        board = board_with_daemon(Path(name), {("web", "address"): "any", ("web", "folder"): "/data/music/page"})
    board.power_on()
    Daemon(board).wait_until_ready()
    board.wait_until("ip address | grep -q 10.0.2.15")
    return board


def measure(browser, address, width):
    """Seconds until the first contentful paint and until the player is shown, requests and bytes, as received."""
    context = browser.new_context(viewport={"width": width, "height": SIZES[width]}, locale="en-US")
    context.set_default_timeout(LIMIT * 1000)
    page = context.new_page()
    responses = []
    page.on("requestfinished", lambda request: responses.append(request))
    page.goto(f"{address}/#/")
    page.wait_for_selector("#player:not([hidden])")
    shown = page.evaluate("performance.now()") / 1000
    page.wait_for_function(PAINT)
    paint = page.evaluate(f"{PAINT}.startTime") / 1000
    sizes = [request.sizes() for request in responses]
    size = sum(each["responseHeadersSize"] + each["responseBodySize"] for each in sizes)
    context.close()
    return paint, shown, len(sizes), size


def main():
    board = board_with_page()
    try:
        port = free_port()
        board.forward(port, PORT)
        browser = the_browser()
        # Neither the first start of Chromium's processes nor that of the connection counts.
        measure(browser, f"http://127.0.0.1:{port}", 360)
        runs = []
        for number in range(1, RUNS + 1):
            runs.append(measure(browser, f"http://127.0.0.1:{port}", 360))
            print(f"run {number}: first paint {runs[-1][0]:.3f} s, player {runs[-1][1]:.3f} s, "
                  f"{runs[-1][2]} requests, {runs[-1][3]} bytes", flush=True)
        paint, shown, requests, size = (statistics.median(column) for column in zip(*runs, strict=True))
        print(f"median: first paint {paint:.3f} s, player {shown:.3f} s, {requests:.0f} requests, {size:.0f} bytes")
    finally:
        board.discard()


if __name__ == "__main__":
    main()
