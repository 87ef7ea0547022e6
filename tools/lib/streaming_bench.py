"""The rows of tools/bench about downloads and streaming. Each needs build/x86_64, of tools/cross."""

import asyncio
import os
import random
import statistics
import subprocess
import threading
import time

MEGABYTE = 1 << 20
DOWNLOAD = 200 * MEGABYTE
ONE_WAY = 0.02
READ_AHEAD = 16 * MEGABYTE  # ServiceSettings.readAhead


def measure(root, folder, pairs):
    """All rows, as `result` makes them."""
    certificate, key = make_certificate(folder)
    results = downloads(root, folder, pairs, certificate, key)
    music = f"{folder}/music"
    os.mkdir(music)
    encode(random.Random(2).randbytes(44100 * 4) * 130, f"{music}/1.flac")
    with Origin(root, music, certificate, key) as origin:
        results.append(first_sound(root, folder, origin, certificate))
        results.append(memory(root, folder, origin, certificate))
    return results


def row(name, value, text, bound_text, holds):
    return {"name": name, "value": value, "text": text, "bound": bound_text, "holds": holds}


def make_certificate(folder):
    certificate, key = f"{folder}/certificate.pem", f"{folder}/key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
         "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, stderr=subprocess.DEVNULL)
    return certificate, key


# Downloads: DownloadMeter beside a program of libcurl's and mbedTLS's, from the same archives.


