"""Name servers that are dead, slow or lying, under calls to a trunk that has a name."""

import socketserver
import tempfile
import threading

from gateway_lab import Lab, Trunk
from ground import *

# What the servers do with each name once its first answer is old.
NAMES = {"dead.example.com": "say nothing", "refused.example.com": "refuse", "garbage.example.com": "say what is no answer"}
SERVER = "127.0.0.53"
# Where forged answers lead.
FALSE = "127.0.0.66"
RIGHT = "127.0.0.1"


async def attack(ground):
    """Class E, names: dead and lying name servers.
    Evidence: cache poisoning by forged answers (RFC 5452), blocking look-ups in Kamailio and drachtio.
    Must hold: forged answers (wrong identifier, wrong question, from another host or port, more than was asked) lead no call
    elsewhere; a trunk whose address was known is called while the servers are dead, without waiting for them; one whose
    name is unknown is refused in time; and calls go on when the servers are back."""
    add_address(f"{SERVER}/8")
    server = NameServer()
    trunks = [Trunk(name.split(".")[0]) for name in NAMES]
    async with Lab("d14", trunks=trunks) as lab:
        await lab.stop()
        text, port = lab.configuration(), trunks[0].port
        for name, trunk in zip(NAMES, trunks):
            text = text.replace(f"sip:127.0.0.1:{trunk.port};", f"sip:{name}:{port};")
        lab.configuration = lambda: text
        lab.write_configuration()
        await lab.start()
        carrier = await hostile_carrier(lab, trunks[0].name)
        false = Datagrams(FALSE, port)
        app = await lab.app()
        count, slowest, blocked = 0, {}, []

        async def call(name, phase):
            nonlocal count
            count += 1
            asked = time.monotonic()
            call = await app.place(f"alice@{name}", "sip")
            first = await call.told("accepted", "ended", "error", seconds=20)
            slowest[phase] = max(slowest.get(phase, 0), time.monotonic() - asked)
            if first["type"] != "accepted":
                return blocked.append(f"{name}, {phase}: {first.get('failure') or first.get('error')}")
            await call.hang_up()
            await call.ended()

        for name in NAMES:
            await call(name, "forged answers first")
            require(server.asked.get(name), f"{name} was asked for: {server.asked}")
        # Until each was asked for again, and a while longer.
        server.mode = "broken"
        before = dict(server.asked)

        async def again(name):
            end = time.monotonic() + 30
            while server.asked[name] == before[name] and time.monotonic() < end:
                await call(name, NAMES[name])
                await asyncio.sleep(0.1)
            require(server.asked[name] > before[name], f"{name} is asked for again")
            for _ in range(ground.size(5, 300)):
                await call(name, NAMES[name])

        await asyncio.gather(*(again(name) for name in NAMES))
        server.mode = "right"
        for name in NAMES:
            await call(name, "back")
        reached = [data for _, data, _ in false.received]
        ground.promise("D14", len(blocked) + len(reached), "calls blocked or misled", "0", not blocked and not reached,
                       f"{count} calls, {sum(server.asked.values())} questions, {server.forged} forged answers; slowest: "
                       + ", ".join(f"{name} {value:.2f} s" for name, value in slowest.items())
                       + (f"; {blocked[:2]}" if blocked else ""))
        most = max(slowest.values())
        ground.promise("D14", f"{most:.2f}", "s until a call is answered", "<= 2.5", most <= 2.5, gate=False)
        require(len(carrier.calls) == count - len(blocked), "the trunk was called")
        false.close()
        await lab.idle()


class NameServer:
    """The network's only one, in the place of the machine's. mode: forged (false answers before the right one), broken,
    right."""

    def __init__(self):
        self.mode, self.asked, self.forged = "forged", {}, 0
        with tempfile.NamedTemporaryFile("w", suffix=".conf", delete=False) as file:
            file.write(f"nameserver {SERVER}\noptions timeout:1 attempts:2\n")
        subprocess.run(["mount", "--bind", file.name, "/etc/resolv.conf"], check=True)
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                outer.answer(*self.request, self.client_address)

        self._elsewhere = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._elsewhere.bind(("127.0.0.54", 53))
        self._other_port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._other_port.bind((SERVER, 0))
        server = socketserver.ThreadingUDPServer((SERVER, 53), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def answer(self, data, server, client):
        end, labels = 12, []
        while data[end]:
            labels.append(data[end + 1 : end + 1 + data[end]].decode("latin-1"))
            end += 1 + data[end]
        kind = int.from_bytes(data[end + 1 : end + 3], "big")
        name, question = ".".join(labels).lower(), data[12 : end + 5]
        hasAddress = name in NAMES and kind == 1
        if hasAddress:
            self.asked[name] = self.asked.get(name, 0) + 1

        def message(address, identifier=data[:2], question=question, code=0):
            record = b"\xc0\x0c\0\x01\0\x01\0\0\0\x01\0\x04" + socket.inet_aton(address) if hasAddress else b""
            return identifier + bytes([0x81, 0x80 | code]) + b"\0\x01" + (b"\0\x01" if record else b"\0\0") + (
                b"\0\0\0\0" + question + record)

        if self.mode == "broken":
            match name.split(".")[0]:
                case "garbage":
                    server.sendto(data[:2] + random.randbytes(40), client)
                case "refused":
                    server.sendto(data[:2] + b"\x81\x85\0\x01\0\0\0\0\0\0" + question, client)
            return
        if self.mode == "forged" and hasAddress:
            for _ in range(20):
                server.sendto(message(FALSE, random.randbytes(2)), client)
            other = b"\x04evil\x07example\x03com\0" + question[-4:]
            server.sendto(message(FALSE, question=other), client)
            self._elsewhere.sendto(message(FALSE), client)
            self._other_port.sendto(message(FALSE), client)
            self.forged += 23
        server.sendto(message(RIGHT), client)
