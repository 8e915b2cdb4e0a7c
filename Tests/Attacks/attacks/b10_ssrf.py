"""Whether an app or a foreign SIP host can lead the gateway into its own network."""

import contextlib
import socketserver
import tempfile
import threading

from gateway_lab import Lab, Trunk
from ground import *

# Addresses of this network that listen on 5060, UDP and TCP, and on 443 and 80: nothing may reach them.
INSIDE = ("127.0.0.1", "127.0.0.9", "127.1.2.3", "10.0.0.1", "10.255.0.1", "172.16.0.1", "192.168.0.1", "192.168.1.1",
          "169.254.169.254", "100.64.0.1", "198.18.0.1", "192.0.0.8", "::1", "fd00::1", "64:ff9b::7f00:1", "2002:7f00:1::1")
OUTSIDE = "8.8.8.8"
SPELLINGS = """
127.0.0.1 127.0.0.9 127.1.2.3 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 127.0.0.01 127.000.000.001
0.0.0.0 0 00.0.0.0 10.0.0.1 10.1 167772161 0xa000001 012.0.0.1 172.16.0.1 192.168.0.1 192.168.1.1 3232235777 0xc0a80101
169.254.169.254 2852039166 0xa9fea9fe 100.64.0.1 198.18.0.1 192.0.0.8 224.0.1.75 255.255.255.255
[::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:10.0.0.1] [::ffff:0a00:0001] [::127.0.0.1] [::7f00:1]
[::ffff:0:127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::127.0.0.1] [64:ff9b:1::7f00:1] [2002:7f00:1::1] [fd00::1] [fe80::1] [fe80::1%25lo]
[ff02::1] localhost LOCALHOST localhost. localhost.localdomain ip6-localhost 127.0.0.1. 127.0.0.1:5060 10.0.0.1:5060
127.0.0.1%00.example.com 127.0.0.1#@example.com example.com@127.0.0.1 127。0。0。1 ①②⑦.⓪.⓪.① 127.0.0.1%20 127.0.0.1;maddr=127.0.0.9
8.8.8.8;maddr=127.0.0.9 8.8.8.8;maddr=10.0.0.1;transport=tcp 8.8.8.8?Route=%3Csip:127.0.0.9;lr%3E 8.8.8.8;ttl=1;maddr=224.0.1.75
gateway.local db.internal nas.home.arpa a.localhost
""".split()
# Names of the resolver below, with what it says; a list is said one after the other.
NAMES = {
    "loop.example.com": ["127.0.0.9"], "ten.example.com": ["10.0.0.1"], "metadata.example.com": ["169.254.169.254"],
    "shared.example.com": ["100.64.0.1"], "zero.example.com": ["0.0.0.0"], "private.example.com": ["192.168.1.1"],
    "rebinding.example.com": ["8.8.4.4", "127.0.0.9"], "six.example.com": ["::1"], "mapped.example.com": ["::ffff:10.0.0.1"],
    "unique.example.com": ["fd00::1"], "nat64.example.com": ["64:ff9b::7f00:1"], "bench.example.com": ["198.18.0.1"],
    "service.example.com": [("SRV", "loop.example.com", 5060)],
}


