"""rtpengine in the place of the gateway, steered by its own control protocol: for comparison."""

import asyncio
import random
import re
import socket

from gateway_lab import LabError, require

ANSWER_SECONDS = 5


def bencode(value):
    if isinstance(value, dict):
        return b"d" + b"".join(bencode(key) + bencode(value[key]) for key in sorted(value)) + b"e"
    if isinstance(value, list):
        return b"l" + b"".join(map(bencode, value)) + b"e"
    data = value.encode()
    return b"%d:%s" % (len(data), data)


def text_of(data, name):
    """The text that a dictionary's answer has under a name; None where it has none."""
    found = re.search(rb"%d:%s(\d+):" % (len(name), name.encode()), data)
    return data[found.end() : found.end() + int(found.group(1))].decode() if found else None


class Engine:
    def __init__(self, lab):
        self.lab = lab
        self._port = lab.ports.take()
        # One request at a time, since answers are read in the order of requests.
        self._turn = asyncio.Lock()

    async def start(self):
        first, last = 20_400, 23_399
        self._process = await self.lab.started(
            "rtpengine", "--config-file=none", "-f", "-E", "-L", "3", "-i", "127.0.0.1", "-n", f"127.0.0.1:{self._port}", "-m",
            str(first), "-M", str(last), "--table=-1", "--pidfile=/dev/null", stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.connect(("127.0.0.1", self._port))
        for _ in range(50):
            try:
                await self._ask(command="ping")
                return
            except (LabError, OSError):
                await asyncio.sleep(0.1)
        raise LabError("rtpengine does not answer")

    def close(self):
        self._socket.close()

    async def _ask(self, **terms):
        cookie = f"{random.getrandbits(64):x}"
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self._socket, cookie.encode() + b" " + bencode(
            {name.replace("_", "-"): value for name, value in terms.items()}))
        try:
            answer = await asyncio.wait_for(loop.sock_recv(self._socket, 65535), ANSWER_SECONDS)
        except asyncio.TimeoutError:
            raise LabError("rtpengine does not answer") from None
        require(text_of(answer, "result") in ("ok", "pong"), f"rtpengine agrees: {answer[:300]}")
        return text_of(answer, "sdp")

    async def connect(self, line):
        await line.peer.do("alone")
        await line.peer.do("offer")
        offer = (await line.peer.event("offer"))["sdp"]
        async with self._turn:
            to_trunk = await self._ask(
                command="offer", call_id=line.name, from_tag="app", sdp=offer, ICE="remove", transport_protocol="RTP/AVP",
                rtcp_mux=["demux"], codec={"mask": ["opus"], "transcode": ["PCMU"]})
            answer = "\r\n".join([
                "v=0", "o=trunk 7 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                f"m=audio {line.sound.told_port} RTP/AVP 0", "a=rtpmap:0 PCMU/8000", "a=ptime:20", "a=sendrecv", ""])
            to_app = await self._ask(
                command="answer", call_id=line.name, from_tag="app", to_tag="trunk", sdp=answer, ICE="force", DTLS="passive",
                rtcp_mux=["require"])
        await line.through(int(re.search(r"m=audio (\d+)", to_app).group(1)))
        await line.peer.do("remote", type="answer", sdp=to_app)
        await line.peer.event("connected", 30)
        if line.trunk_network is None:
            line.sound.target = ("127.0.0.1", int(re.search(r"m=audio (\d+)", to_trunk).group(1)))

    async def disconnect(self, line):
        line.is_kept = True
        async with self._turn:
            await self._ask(command="delete", call_id=line.name, from_tag="app")
