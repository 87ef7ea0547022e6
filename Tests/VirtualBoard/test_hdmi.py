"""Music for the HDMI socket of a Raspberry Pi: a card that takes nothing but subframes, as alsa-lib makes them."""

import tempfile
import unittest
from pathlib import Path

from virtual_board import shared
from virtual_board.music import silence, tune, write_flac
from virtual_board.sound import FRAME, Recorder, difference
from virtual_board.tonearm import Playback

RATE, SECONDS = 44_100, 2
#: That of the player, in seconds. While the emulator waits for a processor for less than that, no frame comes too late.
BUFFER = 0.5

#: alsa-lib's own plug-in, as its vc4-hdmi.conf has it, but into a file.
REFERENCE = """
</usr/share/alsa/alsa.conf>
pcm.reference {
    type iec958
    slave {
        format IEC958_SUBFRAME_LE
        pcm { type file slave.pcm { type null } file "/tmp/hdmi/reference" format raw }
    }
    status [ 4 130 0 0 ]
    hdmi_mode true
}
"""

#: The control that vc4-hdmi has, and snd-aloop has not.
CONTROL = """
state.HDMI {
    control.1 {
        iface PCM
        name 'IEC958 Playback Default'
        value '%s'
        comment {
            access 'read write user'
            type IEC958
            count 1
        }
    }
}
""" % ("00" * 176)


class HDMI(unittest.TestCase):
    def setUp(self):
        self.board, _ = shared.daemon_board()
        self.do("insmod", "/lib/modules/hdmi.ko", "index=7", "id=HDMI", "pcm_substreams=1")
        self.addCleanup(self.do, "rmmod", "snd_ahdmi")
        self.do("mkdir", "-p", "/tmp/hdmi")
        self.board.put(CONTROL.encode(), "/tmp/hdmi/control")
        self.do("/usr/sbin/alsactl", "--no-ucm", "--no-init-fallback", "--file", "/tmp/hdmi/control", "restore",
                "HDMI")
        self.board.put(REFERENCE.encode(), "/tmp/hdmi/asound.conf")

    def do(self, *words):
        """The output of a program that must succeed."""
        result = self.board.run(*words)
        self.assertEqual((result.exit_code, result.stderr), (0, ""), words)
        return result.stdout

    def test_every_subframe_is_that_of_alsa_lib(self):
        music = tune(RATE, 16, seconds=SECONDS, seed=41).followed_by(silence(RATE, 16, 1))
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "1.flac"
            write_flac(file, music)
            self.board.put(file.read_bytes(), "/tmp/hdmi/1.flac")
        self.board.put(music.bytes, "/tmp/hdmi/1.raw")
        self.do("env", "ALSA_CONFIG_PATH=/tmp/hdmi/asound.conf", "aplay", "-q", "-D", "reference", "-t", "raw",
                "-f", "S32_LE", "-c", "2", "-r", str(RATE), "/tmp/hdmi/1.raw")
        expected = self.board.fetch("/tmp/hdmi/reference")
        # The plug-in fills its last period with silence.
        self.assertGreaterEqual(len(expected) // FRAME, music.frames)
        # The loop damages the end, which is silence: all the music is compared, and most of that.
        expected = expected[:RATE * FRAME * SECONDS + RATE // 2 * FRAME]

        # A player that has lost its place in the card's buffer begins a new block of subframes. So a recording is
        # compared in which the emulator never waited that long.
        for _ in range(5):
            recording = self.recording()
            if recording.waited(0, recording.frames) < BUFFER:
                break
        self.assertIsNone(difference(recording.cut(0, len(expected) // FRAME), expected))
        control = self.do("amixer", "-c", "HDMI", "cget", "iface=PCM,name=IEC958 Playback Default")
        self.assertIn("AES0=0x04 AES1=0x82 AES2=0x00 AES3=0x00", control)

    def recording(self):
        recorder = Recorder(self.board, RATE, buffer=BUFFER, card="HDMI", sample_format="IEC958_SUBFRAME_LE")
        playback = Playback(self.board, "hw:CARD=HDMI,DEV=0", "--volume", "100", "--buffer", "500",
                            "/tmp/hdmi/1.flac")
        self.addCleanup(playback.stop)
        result, recording = playback.wait(), recorder.stop()
        self.assertEqual((result.exit_code, result.stderr), (0, ""))
        paths = [event["path"] for event in playback.events if event.get("path")]
        self.assertTrue(paths and all(path["bitPerfect"] for path in paths), playback.events)
        return recording
