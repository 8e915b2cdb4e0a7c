"""A gateway of one's own for scripts that attack it or break what it stands on: the real binary on loopback.

    async with Lab("kill", trunks=[Trunk("first")]) as lab:
        carrier = await lab.carrier("first")
        app = await lab.app("main")
        call = await app.call("+46700000001")
        await call.told("accepted")
        await call.hang_up()
        await call.ended()
        await lab.idle()

At its end everything that it started is stopped, by its number and by nothing else. The binary is LANDLINE_BINARY, else
the release build. Ports come from a range that no other lab of this machine has.
"""

import asyncio
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from sip_carrier import Carrier
from web_socket import Closed, WebSocket

# As in landline_app, which cannot be had without aiortc.
PROTOCOL = "landline.v1"
CLIENT = "landline-lab/1"
TARGETS = {"phone": "number", "sip": "address", "user": "user", "conference": "conference"}

# Starts of ranges of ports: below and above those that the system gives to others by itself.
SLOTS = (61000, 62400, 63800, 16500, 17900, 10800, 9400, 6600)
SLOT_PORTS = 1400
# The first ports of a range are handed out one by one, the rest carries the trunks' sound.
NAMED_PORTS = 100
# As in Config/landline.yaml.
WIDE_PORTS = (16384, 32767)
# Base64 of 16 bytes.
SECRET = "AAECAwQFBgcICQoLDA0ODw=="
CALLER = "+46101234567"
# Begins with the only country code that has a price.
NUMBER = "+46700000001"
# 0.60 a minute and 0.05 a call, by the second.
DECK = "prefix,name,rate,fee,initial,increment\n46,Sweden,0.60,0.05,1,1\n"
MICRO = 1_000_000


def signature(user, application, sequence, secret):
    """Base64 of SHA-1 over user, key, sequence and the secret as it is written."""
    return base64.b64encode(hashlib.sha1(f"{user}{application}{sequence}{secret}".encode()).digest()).decode()


def cost(seconds):
    """Micro-units of an answered call of so many begun seconds."""
    return 50_000 + 10_000 * seconds


