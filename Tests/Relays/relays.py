"""What is promised of calls from networks without UDP: the two networks, the relay between them, and the calls."""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import wave

import numpy
from gateway_lab import SECRET, Account, Lab, LabError, binary, lab_python, require, until
from scoreboard import row

HERE = pathlib.Path(__file__).resolve().parent
# Of TEST-NET-2 (RFC 5737), in networks of our own.
GATEWAY, APP = "198.51.100.1", "198.51.100.2"
TURN_PORT, TURNS_PORT = 3478, 5349
TURN_SECRET = "0123456789abcdef0123456789abcdef"
TCP, TLS = f"turn:{GATEWAY}:{TURN_PORT}?transport=tcp", f"turns:{GATEWAY}:{TURNS_PORT}"
# A voice that introduces itself.
NUMBER = "+46000000000"
# Says again what it hears.
ECHO = "+46000000202"
TALK_SECONDS = 8
# Root mean square of 16-bit samples: a voice, and no noise.
VOICE = 300
# What Chromium counts as energy of sound: the voice of a second has more.
ENERGY = 0.001
# A relay starts anew, or UDP is blocked, after so much of a call; how long sound may be away then.
BEFORE_SECONDS, BACK_SECONDS, BLOCKED_SECONDS = 6, 10, 15
RATE = 48000


def command(*words):
    subprocess.run(words, check=True, capture_output=True)


class Networks:
    """The gateway's network is this process's; that of the apps belongs to a process that does nothing."""

    def __enter__(self):
        command("ip", "link", "set", "lo", "up")
        self._holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/net")
        # It has its network once it is no longer in ours.
        while os.readlink(f"/proc/{self._holder.pid}/ns/net") == own:
            require(self._holder.poll() is None, "a network of the apps' own")
        self.inside = ["nsenter", f"--net=/proc/{self._holder.pid}/ns/net"]
        command("ip", "link", "add", "gateway", "type", "veth", "peer", "name", "app", "netns", str(self._holder.pid))
        for where, name, address in (([], "gateway", GATEWAY), (self.inside, "app", APP)):
            command(*where, "ip", "link", "set", "lo", "up")
            command(*where, "ip", "address", "add", f"{address}/24", "dev", name)
            command(*where, "ip", "link", "set", name, "up")
        command(*self.inside, "nft", "add", "table", "inet", "wall")
        return self

    def __exit__(self, *_):
        self._holder.kill()
        self._holder.wait()

    def lets_udp(self, isOpen):
        """Whether UDP passes the apps' end of the cable."""
        command(*self.inside, "nft", "flush", "table", "inet", "wall")
        if isOpen:
            return
        for hook, way in (("output", "oifname"), ("input", "iifname")):
            command(*self.inside, "nft", f"add chain inet wall {hook} {{ type filter hook {hook} priority 0; }}")
            command(*self.inside, "nft", f"add rule inet wall {hook} {way} app meta l4proto udp drop")


class Relay:
    """coturn beside the gateway, with the secret that they share and a certificate of an authority of our own."""

    def __init__(self, folder):
        self._folder = folder
        self.authority = folder / "authority.pem"
        self._certificate, self._key = folder / "turn.pem", folder / "turn.key"
        self.process = None

    def _certify(self):
        key, request = self._folder / "authority.key", self._folder / "turn.csr"
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        command("openssl", "req", "-x509", *curve, "-days", "2", "-subj", "/CN=An authority of tests",
                "-keyout", str(key), "-out", str(self.authority))
        command("openssl", "req", *curve, "-subj", "/CN=turn", "-addext", f"subjectAltName=IP:{GATEWAY}",
                "-keyout", str(self._key), "-out", str(request))
        command("openssl", "x509", "-req", "-in", str(request), "-CA", str(self.authority), "-CAkey", str(key),
                "-days", "2", "-copy_extensions", "copy", "-out", str(self._certificate))

    async def start(self):
        self._certify()
        self._log = self._folder / "turn.log"
        await self._run()

    async def restart(self):
        self.process.kill()
        await self.process.wait()
        await self._run()

    async def _run(self):
        with open(self._log, "ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                "turnserver", "-n", "--listening-ip", GATEWAY, "--relay-ip", GATEWAY,
                "--listening-port", str(TURN_PORT), "--tls-listening-port", str(TURNS_PORT),
                "--min-port", "50000", "--max-port", "50200", "--realm", "landline.test",
                "--use-auth-secret", "--static-auth-secret", TURN_SECRET,
                "--cert", str(self._certificate), "--pkey", str(self._key), "--no-dtls", "--no-cli",
                "--userdb", str(self._folder / "turn.db"), "--pidfile", str(self._folder / "turn.pid"),
                "--log-file", "stdout", "--simple-log", "--verbose", stdout=log, stderr=log, cwd=self._folder)

        async def listens():
            require(self.process.returncode is None, f"coturn runs; it said: {self._log.read_text()[-800:]}")
            for port in (TURN_PORT, TURNS_PORT):
                try:
                    _, writer = await asyncio.open_connection(GATEWAY, port)
                    writer.close()
                except OSError:
                    return None
            return True

        await until("coturn to listen", listens)

    async def stop(self):
        if self.process and self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
            await self.process.wait()

    @property
    def allocations(self):
        """How many relays were given."""
        return len(re.findall(r"ALLOCATE processed, success", self._log.read_text(errors="replace")))