async def attack(ground):
    """Class L, SSRF: targets that apps name, and addresses in what foreign SIP hosts answer.
    Evidence: CVE-2020-26262, CVE-2026-27624 (coturn by :: and mapped addresses), GHSA-j29p, TURN loopback bypasses.
    Must hold: of >= 60 spellings, names that resolve inside (rebinding too), and descriptions, Contacts, Record-Routes and
    redirections of a foreign host: no connection and no datagram at any listener inside."""
    for address in INSIDE:
        if not address.startswith("127.") and address != "::1":
            add_address(f"{address}/{128 if ':' in address else 32}")
    add_address(f"{OUTSIDE}/32")
    questions = serve_names()
    # The most that an operator can open: every host that is not inside.
    async with Lab("b10", trunks=[Trunk("first")], sip_hosts=["any"]) as lab:
        reached = []
        listeners = []
        for address in INSIDE:
            for port in (5060, 5061, 80, 443, 7078):
                listeners.append((f"{address}:{port}", Datagrams(address, port)))
                listeners.append(await tcp_listener(address, port, reached))
        foreign = HostileCarrier("foreign", 5060)
        await start_at(foreign, OUTSIDE)
        answers = iter_answers(foreign)
        app = await lab.app()
        tried = placed = 0
        for spelling in SPELLINGS + list(NAMES) + ["rebinding.example.com"]:
            for user in ("alice", "+46700000001"):
                tried += 1
                call = await app.place(f"{user}@{spelling}", kind="sip")
                if (await call.next(15))["type"] == "placed":
                    placed += 1
                    with contextlib.suppress(LabError):
                        await call.told("ended", "accepted", seconds=0.4)
                    if not call.first("ended"):
                        await call.hang_up()
                        await call.ended()
        # A foreign host that may be called, and what it says.
        for name, answer in answers:
            foreign.script = answer
            try:
                voice = await Voice.begin(app, f"alice@{OUTSIDE}", kind="sip")
            except LabError as problem:
                raise LabError(f"a foreign host is reached at all ({name}): {problem}") from None
            with contextlib.suppress(LabError):
                await voice.call.told("accepted", "ended", seconds=5)
            if not voice.call.first("ended"):
                # The bridge is at work when it sounds; nothing may come of an address that it must not use.
                with contextlib.suppress(LabError):
                    await voice.speaks(seconds=0.5)
                await voice.call.hang_up()
                await voice.call.ended()
            await voice.close()
            tried += 1
        require(foreign.requests("INVITE"), "the foreign host was called")
        require(len({name for name, _ in questions}) >= len(NAMES), f"the names were looked up: {questions[:9]}")
        foreign.close()
        await lab.idle(30)
        for name, listener in listeners:
            if listener is not None:
                reached += [f"UDP {name}: {data[:60]!r}" for _, data, _ in listener.received]
        ground.none("B10", reached, "connections or datagrams inside",
                    f"{tried} tries: {len(SPELLINGS)} spellings, {len(NAMES)} names ({len(questions)} questions to the "
                    f"resolver), {len(ANSWERS)} kinds of answer; {len(listeners)} listeners")


ANSWERS = {
    "description of 127.0.0.9": ("200", "c=IN IP4 127.0.0.9", {}),
    "description of 10.0.0.1": ("200", "c=IN IP4 10.0.0.1", {}),
    "description of ::1": ("200", "c=IN IP6 ::1", {}),
    "description of a mapped address": ("200", "c=IN IP6 ::ffff:10.0.0.1", {}),
    "early description of 169.254.169.254": ("183", "c=IN IP4 169.254.169.254", {}),
    "reports to 10.0.0.1": ("200", f"c=IN IP4 {OUTSIDE}\r\na=rtcp:7078 IN IP4 10.0.0.1", {}),
    "candidates inside": ("200", f"c=IN IP4 {OUTSIDE}\r\na=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\n"
                          "a=candidate:1 1 udp 2130706431 127.0.0.9 7078 typ host", {}),
    "Contact of 127.0.0.9": ("200", f"c=IN IP4 {OUTSIDE}", {"Contact": "<sip:x@127.0.0.9:5060>"}),
    "Record-Route of 10.0.0.1": ("200", f"c=IN IP4 {OUTSIDE}", {"Record-Route": "<sip:10.0.0.1:5060;lr>"}),
    "Record-Route of a name": ("200", f"c=IN IP4 {OUTSIDE}", {"Record-Route": "<sip:loop.example.com;lr>"}),
    "redirection to 127.0.0.9": ("302", "", {"Contact": "<sip:x@127.0.0.9:5060>"}),
    "redirection to a name": ("305", "", {"Contact": "<sip:x@ten.example.com;transport=tcp>"}),
}