def billed(milliseconds):
    """Seconds that are paid for: each that was begun."""
    return max(1, (milliseconds + 999) // 1000)


class LabError(Exception):
    """What was expected did not happen."""


def require(condition, what):
    if not condition:
        raise LabError(f"not so: {what}")


async def until(what, check, seconds=10.0, every=0.02):
    """The first value of `check` that is neither None nor False."""
    end = time.monotonic() + seconds
    while True:
        value = check()
        if asyncio.iscoroutine(value):
            value = await value
        if value is not None and value is not False:
            return value
        if time.monotonic() > end:
            raise LabError(f"{what}: not within {seconds} s")
        await asyncio.sleep(every)


def binary():
    given = os.environ.get("LANDLINE_BINARY")
    if given:
        return given
    root = pathlib.Path(__file__).resolve().parents[3]
    shown = subprocess.run(
        ["swift", "build", "-c", "release", "--show-bin-path"], cwd=root, capture_output=True, text=True, check=True
    )
    return str(pathlib.Path(shown.stdout.strip()) / "landline")


class Ports:
    """A range of ports; held by a socket on its first one for as long as this lives."""

    def __init__(self):
        self._lock = None
        for start in random.sample(SLOTS, len(SLOTS)):
            lock = socket.socket()
            try:
                lock.bind(("127.0.0.1", start))
            except OSError:
                lock.close()
                continue
            self._lock, self._start, self._next = lock, start, start + 1
            return
        raise LabError("no range of ports is free")

    def take(self):
        while self._next < self._start + NAMED_PORTS:
            port, self._next = self._next, self._next + 1
            if is_free(port, socket.SOCK_DGRAM) and is_free(port, socket.SOCK_STREAM):
                return port
        raise LabError("no port is left")

    @property
    def media(self):
        return self._start + NAMED_PORTS, self._start + SLOT_PORTS - 1

    def close(self):
        self._lock.close()


def is_free(port, kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        if kind == socket.SOCK_STREAM:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Trunk:
    """An entry of `trunks`; without a port it gets one of the lab's."""

    def __init__(self, name, port=None, transport="udp", priority=10, lines=()):
        self.name, self.port, self.transport, self.priority = name, port, transport, priority
        self.lines = list(lines)


class Account:
    """An account, and the application of the same name that it pays for."""

    def __init__(self, name="main", credit=10, environment="production", caps=(), plan=True):
        self.name, self.credit, self.environment, self.caps, self.plan = name, credit, environment, list(caps), plan
        self.key = "5f0e7a52-8c1d-4c0a-9d3e-" + format(sum((i + 1) * 7919 * b for i, b in enumerate(name.encode())), "012x")


class Lab:
    def __init__(
        self, name="lab", *, trunks=(), accounts=None, calls=None, http=None, listeners=("udp", "tcp"), tls=None,
        log_level="info", more="", folder=None, deck=DECK, limits=True, wide=False,
        sip_hosts=(), countries="any", velocity=(),
    ):
        """calls, http: members of these sections; tls: (certificate, key) for a TLS listener; more: further sections
        as text; limits: whether the door's limits of one host are lifted, since all of a lab's apps are one host;
        sip_hosts: which hosts calls to SIP addresses may reach; countries, velocity: which countries may be called, and
        rules of an hour, None for what holds without them; wide: whether trunks' sound gets the whole range of ports that
        the gateway has by itself, at an address of its own."""
        self.name = name
        self.trunks = list(trunks)
        self.accounts = list(accounts) if accounts is not None else [
            Account("main"), Account("trial", 1, environment="sandbox"),
        ]
        self.calls = dict(calls or {})
        self.http = dict(http or {})
        self.listeners, self.tls, self.log_level, self.more, self.deck, self.limits = (
            listeners, tls, log_level, more, deck, limits,
        )
        self.sip_hosts, self.countries, self.velocity = list(sip_hosts), countries, velocity
        self._own_folder = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix=f"landline-{name}-"))
        self.state = self.folder / "state"
        self.ports = Ports()
        self.http_port = self.ports.take()
        self.sip_port = self.ports.take()
        self.tls_port = self.ports.take()
        self.app_media_port = self.ports.take()
        # No other lab has this address.
        self.media_host = f"127.77.{self.http_port >> 8}.{self.http_port & 0xFF}" if wide else "127.0.0.1"
        self.media_ports = WIDE_PORTS if wide else self.ports.media
        self.operator_key = "lab-operator-key-0123456789abcdef"
        self.process = None
        self.starts = 0
        self._carriers = {}
        self._processes = []
        self._apps = []
        self._sequence = int(time.time() * 1000)
        # Put before the gateway's own command: faketime, strace.
        self.wrapper = []
        self.variables = {}
        # (soft, hard) of RLIMIT_NOFILE.
        self.descriptors = None
        for trunk in self.trunks:
            trunk.port = trunk.port or self.ports.take()

    # The configuration

    def configuration(self):
        first, last = self.media_ports
        http = {"bind": f"127.0.0.1:{self.http_port}", **self.http}
        lines = ["node: lab", f"state: {self.state}", "http:"] + [f"  {key}: {value}" for key, value in http.items()]
        if self.limits:
            lines += [
                "  limits:", "    connections: 10000", "    connections-per-host: 10000",
                "    requests-per-second: 100000", "    burst: 100000", "    registrations-per-second: 1000",
            ]
        lines += [
            "drain:", "  timeout: 2s", "log:", f"  level: {self.log_level}", "media:",
            "  app:", "    - bind: 127.0.0.1", f"      port: {self.app_media_port}",
            "  trunk:", f"    - bind: {self.media_host}", f"      ports: {first + first % 2}-{last}", "listeners:",
        ]
        for transport in self.listeners:
            lines += [f"  {transport}:", f"    transport: {transport}", f"    bind: 127.0.0.1:{self.sip_port}"]
        if self.tls:
            lines += [
                "  tls:", "    transport: tls", f"    bind: 127.0.0.1:{self.tls_port}",
                f"    certificate: {self.tls[0]}", f"    key: {self.tls[1]}",
            ]
        if self.calls:
            lines += ["calls:"] + [f"  {key}: {value}" for key, value in self.calls.items()]
        if self.trunks:
            lines.append("trunks:")
        for trunk in self.trunks:
            lines += [
                f"  {trunk.name}:", f"    uri: sip:127.0.0.1:{trunk.port};transport={trunk.transport}",
                f"    priority: {trunk.priority}",
            ]
            if not any(line.startswith("ping:") for line in trunk.lines):
                lines.append("    ping: 0s")
            lines += [f"    {line}" for line in trunk.lines]
        lines.append("environments:")
        for environment in ("production", "sandbox"):
            lines += [f"  {environment}:", f"    ledger: {environment}.ledger"]
            names = [trunk.name for trunk in self.trunks] if environment == "production" else []
            if environment == "sandbox":
                lines.append("    sandbox-numbers: true")
            lines.append(f"    sip-hosts: [{', '.join(self.sip_hosts)}]")
            if self.countries is not None:
                lines.append(f"    countries: {self.countries}")
            if self.velocity is not None:
                lines.append(f"    velocity: [{', '.join(self.velocity)}]")
            lines += [f"    trunks: [{', '.join(names)}]", "    operators:", f"      {environment}-admin:",
                      f"        key-file: {environment}.key", "    applications:"]
            for account in self.accounts:
                if account.environment == environment:
                    lines += [
                        f"      {account.name}:", f"        key: {account.key}", f"        secret: {SECRET}",
                        f"        account: {account.name}", f"        caller-numbers: [\"{CALLER}\"]",
                    ]
            if lines[-1] == "    applications:":
                lines.pop()
        return "\n".join(lines) + "\n" + self.more

    def write_configuration(self, text=None):
        """At once: a gateway that reads it meanwhile finds the old file or the new one, and none that is half written."""
        new = self.folder / "landline.yaml.new"
        new.write_text(self.configuration() if text is None else text)
        new.replace(self.folder / "landline.yaml")

    def account(self, name):
        return next(account for account in self.accounts if account.name == name)

    def operator(self, environment="production"):
        return f"{environment}-{self.operator_key}"

    def prepare(self):
        """Writes the configuration and makes the ledgers."""
        self.state.mkdir(parents=True, exist_ok=True)
        for environment in ("production", "sandbox"):
            key = self.folder / f"{environment}.key"
            key.write_text(self.operator(environment) + "\n")
            key.chmod(0o600)
        self.write_configuration()
        deck = self.folder / "deck.csv"
        deck.write_text(self.deck)
        for environment in ("production", "sandbox"):
            first = True
            for account in self.accounts:
                if account.environment != environment:
                    continue
                self.command("account", "create", account.name, "--currency", "EUR", *account.caps,
                             environment=environment)
                if first:
                    # Prices since a minute ago: no clock of a test comes before them.
                    self.command("deck", "import", str(deck), "--name", "retail", "--version", "1", "--currency",
                                 "EUR", "--activate-from", "now", environment=environment)
                    self.command("plan", "create", "retail", "retail", environment=environment)
                    first = False
                if account.plan:
                    self.command("account", "set-plan", account.name, "retail", environment=environment)
                if account.credit:
                    self.command("topup", account.name, str(account.credit), "--key", "first",
                                 environment=environment)

    @property
    def _variables(self):
        """A home of its own: what a gateway notes there for later commands is none of the user's."""
        return {**os.environ, "HOME": str(self.folder), "XDG_STATE_HOME": str(self.home_state)}

    @property
    def home_state(self):
        return self.folder / "home"

    # The command line

    def ledger(self, environment="production"):
        return self.state / f"{environment}.ledger"

    def run(self, *arguments, environment="production", seconds=60):
        """A command on a ledger, whatever its end: (status, output, diagnostics)."""
        variables = {**self._variables, "LANDLINE_DATABASE": str(self.ledger(environment)), "LC_ALL": "C.UTF-8",
                     "LANDLINE_CONTROL": str(self.state / "control.sock"), "USER": "lab"}
        result = subprocess.run(
            [binary(), *arguments], env=variables, cwd=self.folder, capture_output=True, text=True, timeout=seconds
        )
        return result.returncode, result.stdout, result.stderr

    def command(self, *arguments, environment="production", seconds=60):
        status, output, diagnostics = self.run(*arguments, environment=environment, seconds=seconds)
        require(status == 0, f"landline {' '.join(arguments)} ends with 0, not {status}: {diagnostics} {output}")
        return output

    def balance(self, name="main"):
        """(posted, held) in micro-units."""
        account = self.account(name)
        rows = json.loads(self.command("balance", name, "--json", environment=account.environment))
        row = find_row(rows, name)
        return micro(row, "posted", "booked", "balance"), micro(row, "held", "holds")

    def open_holds(self, environment="production"):
        rows = json.loads(self.command("hold", "list", "--json", environment=environment))
        return find_list(rows)

    def holds(self, environment="production"):
        rows = json.loads(self.command("hold", "list", "--all", "--limit", "100000", "--json",
                                       environment=environment))
        return find_list(rows)

    def history(self, name="main"):
        account = self.account(name)
        rows = json.loads(self.command("history", name, "--limit", "100000", "--json",
                                       environment=account.environment))
        return find_list(rows)

    def verify(self):
        """Every rule of the books, of all environments."""
        for environment in ("production", "sandbox"):
            if self.ledger(environment).exists():
                self.command("verify", "--full", environment=environment, seconds=120)

    # The gateway

    async def start(self, ready=True, seconds=15.0):
        require(self.process is None or self.process.returncode is not None, "one gateway at a time")
        self.starts += 1
        limits = self.descriptors

        def child():
            if limits:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)

        self.log_path = self.folder / f"gateway-{self.starts}.log"
        log = open(self.log_path, "wb")
        self.started_at = time.monotonic()
        self.process = await asyncio.create_subprocess_exec(
            *self.wrapper, binary(), "serve", "--config", str(self.folder / "landline.yaml"), stdout=log, stderr=log,
            cwd=self.folder, env={**self._variables, **self.variables}, preexec_fn=child if limits else None,
            start_new_session=True,
        )
        log.close()
        if ready:
            await self.is_ready(seconds)

    async def is_ready(self, seconds=15.0):
        async def look():
            require(self.process.returncode is None, f"the gateway runs; it said: {self.log_tail()}")
            try:
                status, _, _ = await self.http_request("GET", "/readyz", seconds=2)
            except (OSError, asyncio.TimeoutError, LabError, asyncio.IncompleteReadError):
                return None
            return status == 200

        await until(f"a gateway that is ready; it said: {self.log_tail()}", look, seconds, every=0.01)

    @property
    def pid(self):
        """Of the gateway itself, below what was put before it."""
        pid = self.process.pid
        while self.wrapper:
            try:
                if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == os.path.basename(os.path.realpath(binary())):
                    break
                children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            except OSError:
                break
            if not children:
                break
            pid = int(children[0])
        return pid

    def signal(self, number):
        os.kill(self.pid, number)

    async def kill(self):
        """As the machine would: no word to anybody."""
        self.signal(signal.SIGKILL)
        await self.process.wait()

    async def stop(self, seconds=20.0):
        """Asks it to end, and waits.
        Returns its status."""
        if self.process is None or self.process.returncode is not None:
            return None if self.process is None else self.process.returncode
        with contextlib.suppress(ProcessLookupError):
            self.signal(signal.SIGTERM)
        try:
            return await asyncio.wait_for(self.process.wait(), seconds)
        except asyncio.TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self.signal(signal.SIGKILL)
            await self.process.wait()
            raise LabError(f"a gateway that was asked to end still runs after {seconds} s: {self.log_tail()}") from None

    def log_text(self):
        return self.log_path.read_text(errors="replace") if self.starts else ""

    def log_tail(self, lines=12):
        return "\n".join(self.log_text().splitlines()[-lines:]) if self.starts else ""

    def log_lines(self):
        """The log as objects."""
        found = []
        for line in self.log_text().splitlines():
            with contextlib.suppress(json.JSONDecodeError):
                found.append(json.loads(line))
        return found

    @property
    def is_running(self):
        return self.process is not None and self.process.returncode is None

    def descriptors_open(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def sockets(self):
        """Inodes of its sockets."""
        found = set()
        for name in os.listdir(f"/proc/{self.pid}/fd"):
            with contextlib.suppress(OSError):
                target = os.readlink(f"/proc/{self.pid}/fd/{name}")
                if target.startswith("socket:["):
                    found.add(target[8:-1])
        return found

    def streams_open(self):
        """TCP connections that it holds, whatever their state."""
        own, count = self.sockets(), 0
        for family in ("tcp", "tcp6"):
            for line in pathlib.Path(f"/proc/{self.pid}/net/{family}").read_text().splitlines()[1:]:
                cells = line.split()
                count += cells[9] in own and cells[3] != "0A"
        return count

    def resident_bytes(self):
        return int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    # What it says of itself

    async def http_request(self, method, path, body=None, headers=None, environment="production", seconds=10.0,
                           bearer=True, port=None):
        """(status, headers by lower-case name, body as text); raises OSError where nobody answers."""
        async def exchange():
            reader, writer = await asyncio.open_connection("127.0.0.1", port or self.http_port)
            try:
                data = b"" if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
                lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.http_port}", "Connection: close",
                         f"Content-Length: {len(data)}"]
                if bearer:
                    lines.append(f"Authorization: Bearer {self.operator(environment)}")
                if body is not None:
                    lines.append("Content-Type: application/json")
                lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
                writer.write("\r\n".join(lines + ["", ""]).encode() + data)
                await writer.drain()
                return await reader.read()
            finally:
                writer.close()

        answer = await asyncio.wait_for(exchange(), seconds)
        head, _, rest = answer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        if not lines[0].startswith("HTTP/1.1 "):
            raise LabError(f"no answer of HTTP: {answer[:80]!r}")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        if fields.get("transfer-encoding", "").lower() == "chunked":
            rest = unchunked(rest)
        return int(lines[0].split()[1]), fields, rest.decode("utf-8", "replace")

    async def status(self, environment="production"):
        return json.loads((await self.http_request("GET", "/v1/status", environment=environment))[2])

    async def metrics(self):
        """Values by name with labels as written."""
        text = (await self.http_request("GET", "/metrics"))[2]
        return {name: float(value) for name, value in re.findall(r"^([a-z_]+(?:\{[^}]*\})?) (\S+)$", text, re.M)}

    async def metric(self, name):
        """The sum over all labels."""
        return sum(value for key, value in (await self.metrics()).items() if key.partition("{")[0] == name)

    async def live_calls(self):
        return int((await self.status())["live_calls"])

    async def idle(self, seconds=10.0, books=True, media=True):
        """No call, port or hold is left, and the books are in order."""
        async def calls():
            return await self.live_calls() == 0

        await until("the end of every call", calls, seconds)

        left = None

        async def legs():
            nonlocal left
            left = await self.metric("landline_media_legs")
            return left == 0

        try:
            if media:
                await until("the end of every leg of media", legs, seconds)
        except LabError as problem:
            raise LabError(f"{problem}: {left:.0f} are left") from None
        await until("the end of every hold",
                    lambda: not self.open_holds() and not self.open_holds("sandbox"), seconds, every=0.2)
        if books:
            self.verify()

    # Peers

    async def carrier(self, name=None, port=None, **settings):
        """The carrier behind a trunk, or one at a port of its own; see Carrier."""
        trunk = next((trunk for trunk in self.trunks if trunk.name == name), None)
        carrier = Carrier(name or "carrier", port or (trunk.port if trunk else self.ports.take()), **settings)
        await carrier.start()
        self._carriers.setdefault(carrier.port, []).append(carrier)
        return carrier

    async def app(self, account="main", user="alice", device=None, features=()):
        """A registered app without sound."""
        app = App(self, self.account(account), user, device or f"device-{len(self._apps)}")
        app.features = list(features)
        self._apps.append(app)
        await app.connect()
        await app.register()
        return app

    def next_sequence(self):
        self._sequence += 1
        return self._sequence

    async def started(self, *arguments, cwd=None, **more):
        """Another program, which ends with the lab."""
        process = await asyncio.create_subprocess_exec(*arguments, cwd=cwd or self.folder, start_new_session=True, **more)
        self._processes.append(process)
        return process

    async def sipp(self, scenario, *arguments, target=None, port=None):
        """SIPp with a scenario's file or one of its own (`uas`, `uac`)."""
        kind = "-sf" if os.path.exists(scenario) else "-sn"
        port = port or self.ports.take()
        command = ["sipp", kind, str(scenario), "-i", "127.0.0.1", "-p", str(port), "-mi", "127.0.0.1", "-mp",
                   str(self.ports.take()), "-cp", str(self.ports.take()), "-nostdin", "-skip_rlimit", *arguments]
        if target:
            command.append(f"127.0.0.1:{target}")
        return await self.started(*command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL)

    async def peer(self, script, *arguments):
        """A script of PeerKit that reads commands and writes events: `landline_app.py` makes a call with sound."""
        peer = ScriptPeer(script, arguments)
        await peer.start(self)
        return peer

    # Beginning and end

    async def __aenter__(self):
        try:
            self.prepare()
            await self.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, kind, problem, trace):
        if problem is not None and not isinstance(problem, asyncio.CancelledError):
            print(f"--- {self.name}: the gateway said:\n{self.log_tail(25)}", flush=True)
        await self.close(complain=kind is None)

    async def close(self, complain=False):
        for app in self._apps:
            app.drop()
        for process in self._processes:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        problem = None
        try:
            await self.stop()
        except LabError as late:
            problem = late
        for carriers in self._carriers.values():
            for carrier in carriers:
                carrier.close()
        self.ports.close()
        if self._own_folder and not os.environ.get("LANDLINE_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)
        if problem and complain:
            raise problem


def unchunked(data):
    out = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        count = int(size.split(b";")[0] or b"0", 16)
        if count == 0:
            break
        out, data = out + data[:count], data[count + 2 :]
    return out


def find_list(value):
    """The rows of a table that was printed as JSON."""
    if isinstance(value, list):
        return value
    for member in value.values():
        if isinstance(member, list):
            return member
    return []


def find_row(value, name):
    if isinstance(value, dict) and not any(isinstance(member, list) for member in value.values()):
        return value
    for row in find_list(value):
        if name in row.values():
            return row
    raise LabError(f"no row of {name} in {value}")


def micro(row, *names):
    """A decimal amount of a row, in micro-units."""
    for name in names:
        if name in row:
            value = row[name]
            if isinstance(value, dict):
                value = value.get("amount", value.get("value"))
            if name.endswith("_micro") or isinstance(value, int):
                return int(value)
            whole, _, part = str(value).lstrip("-").partition(".")
            sign = -1 if str(value).startswith("-") else 1
            return sign * (int(whole or 0) * MICRO + int((part + "000000")[:6]))
    raise LabError(f"none of {names} in {row}")


class App:
    """An app without sound: what it offers has an address where nobody answers. A call goes as far as `accepted` and is
    billed from the answer on; it ends when `calls.media-set-up` is over, unless somebody hangs up before."""

    def __init__(self, lab, account, user, device):
        self._lab, self.account, self.user, self.device = lab, account, user, device
        self._socket = None
        self._reading = None
        self._number = 0
        self._asked = {}
        self._calls = {}
        self.closed = asyncio.Event()
        self.close_code = None
        self.session = None
        self.token = None
        # Parts of the protocol that it says it knows.
        self.features = []
        self.last_event = 0
        self._registered = None
        # Messages that belong to no call and answer no question.
        self.others = []

    async def connect(self):
        self._socket = await WebSocket.open("127.0.0.1", self._lab.http_port, "/v1/connect", PROTOCOL)
        self.closed.clear()
        self._reading = asyncio.ensure_future(self._read(self._socket))

    async def ask_to_register(self, seconds=10.0):
        """The gateway's answer to a signature with a sequence of its own."""
        sequence = self._lab.next_sequence()
        return await self.ask(
            "register", seconds, application=self.account.key, user=self.user, device=self.device, client=CLIENT,
            capabilities=["calling"], **({"features": self.features, "listen": False} if self.features else {}),
            proof={"kind": "signature", "signature": signature(self.user, self.account.key, sequence, SECRET),
                   "sequence": str(sequence)},
        )

    async def register(self, seconds=10.0):
        answer = await self.ask_to_register(seconds)
        require(answer["type"] == "registered", f"{self.user} is registered: {answer}")
        self._take_session(answer)

    async def resume(self, seconds=10.0):
        answer = await self.ask("resume", seconds, session=self.session, token=self.token, last_event=self.last_event)
        require(answer["type"] == "resumed", f"{self.user} is back: {answer}")
        self._take_session(answer)

    def _take_session(self, answer):
        self.session = answer.get("session", self.session)
        self.token = answer["resume"]["token"]

    async def _read(self, web):
        try:
            while True:
                self._take(json.loads(await web.receive()))
        except Closed as end:
            self.close_code = end.code
        except asyncio.CancelledError:
            return
        finally:
            self.closed.set()
            for waiting in self._asked.values():
                if not isinstance(waiting, Call) and not waiting.done():
                    waiting.set_exception(LabError(f"the socket is gone with {self.close_code}"))
            for waiting in list(self._asked.values()) + list(self._calls.values()):
                if isinstance(waiting, Call):
                    waiting.take({"type": "gone"})

    def _take(self, message):
        message["at"] = time.monotonic()
        self.last_event = max(self.last_event, message.get("seq", 0))
        asked = self._asked.pop(message.get("id"), None)
        if isinstance(asked, Call):
            if message["type"] == "placed":
                asked.id = message["call"]
                self._calls[asked.id] = asked
            asked.take(message)
        elif asked is not None:
            if not asked.done():
                asked.set_result(message)
        elif message.get("call") in self._calls:
            call = self._calls[message["call"]]
            call.take(message)
            if message["type"] == "ended":
                del self._calls[message["call"]]
        else:
            self.others.append(message)

    async def ask(self, kind, seconds=10.0, **members):
        """Sends a request.
        Returns its answer."""
        self._number += 1
        answer = asyncio.get_running_loop().create_future()
        self._asked[self._number] = answer
        await self._socket.send(json.dumps({"type": kind, "id": self._number, **members}))
        return await asyncio.wait_for(answer, seconds)

    async def tell(self, kind, **members):
        self._number += 1
        await self._socket.send(json.dumps({"type": kind, "id": self._number, **members}))

    async def raw(self, text):
        await self._socket.send(text)

    async def place(self, to=NUMBER, kind="phone", offer=None, **members):
        """Asks for a call; what the gateway says to it are events of the call."""
        self._number += 1
        call = Call(self)
        self._asked[self._number] = call
        call.asked_at = time.monotonic()
        await self._socket.send(json.dumps(
            {"type": "call", "id": self._number, "to": {"kind": kind, TARGETS[kind]: to},
             "offer": offer or silent_offer(self._number), **members}))
        return call

    async def call(self, to=NUMBER, kind="phone", seconds=10.0, **members):
        """A call that was placed; a refusal is a LabError."""
        call = await self.place(to, kind, **members)
        first = await call.next(seconds)
        require(first["type"] == "placed", f"the call is placed: {first}")
        return call

    def drop(self):
        """The network is gone."""
        if self._reading:
            self._reading.cancel()
        if self._socket:
            self._socket.drop()


class Call:
    def __init__(self, app):
        self.app = app
        self.id = None
        self.asked_at = None
        self.messages = []
        self._news = asyncio.Event()
        self._seen = 0

    def take(self, message):
        message.setdefault("at", time.monotonic())
        self.messages.append(message)
        self._news.set()

    async def next(self, seconds=10.0):
        """The next message that was not looked at yet."""
        end = time.monotonic() + seconds
        while self._seen >= len(self.messages):
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), end - time.monotonic())
            except asyncio.TimeoutError:
                raise LabError(f"nothing more of the call within {seconds} s; so far: {self.kinds}") from None
        self._seen += 1
        return self.messages[self._seen - 1]

    @property
    def kinds(self):
        return [message["type"] for message in self.messages]

    def first(self, *kinds):
        return next((message for message in self.messages if message["type"] in kinds), None)

    async def told(self, *kinds, seconds=10.0):
        """The first message of one of these types, which may have come already."""
        end = time.monotonic() + seconds
        while True:
            found = self.first(*kinds)
            if found:
                return found
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), max(0.001, end - time.monotonic()))
            except asyncio.TimeoutError:
                raise LabError(f"none of {kinds} within {seconds} s; so far: {self.kinds}") from None

    async def ended(self, seconds=10.0):
        """The call's last word: `ended`, or `error` where it was never placed."""
        return await self.told("ended", "error", seconds=seconds)

    async def accepted(self, seconds=10.0):
        found = await self.told("accepted", "ended", "error", seconds=seconds)
        require(found["type"] == "accepted", f"the call is answered: {found}")
        return found

    async def hang_up(self):
        await self.app.tell("hangup", call=self.id)


