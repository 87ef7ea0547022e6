"""Makes firmware images out of unpacked Debian packages. Nothing of them is executed."""