def iter_answers(foreign):
    for name, (status, connection, fields) in ANSWERS.items():
        def script(message, reply, call, status=int(status), connection=connection, fields=fields):
            if message.method != "INVITE" or ";tag=" in message.one("to"):
                return False
            body = "\r\n".join(["v=0", f"o=- 1 1 IN IP4 {OUTSIDE}", "s=-", *connection.split("\r\n")[:1], "t=0 0",
                                "m=audio 7078 RTP/AVP 0", "a=rtpmap:0 PCMU/8000", *connection.split("\r\n")[1:], ""])
            text = response(message, status, f"foreign{len(foreign.raw)}", foreign, body=None if status >= 300 else body)
            for field, value in fields.items():
                text = re.sub(rb"Contact: [^\r]*\r\n", b"", text) if field == "Contact" else text
                text = text.replace(b"\r\nContent-Length", f"\r\n{field}: {value}\r\nContent-Length".encode(), 1)
            reply(text.replace(b"carrier@127.0.0.1", f"carrier@{OUTSIDE}".encode()))
            return True

        yield name, script


async def start_at(carrier, address):
    """Puts a carrier's sockets to another address than loopback's first."""
    carrier._rtp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    carrier._rtp.setblocking(False)
    carrier._rtp.bind((address, 0))
    loop = asyncio.get_running_loop()
    loop.add_reader(carrier._rtp.fileno(), carrier._hear)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setblocking(False)
    udp.bind((address, carrier.port))
    carrier._socket = udp
    loop.add_reader(udp.fileno(), carrier._readable)


async def tcp_listener(address, port, reached):
    def connected(reader, writer):
        reached.append(f"TCP {address}:{port}")
        writer.transport.abort()

    try:
        await asyncio.start_server(connected, address, port)
    except OSError as problem:
        raise LabError(f"no listener at {address}:{port}: {problem}") from None
    return f"{address}:{port}/tcp", None


def serve_names():
    """A name server of this network's own, in the place of the machine's.
    Returns the questions, as they come."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf", delete=False) as file:
        file.write("nameserver 127.0.0.53\noptions timeout:1 attempts:1\n")
    subprocess.run(["mount", "--bind", file.name, "/etc/resolv.conf"], check=True)
    questions, asked = [], {}

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            data, server = self.request
            end, labels = 12, []
            while data[end]:
                labels.append(data[end + 1 : end + 1 + data[end]].decode("latin-1"))
                end += 1 + data[end]
            kind = int.from_bytes(data[end + 1 : end + 3], "big")
            name = ".".join(labels).lower()
            questions.append((name, kind))
            records = []
            for value in said(name, kind, asked):
                records.append(b"\xc0\x0c" + kind.to_bytes(2, "big") + b"\0\x01\0\0\0\0" + len(value).to_bytes(2, "big")
                               + value)
            head = data[:2] + b"\x81\x80\0\x01" + len(records).to_bytes(2, "big") + b"\0\0\0\0"
            server.sendto(head + data[12 : end + 5] + b"".join(records), self.client_address)

    server = socketserver.ThreadingUDPServer(("127.0.0.53", 53), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return questions


def said(name, kind, asked):
    values = NAMES.get(name.removeprefix("_sip._udp."))
    if values is None:
        return []
    value = values[min(asked.get((name, kind), 0), len(values) - 1)]
    asked[name, kind] = asked.get((name, kind), 0) + 1
    if isinstance(value, tuple):
        if kind != 33 or not name.startswith("_sip._udp."):
            return []
        target = b"".join(bytes([len(label)]) + label.encode() for label in value[1].split(".")) + b"\0"
        return [b"\0\x01\0\x01" + value[2].to_bytes(2, "big") + target]
    if name.startswith("_") or kind != (28 if ":" in value else 1):
        return []
    return [socket.inet_pton(socket.AF_INET6 if ":" in value else socket.AF_INET, value)]