def failure(message):
    """The code of what went wrong: `gw.funds`."""
    details = message.get("failure") or message.get("error") or {}
    return details.get("code")


def silent_offer(number=1):
    """What a browser offers for sound alone; nothing answers at its address."""
    fingerprint = ":".join(["4A"] * 32)
    return "\r\n".join([
        "v=0", f"o=- {4611686018427000000 + number} 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
        "a=msid-semantic: WMS", "m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8 110 126", "c=IN IP4 127.0.0.1",
        "a=rtcp:9 IN IP4 0.0.0.0", "a=candidate:1 1 udp 2122260223 127.0.0.1 9 typ host generation 0",
        f"a=ice-ufrag:lab{number}x", f"a=ice-pwd:landlineLabPasswordOfCall{number}", "a=ice-options:trickle",
        f"a=fingerprint:sha-256 {fingerprint}", "a=setup:actpass", "a=mid:0", "a=sendrecv", "a=rtcp-mux",
        "a=rtpmap:111 opus/48000/2", "a=fmtp:111 minptime=10;useinbandfec=1", "a=rtpmap:0 PCMU/8000",
        "a=rtpmap:8 PCMA/8000", "a=rtpmap:110 telephone-event/48000", "a=rtpmap:126 telephone-event/8000", "",
    ])


