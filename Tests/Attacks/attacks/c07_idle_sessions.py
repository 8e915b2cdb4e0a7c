"""Sessions that wait."""

import itertools
import pathlib
import resource
import ssl
import tempfile

from gateway_lab import CLIENT, PROTOCOL, SECRET, Lab, Trunk, signature
from ground import *
from web_socket import WebSocket

# Sessions before memory is looked at, and those that are opened side by side.
WARM, SIDE_BY_SIDE = 300, 20


async def attack(ground):
    """Class M, what a session without a call takes.
    Evidence: 65.5 kB that Kamailio takes for a connection with TLS.
    Must hold: each idle session over TLS takes 25,000 bytes at most, and all of them still answer."""
    count = ground.size(1000, 9500)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    folder = pathlib.Path(tempfile.mkdtemp())
    pair = certificate(folder)
    trust = ssl.create_default_context(cafile=pair[0])
    async with Lab("c07", trunks=[Trunk("first")], tls=pair) as lab:
        port, process = await https_gateway(lab, folder, pair)
        account = lab.account("main")
        numbers = itertools.count(1)
        sessions = []

        async def begin():
            number = next(numbers)
            web = await WebSocket.open(
                "127.0.0.1", port, "/v1/connect", PROTOCOL, ssl=trust,
                local_addr=(f"127.0.{3 + number // 100}.{1 + number % 100}", 0))
            user, sequence = f"idle{number}", lab.next_sequence()
            await web.send(json.dumps({
                "type": "register", "id": 1, "application": account.key, "user": user, "device": "d", "client": CLIENT,
                "capabilities": ["calling"],
                "proof": {"kind": "signature", "signature": signature(user, account.key, sequence, SECRET),
                          "sequence": str(sequence)}}))
            answer = json.loads(await web.receive())
            require(answer["type"] == "registered", f"{user} is registered: {answer}")
            sessions.append(web)

        async def begin_all(wanted):
            async def some():
                while len(sessions) + SIDE_BY_SIDE <= wanted:
                    await begin()

            await asyncio.gather(*(some() for _ in range(SIDE_BY_SIDE)))

        def resident():
            return int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * resource.getpagesize()

        await begin_all(WARM)
        first, before = len(sessions), resident()
        await begin_all(WARM + count)
        each = (resident() - before) / (len(sessions) - first)
        answered = 0
        for web in sessions:
            await web.send(json.dumps({"type": "ping", "id": 2}))
        for web in sessions:
            answered += json.loads(await web.receive())["type"] == "pong"
        ground.promise("C7", round(each), "bytes each", "<= 25000", each <= 25_000 and answered == len(sessions),
                       f"{len(sessions)} sessions over TLS, {answered} answer", gate=False)
        require(answered == len(sessions), f"all sessions answer: {answered} of {len(sessions)}")
