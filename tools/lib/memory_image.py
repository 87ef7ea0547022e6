"""Whether the daemon leaves an image of its memory when it crashes: keys and tokens are there.

usage: memory_image.py TONEARM FOLDER

Prints one line, `ok`, `FAILED` or `skipped` first. FOLDER is empty.
"""

import os
import resource
import signal
import subprocess
import sys
import time

#: In seconds.
PATIENCE = 60


def leaves_image(folder, command, ready):
    """Ends a program with SIGABRT once it has written a line with `ready`; whether the kernel wrote an image."""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, preexec_fn=allow_images)
    if not any(ready in line for line in process.stdout):
        raise RuntimeError(f"{command[0]} ended before it was ready")
    os.kill(process.pid, signal.SIGABRT)
    deadline = time.monotonic() + PATIENCE
    while True:
        ended, status = os.waitpid(process.pid, os.WNOHANG)
        if ended:
            return os.WCOREDUMP(status)
        if time.monotonic() > deadline:
            process.kill()
            raise TimeoutError(f"{command[0]} does not end")
        time.sleep(0.01)


def allow_images():
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))


def main(tonearm, folder):
    with open(f"{folder}/tonearm.conf", "w") as file:
        file.write(f"[audio]\ndevice = null\nrealtime-priority = 0\n[player]\nstate = {folder}/state\n"
                   f"[control]\nsocket = {folder}/control\nmode = 0600\n")
    if not leaves_image(folder, ["sh", "-c", "echo ready; exec cat"], "ready"):
        print("skipped memory image: this system writes none of any program")
        return 0
    if leaves_image(folder, [tonearm, "run", "--config", f"{folder}/tonearm.conf"], "is ready"):
        print("FAILED memory image: the kernel wrote one")
        return 1
    print("ok memory image: none is left by a crash")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
