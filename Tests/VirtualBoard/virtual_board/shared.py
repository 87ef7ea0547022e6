"""A board with the daemon that the tests of many classes share, because its start takes longer than most of them."""

import tempfile
from pathlib import Path

from .daemon import Daemon, board_with_daemon
from .music import silence, tune, write_album, write_flac

CD, STUDIO = 44_100, 96_000

#: Where the album is cut, in frames: in no proportion to a block of the encoder, a period or a buffer.
CUT = 77_777

#: Ends the playback, and sets what tests change to its first value.
RESET = """
set -e
tonearm focus full
tonearm shuffle off
tonearm repeat off
tonearm queue clear
tonearm volume 100
until ! grep -q RUNNING /proc/asound/HiFi/pcm0p/sub0/status; do usleep 10000; done
"""

_boards = []


def long_tracks():
    """The tracks of /data/music/album: the first is as the third, the second as the fourth."""
    return [tune(CD, 16, seconds=20, seed=seed) for seed in (11, 12)]


def cd_music():
    """What /data/music/gapless and the first two of /data/music/switch play."""
    return tune(CD, 16, seconds=4, seed=1)


def studio_music():
    """What is heard of the third of /data/music/switch in any case."""
    return tune(STUDIO, 24, seconds=3, seed=2)


def studio_prelude():
    """What comes before that: a recorder may miss it while it opens the card after the player."""
    return tune(STUDIO, 24, seconds=3, seed=3)


def write_music(folder):
    for number in range(4):
        write_flac(folder / f"album/{number + 1}.flac", long_tracks()[number % 2])
    cd = cd_music()
    write_album(folder / "gapless", cd, CUT)
    write_flac(folder / "switch/1.flac", cd.cut(0, CUT))
    write_flac(folder / "switch/2.flac", cd.cut(CUT).followed_by(silence(CD, 16, 2)))
    studio = studio_prelude().followed_by(studio_music())
    write_flac(folder / "switch/3.flac", studio.followed_by(silence(STUDIO, 24, 1)))
    write_flac(folder / "studio.flac", studio_music().followed_by(silence(STUDIO, 24, 1)))
    write_flac(folder / "mono/1.flac", cd.cut(0, CUT), channels=1)
    write_flac(folder / "mono/2.flac", cd.cut(CUT, 2 * CUT))
    write_flac(folder / "mono/3.flac", cd.cut(2 * CUT).followed_by(silence(CD, 16, 1)), channels=1)
    write_flac(folder / "usb.flac", tune(48_000, 16, seconds=8, seed=4).followed_by(silence(48_000, 16, 1)))
    write_flac(folder / "bell.flac", tune(48_000, 24, seconds=1, seed=6).followed_by(silence(48_000, 24, 1)))


def daemon_board():
    """The board, which is on, and its daemon: with an empty queue, at full volume, with a free card. A board on which a
    test has failed is not used again (`discard`)."""
    if not _boards:
        with tempfile.TemporaryDirectory() as folder:
            write_music(Path(folder))
            _boards.append(board_with_daemon(Path(folder)))
        board = _boards[0]
        board.power_on()
        Daemon(board).wait_until_ready()
    board = _boards[0]
    result = board.run_script(RESET)
    if result.exit_code != 0:
        raise RuntimeError(f"the daemon could not be set back: {result.stderr}")
    return board, Daemon(board)


def discard():
    """Removes the board, if there is one; the next test starts another."""
    while _boards:
        _boards.pop().discard()
