"""Apps of somebody else that make many calls at a time: the same `landline.v1` as landline_app, each call with a name.

Commands (session and call are names of the test's choice):
  connect       session, port                          -> SESSION:connected
  register      session, user, application, secret, sequence
  resume        session (after connect)
  drop, bye     session
  call          session, call, to, kind, headers, caller, anonymous, video, offer, and sound: none (an offer whose media never
                comes), silent (keys, no packets), talking; change: fingerprint, profile
  hangup, hold  call
  digits        call, digits
  impair        call, loss, jitter, late, deaf
  hush          call: its microphone is taken away
Events: SESSION:TYPE and CALL:TYPE with the members of each of the gateway's messages.
"""

import argparse
import asyncio
import json

from aiortc import rtcdtlstransport
from landline_app import CLIENT, PROTOCOL, TARGETS, signature
from peer_protocol import emit, serve
from web_socket import Closed, WebSocket
from webrtc_audio import Peer, add_options

# A kind of SRTP that OpenSSL knows and no gateway takes.
FOREIGN_PROFILE = b"SRTP_ARIA_128_CTR_HMAC_SHA1_80"


class Session:
    def __init__(self, name):
        self.name = name
        self.socket = None
        self.reading = None
        self.number = 0
        # Names of calls by the number of their request.
        self.asked = {}
        self.id = None
        self.token = None
        self.last_event = 0

    async def send(self, kind, **members):
        self.number += 1
        await self.socket.send(json.dumps({"type": kind, "id": self.number, **members}))
        return self.number


class Call:
    def __init__(self, name, session, peer, request):
        self.name = name
        self.session = session
        self.peer = peer
        self.request = request
        self.id = None

    async def place(self):
        # The reply may come before `send` is back.
        self.session.asked[self.session.number + 1] = self.name
        await self.session.send("call", **self.request)

    async def place_again(self, seconds):
        await asyncio.sleep(seconds)
        await self.place()


class Apps:
    def __init__(self, options):
        self._options = options
        self._sessions = {}
        self._calls = {}
        self._by_id = {}
        self._offer = None
        # What has been begun and is not waited for: the loop itself keeps no task alive.
        self._later = set()

    # Messages

    async def _read(self, session, socket):
        try:
            while True:
                await self._take(session, json.loads(await socket.receive()))
        except Closed as end:
            emit(f"{session.name}:closed", code=end.code, reason=end.reason)
        except asyncio.CancelledError:
            raise
        except Exception as problem:  # a test reads the reason
            emit("failed", command="read", reason=f"{type(problem).__name__}: {problem}")

    async def _take(self, session, message):
        kind = message.pop("type")
        session.last_event = max(session.last_event, message.get("seq", 0))
        name = session.asked.pop(message.get("id"), None)
        call = self._calls.get(name) if name else self._by_id.get(message.get("call"))
        if kind in ("registered", "resumed"):
            session.id = message.get("session", session.id)
            session.token = message["resume"].pop("token")
            emit(f"{session.name}:{kind}")
        elif call is None:
            if kind not in ("pong", "done"):
                emit(f"{session.name}:{kind}", **message)
        else:
            await self._tell(call, kind, message)

    async def _tell(self, call, kind, message):
        error = message.get("error", {}) if kind == "error" and call.id is None else {}
        if error.get("code") == "sip.congestion" and "retry_after" in error:
            # The whole table asks in one moment: whoever is asked to come later does.
            self._later.add(asyncio.ensure_future(call.place_again(error["retry_after"])))
            return
        if kind == "placed":
            call.id = message["call"]
            self._by_id[call.id] = call
            if call.peer:
                await call.peer.remote("answer", message["answer"])
        elif kind == "offer":
            await call.session.send("answer", call=call.id, sdp=await call.peer.remote("offer", message["sdp"]))
        elif kind == "answer":
            await call.peer.remote("answer", message["sdp"])
        elif kind in ("error", "ended") and call.peer:
            # What is told goes before what takes time.
            self._later.add(asyncio.ensure_future(call.peer.do_close()))
        if kind != "quality":
            emit(f"{call.name}:{kind}", **message)

    # Sessions

    async def do_connect(self, session, port):
        known = self._sessions.setdefault(session, Session(session))
        known.socket = await WebSocket.open("127.0.0.1", port, "/v1/connect", PROTOCOL, "")
        known.reading = asyncio.ensure_future(self._read(known, known.socket))
        emit(f"{session}:connected")

    async def do_register(self, session, user, application, secret, sequence):
        proof = {
            "kind": "signature",
            "signature": signature(user, application, sequence, secret),
            "sequence": str(sequence),
        }
        await self._sessions[session].send(
            "register", application=application, user=user, device=session, client=CLIENT, capabilities=["calling"],
            proof=proof,
        )

    async def do_resume(self, session):
        known = self._sessions[session]
        await known.send("resume", session=known.id, token=known.token, last_event=known.last_event)

    async def do_drop(self, session):
        known = self._sessions[session]
        known.reading.cancel()
        known.socket.drop()
        emit(f"{session}:dropped")

    async def do_bye(self, session):
        await self._sessions[session].socket.send(json.dumps({"type": "bye"}))

    # Calls

    async def do_call(
        self, session, call, to, kind="phone", headers=None, caller=None, anonymous=False, offer=None, sound="none",
        change="", video=False,
    ):
        peer = None
        if sound == "none":
            if self._offer is None:
                self._offer = await Peer(self._options).offer()
            text = offer or self._offer
        else:
            peer = Peer(self._options)
            if sound == "silent":
                peer._transceiver.sender.replaceTrack(None)
            if change == "profile":
                own = rtcdtlstransport.SRTP_PROFILES[-1]
                peer._transceiver.sender.transport._srtp_profiles = [
                    rtcdtlstransport.SRTPProtectionProfile(
                        libsrtp_profile=own.libsrtp_profile, openssl_profile=FOREIGN_PROFILE,
                        key_length=own.key_length, salt_length=own.salt_length,
                    )
                ]
            text = await peer.offer()
        if change == "fingerprint":
            lines = text.split("\r\n")
            text = "\r\n".join(turned(line) if line.startswith("a=fingerprint:") else line for line in lines)
        members = {"to": {"kind": kind, TARGETS[kind]: to}, "offer": text}
        if headers:
            members["headers"] = headers
        if caller is not None:
            members["from"] = caller
        if anonymous:
            members["anonymous"] = True
        if video:
            members["video"] = True
        self._calls[call] = Call(call, self._sessions[session], peer, members)
        await self._calls[call].place()

    async def do_hangup(self, call):
        known = self._calls[call]
        await known.session.send("hangup", call=known.id)

    async def do_digits(self, call, digits):
        known = self._calls[call]
        await known.session.send("dtmf", call=known.id, digits=digits)

    async def do_impair(self, call, loss=0, jitter=0, late=0, deaf=0):
        await self._calls[call].peer.do_impair(loss, jitter, late=late, deaf=deaf)

    async def do_hush(self, call):
        self._calls[call].peer._transceiver.sender.replaceTrack(None)

    async def do_close(self):
        for call in self._calls.values():
            if call.peer:
                await call.peer.do_close()
        for session in self._sessions.values():
            if session.reading:
                session.reading.cancel()
                session.socket.drop()


def turned(line):
    """A fingerprint with its first digit changed."""
    head, _, value = line.partition(" ")
    return f"{head} {'1' if value[0] == '0' else '0'}{value[1:]}"


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    await serve(Apps(parser.parse_args()))


if __name__ == "__main__":
    asyncio.run(main())
