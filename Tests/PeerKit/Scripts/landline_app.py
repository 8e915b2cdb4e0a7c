"""An app of somebody else: speaks the gateway's `landline.v1` over a WebSocket, as its document says, and makes calls with
aiortc. One call at a time.

Commands:
  connect      port, path, origin             -> connected-socket
  register     user, application, device, and
               kind signature: secret, sequence; token: secret, nonce; credential; with features, calls for the user
               come in: listen, name, busy
  listen       on
  alert        early: with an offer; for the call that came in
  accept       headers; with an offer, unless alert had one
  decline      scope, reason
  transfer     to, kind, consult; complete and take_back go on with it
  resume                                      after connect: takes the session up again
  drop                                        -> dropped: the socket is gone without a word
  call         to, kind, headers, caller, anonymous, video, offer (instead of an own one)
  hangup, digits (digits: the gateway shall send them), press (digits: sent as events with the sound), hold, unhold,
  ping, bye, raw (message)
  and all of webrtc_audio for the call.
Events: got-TYPE with the members of each of the gateway's messages and `at` (seconds since 1970); socket-closed (code,
reason); those of webrtc_audio. Tokens and secrets are not shown.
"""

import argparse
import asyncio
import base64
import datetime
import hashlib
import hmac
import json
import time

from peer_protocol import emit, serve
from web_socket import Closed, WebSocket
from webrtc_audio import Peer, add_options

PROTOCOL = "landline.v1"
CLIENT = "landline-app-of-others/1"
TOKEN_SECONDS = 600
# The member of `to` that holds the text of a destination, by its kind.
TARGETS = {"phone": "number", "sip": "address", "user": "user", "conference": "conference"}


def signature(user, application, sequence, secret):
    """Base64 of SHA-1 over user, key, sequence and the secret as it is written."""
    return base64.b64encode(hashlib.sha1(f"{user}{application}{sequence}{secret}".encode()).digest()).decode()


def token(user, application, secret, nonce, prefix):
    """A token signed with a key of the day (HS256)."""
    now = int(time.time())
    day = datetime.datetime.fromtimestamp(now, datetime.timezone.utc).strftime("%Y%m%d")
    issuer = f"{prefix}{application}"

    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=")

    def text(value):
        return part(json.dumps(value, separators=(",", ":")).encode())

    head = text({"alg": "HS256", "kid": f"hkdfv1-{day}", "typ": "JWT"})
    body = text(
        {"iss": issuer, "sub": f"{issuer}/users/{user}", "iat": now, "exp": now + TOKEN_SECONDS, "nonce": nonce}
    )
    key = hmac.new(base64.b64decode(secret), day.encode(), hashlib.sha256).digest()
    return b".".join([head, body, part(hmac.new(key, head + b"." + body, hashlib.sha256).digest())]).decode()


