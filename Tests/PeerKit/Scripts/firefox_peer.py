"""Somebody with Firefox on a machine of their own: a network namespace with or without an address besides loopback, in
which a gateway runs and a browser calls. What the calls play is recorded in the page.

  --landline PATH        the executable
  --address ADDRESS      the machine has this IPv4 address besides loopback; without it, loopback alone

Commands:
  dev        folder                            `landline dev` -> port
  serve      folder, certificate, key, host    `landline serve` over HTTPS with what `dev` wrote, apps' media and pages at
                                               `host` -> port, key (of the operator)
  begin      folder, microphone                a browser; microphone: whether it has one that it may use
  visit      address
  sign-in    key
  call       number                            types it and presses Call, by pointer
  shown      selector, pattern, seconds        waits until an element shows a text -> text, milliseconds (since the call)
  user-calls user, target                      another user calls one, with landline.js in the same page
  click      selector                          by pointer
  hang-up
  sounded    seconds                           waits until the call has been heard so long
  recorded   file                              -> seconds
  path                                         the way that the sound takes -> state, local, remote
  stranger   port                              sends to the gateway's UDP port as another machine on the cable -> sent
  sockets                                      -> rows: each UDP socket's address, and datagrams it has dropped
  evaluate   expression                        in the page -> value
  close
Events: ready, done (do and the values above), failed (reason).
"""

import argparse
import asyncio
import base64
import contextlib
import io
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import time

from firefox import Firefox
from peer_protocol import emit, serve, write_wav

# The other end of the cable, where another machine is.
NEIGHBOUR = "landline1"
OWN_MAC, NEIGHBOUR_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
INSIDE = "--inside"
RATE = 48000
# Of 16 bits: comfort noise and dither are quieter.
LOUD = 300

# Records what a call plays. Not by Web Audio, which Firefox does not start on a machine without a loudspeaker.
TAP = """() => {
  const judge = (globalThis.firefoxJudge = { chunks: [], connection: null });
  const Connection = globalThis.RTCPeerConnection;
  globalThis.RTCPeerConnection = class extends Connection {
    constructor(...values) {
      super(...values);
      this.addEventListener("track", ({ track }) => {
        const recorder = new MediaRecorder(new MediaStream([track]), { mimeType: "audio/ogg; codecs=opus" });
        // Of the last call alone.
        recorder.ondataavailable = ({ data }) => { if (judge.connection === this) judge.chunks.push(data); };
        recorder.start(100);
      });
    }
    setRemoteDescription(...values) {
      if (judge.connection !== this) judge.chunks = [];
      judge.connection = this;
      return super.setRemoteDescription(...values);
    }
  };
  judge.text = async () => {
    const bytes = new Uint8Array(await new Blob(judge.chunks).arrayBuffer());
    let text = "";
    for (let start = 0; start < bytes.length; start += 32768)
      text += String.fromCharCode(...bytes.subarray(start, start + 32768));
    return btoa(text);
  };
}"""
USER_CALLS = """(async (user, target) => {
  const { Landline } = await import("/landline.js");
  const body = JSON.stringify({ user });
  const answer = await fetch("/v1/phone-registrations", { method: "POST", headers: { "content-type": "application/json" }, body });
  const { application_key: applicationKey, token } = await answer.json();
  const landline = new Landline({ applicationKey, user, capabilities: ["calling"], credentials: () => ({ token }) });
  await landline.connect();
  globalThis.otherCall = landline.callUser(target);
})"""
NO_MICROPHONE = """() => {
  MediaDevices.prototype.getUserMedia = () => Promise.reject(new DOMException("none", "NotFoundError"));
  MediaDevices.prototype.enumerateDevices = () => Promise.resolve([]);
}"""
PATH = """(async () => {
  const rows = [...(await firefoxJudge.connection.getStats()).values()];
  const pair = rows.find((row) => row.type === "candidate-pair" && (row.selected || row.nominated) && row.state === "succeeded");
  const at = (id) => { const row = rows.find((row) => row.id === id); return row ? `${row.address ?? row.ip}:${row.port}` : null; };
  return { state: firefoxJudge.connection.connectionState, local: at(pair?.localCandidateId), remote: at(pair?.remoteCandidateId) };
})()"""


def network(address):
    """Loopback, and one cable to a neighbour where there is an address."""
    steps = [["ip", "link", "set", "lo", "up"]]
    if address:
        steps += [
            ["ip", "link", "add", "landline0", "address", OWN_MAC, "type", "veth", "peer", "name", NEIGHBOUR,
             "address", NEIGHBOUR_MAC],
            ["ip", "address", "add", f"{address}/24", "dev", "landline0"],
            ["ip", "link", "set", "landline0", "up"],
            ["ip", "link", "set", NEIGHBOUR, "up"],
            ["ip", "route", "add", "default", "via", address.rsplit(".", 1)[0] + ".254"],
        ]
    for step in steps:
        subprocess.run(step, check=True)