class RelayLab(Lab):
    """A gateway that apps of another network reach, and that tells them of relays."""

    def __init__(self):
        super().__init__("relays", accounts=[Account("main", 10, environment="sandbox")], calls={"media-set-up": "6s"})
        self.http["bind"] = f"0.0.0.0:{self.http_port}"
        self.servers = []

    def configuration(self):
        text = super().configuration()
        media = f"  app:\n    - bind: {GATEWAY}\n"
        if self.servers:
            listed = ", ".join(f'"{each}"' for each in self.servers)
            media = f"  turn:\n    servers: [{listed}]\n    secret-file: turn.secret\n{media}"
        changed = text.replace("  app:\n    - bind: 127.0.0.1\n", media)
        require(changed != text, "the lab's configuration has the place for media")
        return changed

    def prepare(self):
        secret = self.folder / "turn.secret"
        secret.write_text(TURN_SECRET + "\n")
        secret.chmod(0o600)
        super().prepare()

    @property
    def origin(self):
        return f"http://{GATEWAY}:{self.http_port}"

    async def tell(self, servers):
        """Sessions from now on are told of these relays."""
        if servers == self.servers:
            return
        self.servers = servers
        self.write_configuration()
        before = len(self._reloads())
        self.signal(signal.SIGHUP)
        await until("the gateway to read its configuration again", lambda: len(self._reloads()) > before)

    def _reloads(self):
        return [line for line in self.log_lines()
                if "media.turn.servers" in line.get("metadata", {}).get("change", "") and line["message"] == "reloaded"]


class Call:
    def __init__(self, name, says, make, servers, has_udp=False, relays=True, is_heard=True, restarts=False,
                 is_blocked=False):
        self.name, self.says, self.make, self.servers = name, says, make, servers
        self.has_udp, self.relays, self.is_heard = has_udp, relays, is_heard
        # In the middle of the call: the relay starts anew, or UDP passes no more.
        self.restarts, self.is_blocked = restarts, is_blocked

    @property
    def is_disturbed(self):
        return self.restarts or self.is_blocked

    async def disturb(self, networks, relay):
        if self.restarts:
            await relay.restart()
        else:
            networks.lets_udp(False)


def write_tone(file):
    """A tone that wavers: a steady one would be taken for noise."""
    time = numpy.arange(2 * RATE) / RATE
    samples = 8000 * numpy.sin(2 * numpy.pi * 440 * time + 6 * numpy.sin(6 * numpy.pi * time))
    with wave.open(str(file), "wb") as out:
        out.setparams((1, 2, RATE, 0, "NONE", ""))
        out.writeframes(samples.astype("<i2").tobytes())


async def swift(lab, networks, relay, call):
    """A call of the Swift client. Returns whether it was heard, and what was said of it."""
    record = lab.folder / f"{call.name}.wav"
    number, talk, more = NUMBER, TALK_SECONDS, []
    if call.is_disturbed:
        tone = lab.folder / "tone.wav"
        write_tone(tone)
        number, more = ECHO, ["--play", str(tone), "--loop"]
        talk = BEFORE_SECONDS + (BLOCKED_SECONDS if call.is_blocked else BACK_SECONDS) + 2
    secret = lab.folder / "app.secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    trust = ["--authority", str(relay.authority)] if call.is_heard else []
    process = await asyncio.create_subprocess_exec(
        *networks.inside, binary(), "call", number, *more, "--url", lab.origin.replace("http", "ws"),
        "--application-key", lab.account("main").key, "--secret-file", str(secret), *trust, "--record", str(record),
        "--for", f"{talk}s", "--ndjson", env=lab._variables, cwd=lab.folder,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    if call.is_disturbed:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.wait(), BEFORE_SECONDS)
        await call.disturb(networks, relay)
    output, diagnostics = await asyncio.wait_for(process.communicate(), talk + 50)
    (lab.folder / f"{call.name}.out").write_bytes(output + diagnostics)
    with contextlib.suppress(FileNotFoundError, wave.Error, EOFError), wave.open(str(record)) as sound:
        samples = numpy.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(float)
        is_heard = loudness(samples) > VOICE
        if call.is_disturbed:
            # Before and at the end.
            is_heard = all(loudness(each) > VOICE for each in (samples[: BEFORE_SECONDS * RATE], samples[-2 * RATE :]))
        return is_heard, (output + diagnostics).decode(errors="replace")
    return False, (output + diagnostics).decode(errors="replace")


