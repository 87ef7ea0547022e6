"""A HAT in the emulator, with the kernel of the images and its modules: the overlay of a DAC on a device tree with an
I2C bus, a GPIO chip and an I2S controller, which the module `tonearm-test-hat` simulates. The kernel's log has all that
happens to the HAT."""

import functools
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from firmware.tree import Modules

from . import qemu
from .cpio import Archive
from .host import run

ROOT = Path(__file__).parents[3]
CACHE = ROOT / "build/firmware-image"
#: In seconds: a start takes four.
LIMIT = 120

#: What an overlay wants, by the labels of a Raspberry Pi's tree.
NODES = """
/ {
    i2c1: hat-i2c { compatible = "tonearm,test-i2c"; #address-cells = <1>; #size-cells = <0>; @PROPERTIES@ };
    pcm_gpio18: hat-pins { };
    gpio: hat-gpio { compatible = "tonearm,test-gpio"; gpio-controller; #gpio-cells = <2>; };
    @NODES@
    i2s: hat-i2s { compatible = "tonearm,test-i2s"; #sound-dai-cells = <0>; };
};
"""

MODULES = ("fixed", "snd-soc-wm8804-i2c", "snd-soc-pcm512x-i2c", "snd-soc-tas571x", "snd-soc-da7213",
           "tonearm-wm8804-card", "tonearm-pcm512x-card", "tonearm-tas5711-card", "tonearm-da7213-card",
           "tonearm-test-hat")

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /dev /proc /sys /bin
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox --install -s /bin
export PATH=/usr/bin:/bin
say() { echo "hat: $*" >/dev/kmsg; }
while read -r module; do insmod "/hat/$module" || say "module $module failed"; done </hat/order
for wait in $(seq 600); do
    [ -e /proc/asound/card0 ] && break
    usleep 100000
done
[ -e /proc/asound/card0 ] || say "no card in 60 s: $(cat /sys/kernel/debug/devices_deferred)"
# A stream that ends goes off at once.
for file in /sys/devices/platform/sound-dac/*/pmdown_time /sys/devices/platform/sound-dac/pmdown_time; do
    [ -e "$file" ] && echo 0 >"$file"
done
while IFS='|' read -r control value; do
    amixer -q -c 0 sset "$control" "$value" || say "control $control failed"
done </hat/controls
while read -r rate format; do
    say "play $rate $format"
    aplay -q -D hw:CARD=0 -t raw -c 2 -r "$rate" -f "$format" -s 2000 /dev/zero
    say "played with $?"
done </hat/plays
say "end"
poweroff -f
"""


@dataclass
class Play:
    rate: int
    format: str
    events: list = field(default_factory=list)

    @property
    def until_start(self):
        return self.events[:self.events.index(f"cpu starts at {self.rate}")]


@dataclass
class Log:
    #: What happened before the first play, and what each has brought, in the words of tonearm-test-hat.
    before: list
    plays: list
    text: str


def play_on(folder, overlay, plays, properties="", controls=()):
    """Starts the emulator with an overlay, plays 2000 frames of silence for each rate and format, and gives the log.
    `properties` are those of the simulated bus, `controls` names and values of the mixer, in amixer's words."""
    kernel = next(CACHE.glob("packages/linux-image-*/boot/vmlinuz-*"))
    tree = device_tree(folder, MACHINE, overlay, properties)
    (folder / "root.cpio").write_bytes(_root(plays, controls))
    console = folder / "console.log"
    words = ["qemu-system-aarch64", *MACHINE, "-nodefaults", "-no-reboot", "-display", "none",
             "-serial", f"file:{console}", "-kernel", kernel, "-initrd", folder / "root.cpio", "-dtb", tree,
             "-append", "console=ttyAMA0 ignore_loglevel printk.devkmsg=on panic=-1"]
    try:
        run(words, check=True, timeout=LIMIT, capture_output=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        text = console.read_text(errors="replace") if console.exists() else ""
        raise AssertionError(f"{overlay}: the emulator has not ended by itself: {error}\n{text[-3000:]}") from None
    return _read(console.read_text(errors="replace"))


MACHINE = (*qemu.MACHINE, "-smp", "1")


def device_tree(folder, machine, overlay=None, properties="", nodes=""):
    """The file of the emulator's own tree, with the nodes of the HAT, others, and the overlay. `machine` are the words
    that describe the emulator."""
    bare = folder / "bare.dtb"
    machine = [word.replace("virt,", f"virt,dumpdtb={bare},") for word in machine]
    run(["qemu-system-aarch64", *machine, "-nodefaults", "-display", "none"], check=True, capture_output=True)
    source = run(["dtc", "-I", "dtb", "-O", "dts", bare], check=True, capture_output=True, text=True).stdout
    base, added, whole = folder / "base.dtb", folder / "overlay.dtbo", folder / "whole.dtb"
    added_nodes = NODES.replace("@PROPERTIES@", properties).replace("@NODES@", nodes)
    run(["dtc", "-@", "-I", "dts", "-O", "dtb", "-o", base, "-"], check=True, capture_output=True,
        input=(source + added_nodes).encode())
    if not overlay:
        return base
    run(["dtc", "-@", "-I", "dts", "-O", "dtb", "-o", added, ROOT / f"board/overlays/{overlay}.dts"], check=True,
        capture_output=True)
    run(["fdtoverlay", "-i", base, "-o", whole, added], check=True, capture_output=True)
    # The emulator has no chip that connects pins, and the kernel would wait for one.
    run(["fdtput", "-d", whole, "/hat-i2s", "pinctrl-0", "pinctrl-names"], check=True, capture_output=True)
    return whole


def _root(plays, controls):
    """Programs of the other virtual board, and modules of the images."""
    archive = Archive()
    archive.add_file("init", INIT.encode(), executable=True)
    for name, content in _modules().items():
        archive.add_file(f"hat/{name}", content)
    archive.add_file("hat/order", "".join(f"{name}\n" for name in _modules()).encode())
    archive.add_file("hat/controls", "".join(f"{name}|{value}\n" for name, value in controls).encode())
    archive.add_file("hat/plays", "".join(f"{rate} {format}\n" for rate, format in plays).encode())
    # Files of the later archive replace those of the first.
    return (ROOT / "build/board/root.cpio").read_bytes() + archive.data


@functools.cache
def _modules():
    """By their names, each after those that it needs."""
    modules = Modules(next(CACHE.glob("packages/linux-image-*")), CACHE / "modules")
    return {Path(path).name.removesuffix(".xz"): modules.content(path) for path in modules.in_order(MODULES)}


def _read(text):
    log = Log([], [], text)
    for event in re.findall(r"hat: (.*?)\r?$", text, re.MULTILINE):
        if found := re.fullmatch(r"play (\d+) (\S+)", event):
            log.plays.append(Play(int(found[1]), found[2]))
        else:
            (log.plays[-1].events if log.plays else log.before).append(event)
    return log