class ScriptPeer:
    """A script that reads commands as lines of JSON and writes events so: `{"do": …}`, `{"event": …}`."""

    def __init__(self, script, arguments):
        self._script, self._arguments = script, arguments
        self.events = []
        self._news = asyncio.Event()

    async def start(self, lab):
        path = pathlib.Path(__file__).resolve().parent / self._script
        self.process = await lab.started(
            lab_python(), str(path), *self._arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=1 << 22,
        )
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self):
        while line := await self.process.stdout.readline():
            with contextlib.suppress(json.JSONDecodeError):
                event = json.loads(line)
                event["seen_at"] = time.monotonic()
                self.events.append(event)
                self._news.set()

    async def do(self, command, **members):
        self.process.stdin.write(json.dumps({"do": command, **members}).encode() + b"\n")
        await self.process.stdin.drain()

    async def event(self, name, seconds=15.0, after=0):
        """The first event of that name from the number `after` on."""
        end = time.monotonic() + seconds
        while True:
            for event in self.events[after:]:
                if event["event"] == name:
                    return event
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), max(0.001, end - time.monotonic()))
            except asyncio.TimeoutError:
                seen = [event["event"] for event in self.events]
                raise LabError(f"no {name} within {seconds} s; so far: {seen[-12:]}") from None

    async def registered(self, lab, account="main", user="alice"):
        """landline_app.py: connected and registered."""
        await self.do("connect", port=lab.http_port)
        await self.event("connected-socket")
        await self.do("register", user=user, application=lab.account(account).key, secret=SECRET,
                      sequence=lab.next_sequence())
        return await self.event("got-registered")


def lab_python():
    """The one that has aiortc."""
    folder = os.environ.get("LANDLINE_PEERS") or pathlib.Path(__file__).resolve().parents[3] / ".build-peers"
    python = pathlib.Path(folder) / "bin/python"
    return str(python) if python.exists() else sys.executable