def loudness(samples):
    """Of the loudest second: a voice pauses, and comes late where a relay has to be found."""
    if not len(samples):
        return 0.0
    seconds = numpy.array_split(samples, max(1, len(samples) // RATE))
    return max(float(numpy.sqrt((each**2).mean())) for each in seconds)


async def chromium(lab, networks, relay, call):
    """A call of landline.js."""
    process = await asyncio.create_subprocess_exec(
        *networks.inside, lab_python(), str(HERE / "page.py"), lab.origin, lab.account("main").key, SECRET,
        ECHO if call.is_blocked else NUMBER, str(ENERGY), str(TALK_SECONDS), str(BLOCKED_SECONDS if call.is_blocked else 0),
        env=lab._variables, cwd=lab.folder,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    if call.is_blocked:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.stdout.readline(), 60)
        await call.disturb(networks, relay)
    output, diagnostics = await asyncio.wait_for(process.communicate(), 90)
    said = (output + diagnostics).decode(errors="replace")
    (lab.folder / f"{call.name}.out").write_text(said)
    require(process.returncode == 0, f"the page's process ends with 0; it said: {said[-2000:]}")
    found = json.loads(output)
    if call.relays and found["heard"]:
        require(found["local"]["candidateType"] == "relay", f"the relay carries it: {found}")
        require(found["local"]["relayProtocol"] == ("tls" if TLS in call.servers else "tcp"), f"by the way named: {found}")
    return found["heard"], said


ALL = [
    Call("swift-direct", "the Swift client, with UDP", swift, [TCP, TLS], has_udp=True, relays=False),
    Call("chromium-direct", "landline.js, with UDP", chromium, [TCP, TLS], has_udp=True, relays=False),
    Call("swift-tcp", "the Swift client, over TURN/TCP", swift, [TCP]),
    Call("chromium-tcp", "landline.js, over TURN/TCP", chromium, [TCP]),
    Call("swift-tls", "the Swift client, over TURN/TLS", swift, [TLS]),
    Call("chromium-tls", "landline.js, over TURN/TLS", chromium, [TLS]),
    Call("swift-dead-first", "the Swift client, where the first relay does not answer", swift,
         [f"turn:{GATEWAY}:9?transport=tcp", TLS]),
    Call("swift-restart", "the Swift client, whose relay starts anew in the middle of a call", swift, [TCP],
         restarts=True),
    Call("swift-blocked", "the Swift client, where UDP is blocked in the middle of a call", swift, [TCP], has_udp=True,
         is_blocked=True),
    Call("chromium-blocked", "landline.js, where UDP is blocked in the middle of a call", chromium, [TCP], has_udp=True,
         is_blocked=True),
    Call("swift-untrusted", "the Swift client gives its sound to no relay that it cannot trust", swift, [TLS],
         relays=False, is_heard=False),
    Call("swift-none", "without relays there is no sound, and the call says so", swift, [], relays=False, is_heard=False),
]


async def one(call, lab, networks, relay):
    await lab.tell(call.servers)
    networks.lets_udp(call.has_udp)
    before = relay.allocations
    heard, said = await call.make(lab, networks, relay, call)
    given = relay.allocations - before
    require(heard == call.is_heard, f"{'heard' if call.is_heard else 'not heard'}; it said: {said[-1500:]}")
    require(bool(given) == call.relays, f"{'a relay' if call.relays else 'no relay'} was given, not {given}")
    if not call.is_heard:
        require("network.media" in said, f"the app is told why; it said: {said[-1500:]}")


async def run(calls):
    broken = []
    with Networks() as networks:
        async with RelayLab() as lab:
            relay = Relay(lab.folder)
            await relay.start()
            try:
                for call in calls:
                    try:
                        await one(call, lab, networks, relay)
                        print(f"ok   {call.name:20} {call.says}", flush=True)
                    except (LabError, OSError, asyncio.TimeoutError, subprocess.CalledProcessError) as problem:
                        broken.append(call.name)
                        print(f"FAIL {call.name:20} {call.says}: {problem or type(problem).__name__}", flush=True)
                secrets = [each for each in (TURN_SECRET,) if each in lab.log_text()]
                require(not secrets, "the gateway's log has no secret of relays")
            finally:
                await relay.stop()
    row("F11", figure=len(broken), unit="calls not as promised", target="= 0", passed=not broken, gate=True,
        detail=", ".join(broken) or f"{len(calls)} calls: Swift and Chromium, over TURN/TCP, TURN/TLS and without")
    return broken
