"""A virtual audio board for tests: real kernel, real ALSA, real GPIO chip. See board/virtual/README.md."""

from .agent import Program, Result
from .board import BUTTON_LINES, VirtualBoard
from .qemu import BoardOff

__all__ = ["BUTTON_LINES", "BoardOff", "Program", "Result", "VirtualBoard"]