def downloads(root, folder, pairs, certificate, key):
    bare = build_bare_download(root, folder)
    meter = f"{root}/build/x86_64/download-meter"
    with open(f"{folder}/large", "wb") as large:
        large.write(random.Random(1).randbytes(MEGABYTE) * (DOWNLOAD // MEGABYTE))
    rows = []
    with Nginx(folder, certificate, key) as server:
        for scheme in ("http", "https"):
            for kind in ("file", "sealed"):
                url = f"{scheme}://localhost:{server.ports[scheme]}/large"
                rows += download(f"{scheme}-{kind}", kind, url, meter, bare, folder, certificate, pairs)
    return rows


def download(name, kind, url, meter, bare, folder, certificate, pairs):
    ours, theirs = [], []
    for _ in range(pairs + 1):
        subprocess.run(["rm", "-rf", f"{folder}/ours", f"{folder}/theirs"], check=True)
        if kind == "sealed":
            os.mkdir(f"{folder}/ours")
        ours.append(numbers([meter, kind, url, certificate, f"{folder}/ours"]))
        theirs.append(numbers([bare, kind, url, certificate, f"{folder}/theirs"]))
    ours, theirs = ours[1:], theirs[1:]  # the first pair warms the caches
    assert all(run[0] == DOWNLOAD for run in ours + theirs)
    speed = median(theirs, 1) / median(ours, 1)
    processor = median(ours, 2) / median(theirs, 2)
    growth = max(run[3] for run in ours)
    rates = f"{DOWNLOAD / median(ours, 1):.0f} MB/s"
    rows = [row(f"download-{name}", speed, f"{speed:.2f} x the throughput of libcurl alone, {rates}", ">= 0.95",
                speed >= 0.95)]
    if kind == "file":
        rows.append(row(f"download-{name}-cpu", processor, f"{processor:.2f} x its processor time", "<= 1.15",
                        processor <= 1.15))
    rows.append(row(f"download-{name}-memory", growth, f"{growth / 1e6:.2f} MB more in its course", "<= 2 MB",
                    growth <= 2e6))
    return rows


def numbers(command):
    environment = dict(os.environ)
    if processor_has_aes():
        environment["BARE_DOWNLOAD_AES"] = "1"
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout
    return [int(number) for number in answer.split()]


def processor_has_aes():
    with open("/proc/cpuinfo") as info:
        return any(" aes " in f"{line.strip()} " for line in info if line.startswith("flags"))


def median(runs, column):
    return statistics.median(run[column] for run in runs)


def build_bare_download(root, folder):
    program = f"{folder}/bare-download"
    subprocess.run(
        ["clang", "--target=x86_64-unknown-linux-gnu", f"--sysroot={root}/build/cross/x86_64/sysroot", "-fuse-ld=lld",
         "-static", "-O2", f"{root}/Tests/Support/BareDownload/BareDownload.c", "-o", program, "-lcurl", "-lmbedtls",
         "-lmbedx509", "-lmbedcrypto", "-lcares", "-lm"],
        check=True, stderr=subprocess.DEVNULL)
    return program


class Nginx:
    """Serves a folder over HTTP and over TLS."""

    def __init__(self, folder, certificate, key):
        self.folder = f"{folder}/nginx"
        self.ports = dict(zip(("http", "https"), free_ports(2)))
        os.mkdir(self.folder)
        with open(f"{self.folder}/nginx.conf", "w") as file:
            file.write(f"""
                user {os.environ.get("USER", "root")}; pid {self.folder}/pid; worker_processes 1; daemon on;
                error_log {self.folder}/log;
                events {{ worker_connections 64; }}
                http {{
                    access_log off; sendfile on; default_type application/octet-stream;
                    add_header Cache-Control "max-age=3600";
                    client_body_temp_path {self.folder}/1; proxy_temp_path {self.folder}/2;
                    fastcgi_temp_path {self.folder}/3; uwsgi_temp_path {self.folder}/4; scgi_temp_path {self.folder}/5;
                    server {{ listen 127.0.0.1:{self.ports["http"]}; root {folder}; }}
                    server {{
                        listen 127.0.0.1:{self.ports["https"]} ssl; root {folder}; ssl_protocols TLSv1.3;
                        ssl_certificate {certificate}; ssl_certificate_key {key};
                    }}
                }}""")

    def __enter__(self):
        subprocess.run(["/usr/sbin/nginx", "-p", self.folder, "-c", "nginx.conf", "-e", "log"], check=True)
        return self

    def __exit__(self, *_):
        with open(f"{self.folder}/pid") as file:
            os.kill(int(file.read()), 15)


def free_ports(count):
    import socket

    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in sockets]
    for listener in sockets:
        listener.close()
    return ports


# Streaming: the engine and the origin.


def encode(samples, path):
    subprocess.run(
        ["flac", "-s", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2", "--bps=16",
         "--sample-rate=44100", "-o", path, "-"], input=samples, check=True)


class Origin:
    """tonearm-origin over TLS."""

    def __init__(self, root, music, certificate, key, *options):
        # A debug build takes long for its answers, and this time would count.
        self.program = f"{root}/.build/release/tonearm-origin"
        self.music, self.state = music, f"{music}-state"
        self.options = ["--tls-certificate", certificate, "--tls-key", key, *options]
        self.port = 0

    def __enter__(self):
        self.process = subprocess.Popen(
            [self.program, "serve", self.music, "--port", "0", "--state", self.state, *self.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith("serving "):
                self.port = int(line.rsplit(":", 1)[1])
            elif "measured" in line:  # nothing more disturbs
                return self
        raise RuntimeError("the origin does not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def play(root, port, certificate, pipe):
    return subprocess.Popen(
        [f"{root}/build/x86_64/tonearm", "play", "--device", f"file:FILE={pipe},FORMAT=raw", "--service",
         f"https://localhost:{port}", "--ca-file", certificate, "tonearm:track/1"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def first_sound(root, folder, origin, certificate):
    """From the first packet to the first frame, on a line of 20 ms each way."""
    line = DelayLine(origin.port)
    times = []
    for number in range(7):
        pipe = f"{folder}/first-{number}"
        os.mkfifo(pipe)
        line.forget()
        process = play(root, line.port, certificate, pipe)
        with open(pipe, "rb", buffering=0) as reader:
            reader.read(1)
            times.append((time.monotonic() - line.first) * 1000)
            process.terminate()
            while reader.read(MEGABYTE):
                pass
        process.wait()
    # Two connections take their round trips at the same time. How many came one after the other is what the time says.
    limit = 6 * 2 * ONE_WAY * 1000 + 30
    median_time = statistics.median(times)
    text = f"{median_time:.0f} ms, at most {max(times):.0f}; a round trip is {2 * ONE_WAY * 1000:.0f} ms"
    return row("stream-latency", median_time, text, f"<= {limit:.0f} ms", median_time <= limit)


class DelayLine:
    """A line to a port of this machine that takes 20 ms each way. The kernel's netem is not everywhere.

    A connection takes a round trip before the client's first byte leaves. There is no limit of bandwidth, and no slow
    start."""

    def __init__(self, target):
        self.target = target
        self.port = free_ports(1)[0]
        self.forget()
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self._run, args=(ready,), daemon=True).start()
        ready.wait()

    def forget(self):
        self.first = None

    def _run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self._accept, "127.0.0.1", self.port))
        ready.set()
        self.loop.run_forever()

    async def _accept(self, client_in, client_out):
        opened = time.monotonic()
        if self.first is None:
            self.first = opened
        server_in, server_out = await asyncio.open_connection("127.0.0.1", self.target)
        await asyncio.gather(
            self._carry(client_in, server_out, opened + 2 * ONE_WAY),
            self._carry(server_in, client_out, opened))

    async def _carry(self, source, sink, earliest):
        waiting = asyncio.Queue()

        async def deliver():
            while True:
                due, data = await waiting.get()
                await asyncio.sleep(max(0, due - time.monotonic()))
                if not data:
                    break
                sink.write(data)
            sink.close()

        delivery = asyncio.ensure_future(deliver())
        while True:
            try:
                data = await source.read(65536)
            except ConnectionError:
                data = b""
            await waiting.put((max(time.monotonic(), earliest) + ONE_WAY, data))
            if not data:
                break
        await delivery


def memory(root, folder, origin, certificate):
    """The highest mark while everything that may be fetched ahead has been fetched."""
    pipe = f"{folder}/memory"
    os.mkfifo(pipe)
    process = play(root, origin.port, certificate, pipe)
    with open(pipe, "rb", buffering=0) as reader:
        reader.read(MEGABYTE)
        peak, same = 0, 0
        while same < 10:  # nobody reads: it fetches ahead until it has enough
            time.sleep(0.2)
            now = highest_mark(process.pid)
            same = same + 1 if now == peak else 0
            peak = now
        for _ in range(20):
            reader.read(MEGABYTE)
        peak = max(peak, highest_mark(process.pid))
        process.terminate()
        while reader.read(MEGABYTE):
            pass
    process.wait()
    limit = 9e6 + READ_AHEAD
    text = f"{peak / 1e6:.1f} MB, {(peak - READ_AHEAD) / 1e6:.1f} without what it fetches ahead"
    return row("stream-memory", peak, text, "<= 9 MB + 16 MiB", peak <= limit)


def highest_mark(pid):
    with open(f"/proc/{pid}/status") as status:
        return max(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