class Machine:
    def __init__(self, landline, address):
        self._landline = landline
        self._address = address
        self._gateways = []
        self._browser = None
        self._called = 0.0

    def __getattr__(self, name):
        if not name.startswith("do_"):
            raise AttributeError(name)
        action = getattr(self, name[3:].replace("-", "_") + "_", None)
        if action is None:
            raise AttributeError(name)

        async def run(**values):
            try:
                found = await action(**values)
            except Exception as problem:
                raise RuntimeError(f"{type(problem).__name__} {problem}\n{await self._view()}") from problem
            emit("done", do=name[3:], **(found or {}))

        return run

    async def _view(self):
        if not self._browser or not self._browser.context:
            return ""
        try:
            text = await self._browser.evaluate("`${location.href}\\n${document.body.innerText}`")
            return f"{text[:1500]}\n{self._browser.console[-5:]}"
        except Exception as problem:
            return f"no view: {problem}"

    # Gateways

    async def _start(self, arguments, folder, pattern):
        log = (pathlib.Path(folder) / f"{arguments[0]}.log").open("w+")
        process = await asyncio.create_subprocess_exec(
            self._landline, *arguments, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, "HOME": folder, "XDG_STATE_HOME": f"{folder}/xdg"},
        )
        self._gateways.append(process)
        end = time.monotonic() + 30
        while time.monotonic() < end and process.returncode is None:
            text = pathlib.Path(log.name).read_text()
            if found := re.search(pattern, text):
                return process, found
            await asyncio.sleep(0.05)
        raise RuntimeError(f"{arguments} does not start: {pathlib.Path(log.name).read_text()[-1500:]}")

    async def dev_(self, folder, origins=()):
        options = [part for origin in origins for part in ("--origin", origin)]
        _, found = await self._start(
            ["dev", "--state", f"{folder}/dev", "--port", "0", *options], folder, r"//127\.0\.0\.1:(\d+)/[\s\S]*\n  try ")
        return {"port": int(found[1])}

    async def serve_(self, folder, certificate, key, host):
        """The files of `dev`, as a configuration of one's own: over HTTPS, at an address that others reach."""
        await self.dev_(folder)
        process = self._gateways.pop()
        process.terminate()
        await process.wait()
        state = pathlib.Path(folder) / "dev"
        with socket.socket() as free:
            free.bind((host, 0))
            port = free.getsockname()[1]
        text = (state / "landline.yaml").read_text()
        text = re.sub(
            r"http:\n  bind: .*\n", f"http:\n  bind: {host}:{port}\n  certificate: {certificate}\n  key: {key}\n", text)
        text = re.sub(
            r"  app:\n(    - [\s\S]*?)(?=  trunk:)", f"  app:\n    - bind: {host}\n      port: 0\n", text)
        (state / "landline.yaml").write_text(text.replace("level: warning", "level: info"))
        await self._start(
            ["serve", "--config", str(state / "landline.yaml")], folder, r"(ready|listening|running|serves)")
        return {"port": port, "key": (state / "operator").read_text().strip()}

    async def stranger_(self, port):
        """A datagram as another machine on the cable sends it, though it names this machine's own address as the sender
        or another of the network."""
        target, source = (bytes.fromhex(text.replace(":", "")) for text in (OWN_MAC, NEIGHBOUR_MAC))
        # RFC 8489: a binding request that is well formed as far as anybody can tell without the password.
        body = struct.pack("!HHI12s", 1, 0, 0x2112A442, b"neighbour-01")
        sent = 0
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
            wire.bind((NEIGHBOUR, 0))
            for own in (self._address, re.sub(r"\d+$", "99", self._address)):
                udp = struct.pack("!HHHH", 5000, port, 8 + len(body), 0) + body
                head = struct.pack(
                    "!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, socket.inet_aton(own),
                    socket.inet_aton(self._address))
                total = sum(struct.unpack("!10H", head))
                total = (total & 0xFFFF) + (total >> 16)
                head = head[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + head[12:]
                wire.send(target + source + b"\x08\x00" + head + udp)
                sent += 1
        return {"sent": sent}

    async def sockets_(self):
        """Every UDP socket: its address, what waits in it and what it dropped."""
        rows = [line.split() for line in pathlib.Path("/proc/net/udp").read_text().splitlines()[1:]]

        def address(text):
            host, port = text.split(":")
            return f"{socket.inet_ntoa(bytes.fromhex(host)[::-1])}:{int(port, 16)}"

        return {"rows": [{"address": address(row[1]), "waiting": int(row[4].split(":")[1], 16),
                          "dropped": int(row[-1])} for row in rows]}

    # The browser

    async def begin_(self, folder, microphone=True, preferences=None):
        self._browser = Firefox(folder, preferences)
        await self._browser.start()
        await self._browser.before_pages(TAP)
        if not microphone:
            await self._browser.before_pages(NO_MICROPHONE)

    async def visit_(self, address):
        await self._browser.visit(address)

    async def sign_in_(self, key):
        await self._until("document.querySelector('input[type=password]') !== null", 10)
        await self._browser.evaluate("document.querySelector('input[type=password]').focus()")
        await self._browser.type(key + "\ue007")
        await self._until("document.querySelector('input[type=password]') === null", 10)

    async def call_(self, number):
        await self._until("document.querySelector('#registration')?.innerText.startsWith('ready')", 20)
        await self._browser.click("#target")
        await self._browser.evaluate("document.querySelector('#target').select()")
        await self._browser.type(number)
        await self._until("!document.querySelector('#call').disabled", 10)
        self._called = time.monotonic()
        await self._browser.click("#call")

    async def user_calls_(self, user, target):
        await self._until("document.querySelector('#registration')?.innerText.startsWith('ready')", 20)
        self._called = time.monotonic()
        await self._browser.evaluate(f"{USER_CALLS}({json.dumps(user)}, {json.dumps(target)})")

    async def click_(self, selector):
        await self._browser.click(selector)

    async def hang_up_(self):
        await self._browser.click("#hang-up")

    async def shown_(self, selector, pattern, seconds=10):
        seen = (
            f"(() => {{ const node = document.querySelector({json.dumps(selector)}); "
            f"return node && !node.closest('[hidden]') && new RegExp({json.dumps(pattern)}).test(node.innerText) "
            "? node.innerText : ''; })()"
        )
        text = await self._until(seen, seconds)
        return {"text": text, "milliseconds": round(1000 * (time.monotonic() - self._called))}

    async def _heard(self):
        """What the last call has played, from its first sound on: 16-bit samples, so many a second."""
        import av
        import numpy

        data = base64.b64decode(await self._browser.evaluate("firefoxJudge.text()"))
        parts = []
        # Before the recorder's first page of sound there is nothing to open.
        with contextlib.suppress(av.error.EOFError, av.error.InvalidDataError):
            with av.open(io.BytesIO(data)) as file:
                resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
                for frame in file.decode(audio=0):
                    parts += [part.to_ndarray().reshape(-1) for part in resampler.resample(frame)]
        samples = numpy.concatenate(parts) if parts else numpy.zeros(0, dtype="<i2")
        loud = numpy.flatnonzero(numpy.abs(samples.astype(int)) > LOUD)
        return samples[loud[0]:] if len(loud) else samples[:0]

    async def sounded_(self, seconds):
        end = time.monotonic() + seconds + 20
        while len(await self._heard()) < seconds * RATE:
            if time.monotonic() > end:
                raise RuntimeError("it is not heard so long")
            await asyncio.sleep(0.2)

    async def recorded_(self, file):
        samples = await self._heard()
        write_wav(file, RATE, samples)
        return {"seconds": len(samples) / RATE}

    async def path_(self):
        return await self._browser.evaluate(PATH)

    async def evaluate_(self, expression):
        return {"value": await self._browser.evaluate(expression)}

    async def _until(self, expression, seconds):
        end = time.monotonic() + seconds
        while not (found := await self._browser.evaluate(expression)):
            if time.monotonic() > end:
                raise RuntimeError(f"not within {seconds} s: {expression}")
            await asyncio.sleep(0.03)
        return found

    async def do_close(self):
        if self._browser:
            await self._browser.end()
        for process in self._gateways:
            if process.returncode is None:
                process.terminate()
        for process in self._gateways:
            try:
                await asyncio.wait_for(process.wait(), 10)
            except asyncio.TimeoutError:
                process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--landline", required=True)
    parser.add_argument("--address", default="")
    parser.add_argument(INSIDE, action="store_true")
    options = parser.parse_args()
    if not options.inside:
        own = [] if os.geteuid() == 0 else ["--map-root-user"]
        os.execvp("unshare", ["unshare", "--net", *own, sys.executable, *sys.argv, INSIDE])
    network(options.address)

    async def run():
        await serve(Machine(options.landline, options.address))

    asyncio.run(run())


if __name__ == "__main__":
    main()