class App:
    def __init__(self, options):
        self._options = options
        self._socket = None
        self._reading = None
        self._number = 0
        # What was asked for under which number, until the reply comes.
        self._asked = {}
        self._session = None
        self._token = None
        self._last_event = 0
        self._credential = None
        self._peer = None
        self._call = None
        # The offer of the call that came in was answered while it rings.
        self._has_offered = False

    # Messages

    async def _send(self, kind, **members):
        self._number += 1
        self._asked[self._number] = kind
        await self._socket.send(json.dumps({"type": kind, "id": self._number, **members}))

    async def _read(self, socket):
        try:
            while True:
                message = json.loads(await socket.receive())
                await self._take(message)
        except Closed as end:
            emit("socket-closed", code=end.code, reason=end.reason)
        except asyncio.CancelledError:
            raise
        except Exception as problem:  # a test reads the reason
            emit("failed", command="read", reason=f"{type(problem).__name__}: {problem}")

    async def _take(self, message):
        kind = message.pop("type")
        self._last_event = max(self._last_event, message.get("seq", 0))
        asked = self._asked.pop(message.get("id"), None)
        if kind in ("registered", "resumed"):
            self._session = message.get("session", self._session)
            self._token = message["resume"].pop("token")
            self._credential = message.get("credential", self._credential)
            if "credential" in message:
                message["credential"] = {**message["credential"], "secret": "…"}
        elif kind == "placed":
            self._call = message["call"]
            await self._peer.remote("answer", message["answer"])
        elif kind == "incoming":
            self._call = message["call"]
            self._peer = Peer(self._options)
            self._has_offered = False
        elif kind == "answer":
            await self._peer.remote("answer", message["sdp"])
        elif kind == "offer":
            await self._send("answer", call=message["call"], sdp=await self._peer.remote("offer", message["sdp"]))
        elif kind == "error" and asked == "call" or kind == "ended" and message["call"] == self._call:
            await self._peer.do_close()
        emit("got-" + kind, at=time.time(), asked=asked, **message)

    # Commands

    async def do_connect(self, port, path="/v1/connect", origin=""):
        self._socket = await WebSocket.open("127.0.0.1", port, path, PROTOCOL, origin)
        self._asked = {}
        self._reading = asyncio.ensure_future(self._read(self._socket))
        emit("connected-socket")

    async def do_register(
        self, user, application, device="test", kind="signature", secret="", sequence=1, nonce="",
        prefix="//rtc.sinch.com/applications/", features=(), **profile,
    ):
        if kind == "signature":
            proof = {"signature": signature(user, application, sequence, secret), "sequence": str(sequence)}
        elif kind == "token":
            proof = {"token": token(user, application, secret, nonce, prefix)}
        else:
            proof = {"credential": self._credential["id"], "secret": self._credential["secret"]}
        await self._send(
            "register", application=application, user=user, device=device, client=CLIENT, capabilities=["calling"],
            proof={"kind": kind, **proof}, **({"features": list(features)} if features else {}), **profile,
        )

    async def do_listen(self, on):
        await self._send("listen", on=on)

    async def do_alert(self, early=True):
        offer = {"offer": await self._peer.offer()} if early else {}
        self._has_offered = early
        await self._send("alert", call=self._call, **offer)

    async def do_accept(self, headers=None):
        offer = {} if self._has_offered else {"offer": await self._peer.offer()}
        await self._send("accept", call=self._call, **offer, **({"headers": headers} if headers else {}))

    async def do_decline(self, scope="user", reason="declined"):
        await self._send("decline", call=self._call, scope=scope, reason=reason)

    async def do_transfer(self, to, kind="phone", consult=False):
        members = {"consult": True} if consult else {}
        await self._send("transfer", call=self._call, to={"kind": kind, TARGETS[kind]: to}, **members)

    async def do_complete(self):
        await self._send("complete", call=self._call)

    async def do_take_back(self):
        await self._send("take-back", call=self._call)

    async def do_resume(self):
        await self._send("resume", session=self._session, token=self._token, last_event=self._last_event)

    async def do_drop(self):
        self._reading.cancel()
        self._socket.drop()
        emit("dropped")

    async def do_call(self, to, kind="phone", headers=None, caller=None, anonymous=False, offer=None, video=False):
        self._call = None
        self._peer = Peer(self._options)
        members = {"to": {"kind": kind, TARGETS[kind]: to}, "offer": offer or await self._peer.offer()}
        if headers:
            members["headers"] = headers
        if caller is not None:
            members["from"] = caller
        if anonymous:
            members["anonymous"] = True
        if video:
            members["video"] = True
        await self._send("call", **members)

    async def do_hangup(self):
        await self._send("hangup", call=self._call)

    async def do_digits(self, digits):
        await self._send("dtmf", call=self._call, digits=digits)

    async def do_press(self, digits, milliseconds=100, gap=60):
        await self._peer.do_dtmf(digits, milliseconds, gap)

    async def do_hold(self):
        await self._turn("sendonly")

    async def do_unhold(self):
        await self._turn("sendrecv")

    async def _turn(self, direction):
        await self._peer.do_direction(direction)
        await self._send("offer", call=self._call, sdp=await self._peer.offer())

    async def do_ping(self):
        await self._send("ping")

    async def do_bye(self):
        await self._socket.send(json.dumps({"type": "bye"}))

    async def do_raw(self, message):
        await self._socket.send(message)

    async def do_close(self):
        if self._peer is not None:
            await self._peer.do_close()
        if self._reading is not None:
            self._reading.cancel()
            self._socket.drop()

    def __getattr__(self, name):
        """The rest is the call's."""
        if name.startswith("do_") and self._peer is not None:
            return getattr(self._peer, name)
        raise AttributeError(name)


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    await serve(App(parser.parse_args()), keeps_time=True)


if __name__ == "__main__":
    asyncio.run(main())
