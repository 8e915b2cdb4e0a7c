"""Janus on loopback with its echo test, for the page pages_janus.html."""

import asyncio
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile

LIBRARIES = "/usr/lib/x86_64-linux-gnu/janus"
SETTINGS = """general: {{
  configs_folder = "{folder}"
  plugins_folder = "{libraries}/plugins"
  transports_folder = "{libraries}/transports"
  events_folder = "{libraries}/events"
  loggers_folder = "{libraries}/loggers"
  debug_level = 3
}}
media: {{ rtp_port_range = "{first}-{last}" }}
nat: {{ ice_enforce_list = "lo" }}
plugins: {{ disable = "{plugins}" }}
transports: {{ disable = "{transports}" }}
"""
WEB_SOCKETS = 'general: {{ json = "compact" ws = true ws_port = {port} ws_ip = "127.0.0.1" wss = false }}\n'


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def others(folder, kept):
    """Every library of a folder but one, as Janus wants them listed."""
    names = sorted(path.name for path in pathlib.Path(LIBRARIES, folder).glob("lib*.so"))
    return ",".join(name for name in names if kept not in name)


class Janus:
    is_installed = shutil.which("janus") is not None

    def __init__(self):
        self.port = free_port()
        self._folder = tempfile.TemporaryDirectory(prefix="janus-")
        self._process = None

    @property
    def address(self):
        return f"ws://127.0.0.1:{self.port}"

    async def start(self):
        folder = pathlib.Path(self._folder.name)
        settings = folder / "janus.jcfg"
        settings.write_text(
            SETTINGS.format(
                folder=folder, libraries=LIBRARIES, first=32000, last=32700,
                plugins=others("plugins", "echotest"), transports=others("transports", "websockets"),
            )
        )
        (folder / "janus.transport.websockets.jcfg").write_text(WEB_SOCKETS.format(port=self.port))
        log = open(folder / "log", "wb")
        self._process = subprocess.Popen(
            ["janus", "-C", str(settings), "-F", str(folder)], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        for _ in range(200):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            except OSError:
                if self._process.poll() is not None:
                    break
                await asyncio.sleep(0.05)
        raise RuntimeError("Janus does not start: " + (folder / "log").read_text(errors="replace")[-600:])

    def stop(self):
        if self._process and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        self._folder.cleanup()
