"""A gateway that is none, for landline_js.py: its scenarios are what a gateway of ours does seldom or never. Each of them
checks what the library makes of it and raises what is wrong."""

import asyncio
import json
import time

PATIENCE_SECONDS = 12


def require(good, problem):
    if not good:
        raise AssertionError(problem)


class FakeGateway:
    def __init__(self, schema):
        self._schema = schema
        self._reset()

    def _reset(self):
        self._sockets = []
        self._problems = []
        # (seconds, socket, message) of all that came.
        self._heard = []
        self._news = asyncio.Event()
        self._registrations = 0
        self._resumptions = 0
        # What first messages are answered with, in place of success: close codes, or functions.
        self._greetings = []
        self._answers = True

    # The socket

    def opened(self, socket):
        self._sockets.append((time.monotonic(), socket))
        socket.on_message(lambda text: self._take(socket, text))
        socket.on_close(lambda code, reason: None)
        self._news.set()

    def _take(self, socket, text):
        message = json.loads(text)
        kind = message["type"]
        found = self._schema.problems(message, {"$ref": f"#/components/messages/app.{kind}/payload"})
        self._problems += [f"{kind}: {each}" for each in found]
        self._heard.append((time.monotonic(), socket, message))
        self._news.set()
        if kind in ("register", "resume") and self._greetings:
            return self._greetings.pop(0)(socket, message)
        if kind == "register":
            self._registrations += 1
            self._send(socket, type="registered", id=message["id"], session=f"s{self._registrations}", user="alice",
                       version="fake", resume={"token": f"t{self._registrations}-0", "seconds": 30})
        elif kind == "resume":
            self._resumptions += 1
            self._send(socket, type="resumed", id=message["id"], last_request=0, calls=[],
                       resume={"token": f"t{self._registrations}-{self._resumptions}", "seconds": 30})
        elif kind == "ping" and self._answers:
            self._send(socket, type="pong", id=message["id"])

    def _send(self, socket=None, **message):
        (socket or self._sockets[-1][1]).send(json.dumps(message))

    def _close(self, code):
        def close(socket, message):
            asyncio.ensure_future(socket.close(code=code, reason=""))

        return close

    async def _until(self, found, what):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            value = found()
            if asyncio.iscoroutine(value):
                value = await value
            if value:
                return value
            require(time.monotonic() < deadline, f"no {what}; came: {[message for _, _, message in self._heard]}")
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), 0.05)
            except asyncio.TimeoutError:
                pass

    def _all(self, kind):
        return [message for _, _, message in self._heard if message["type"] == kind]

    async def _came(self, kind, count=1):
        await self._until(lambda: len(self._all(kind)) >= count, f"{count} {kind}")
        return self._all(kind)[count - 1]

    # The page

    async def play(self, name, call):
        self._reset()
        await call("client", key="key", secret="c2VjcmV0", credentials="callback")
        await call("connect")
        await getattr(self, "_" + name)(call)
        await call("stop")
        await self._until(lambda: self._has(call, state="stopped"), "end")
        require(not self._problems, f"{self._problems}")

    async def _has(self, call, /, **facts):
        found = await call("facts")
        return all(found[name] == value for name, value in facts.items())

    async def _placed(self, call):
        """A call that is up."""
        await call("call", to="+46701234567", microphone=False)
        request = await self._came("call")
        answer = await call("farAnswer", sdp=request["offer"])
        self._send(type="placed", id=request["id"], seq=1, call="C1", answer=answer)
        self._send(type="accepted", seq=2, call="C1")
        self._send(type="established", seq=3, call="C1")
        await self._until(lambda: self._has(call, call="established"), "established")

    # Scenarios

    async def _repeats(self, call):
        """Events are told again after a loss; the token is another one each time."""
        await self._placed(call)
        for number in (1, 2):
            await self._sockets[-1][1].close(code=4000, reason="")
            resume = await self._came("resume", number)
            require(resume["last_event"] == 3, f"the last event that arrived: {resume}")
            require(resume["token"] == f"t1-{number - 1}", f"the latest token: {resume}")
            for sequence, kind in ((2, "accepted"), (3, "established")):
                self._send(type=kind, seq=sequence, call="C1")
        self._send(type="digit", seq=4, call="C1", digit="7", milliseconds=100)
        self._send(type="digit", seq=4, call="C1", digit="7", milliseconds=100)
        self._send(type="ended", seq=5, call="C1", cause="hungUp", started_at="2026-11-22T00:00:00.000Z",
                   ended_at="2026-11-22T00:00:01.000Z", duration_ms=1000, billed_seconds=1, currency="EUR")
        await self._until(lambda: self._has(call, call="ended", calls=0), "end of the call")
        told = (await call("facts"))["told"]
        events = ("placed", "accepted", "established", "digit", "ended")
        require(all(told[name] == 1 for name in events), f"each once: {told}")

    async def _garbles(self, call):
        """What is no message of the protocol ends the connection, not the session; what is unknown is passed over."""
        await self._until(lambda: self._has(call, state="ready"), "session")
        self._send(type="novelty", seq=1, call="C9")
        self._send(type="ended", seq=2, call="C9")
        self._send(type="error", error=None)
        for number, text in enumerate(("{", "[]", "null", "x" * 300_000), 1):
            self._sockets[-1][1].send(text)
            await self._came("resume", number)
            await self._until(lambda: self._has(call, state="ready"), "session again")
        require(self._registrations == 1, "it is still the first session")

    async def _falls_silent(self, call):
        """No pong: the connection is made anew, soon where the network has news."""
        await self._until(lambda: self._has(call, state="ready"), "session")
        self._answers = False
        await call("announce", name="offline")
        await self._came("ping")
        started = time.monotonic()
        await self._came("resume")
        require(2 < time.monotonic() - started < 6, f"after {time.monotonic() - started} s")

    async def _floods(self, call):
        """More requests than may wait are refused at once, the others are answered."""
        await self._placed(call)
        flood = asyncio.ensure_future(call("flood", count=100))
        await self._came("dtmf", 40)
        await asyncio.sleep(0.2)
        sequence = 10
        for message in self._all("dtmf"):
            self._send(type="done", id=message["id"], seq=sequence)
            sequence += 1
        refused = await flood
        # The gateway was told as well that the microphone is off.
        require(refused in (36, 37), f"{refused} refused")

    async def _offers(self, call):
        """A change that the gateway wants is answered."""
        await self._placed(call)
        self._send(type="offer", seq=4, call="C1", sdp=await call("farOffer"))
        answer = await self._came("answer")
        state = await call("farTakes", sdp=answer["sdp"])
        require(state == "stable", f"the answer is taken: {state}")
        self._send(type="done", id=answer["id"], seq=5)

    async def _drains(self, call):
        """It drains and stops; the next node does not know the session."""
        await self._placed(call)
        self._send(type="draining")
        await self._until(lambda: self._has(call, draining=True), "draining")
        self._greetings = [self._close(4404)]
        await self._sockets[-1][1].close(code=1012, reason="")
        await self._came("register", 2)
        await self._until(lambda: self._has(call, state="ready", draining=False, call="ended"), "new session")
        first, second = (int(message["proof"]["sequence"]) for message in self._all("register"))
        require(first < second, "with a proof of its own")

    async def _knows_no_incoming_calls(self, call):
        """A gateway of an older version: whoever wants to be called is told."""
        await self._until(lambda: self._has(call, state="ready"), "session")
        require(self._all("register")[0]["features"] == ["incoming.1", "rooms.1"], "asks for them")
        require(not self._all("register")[0]["listen"], "does not want them yet")
        code = await call("refusedListening")
        require(code == "capability.remote", f"listening is refused: {code}")
        require(not self._all("listen"), "nothing is asked that it does not know")
        await self._placed(call)

    async def _ends_a_credential(self, call):
        """What the gateway gave a device is taken once more, then refused: the page proves anew who it is."""
        await self._until(lambda: self._has(call, state="ready"), "session")
        credential = {"id": "c-1", "secret": "c2VjcmV0", "expires": "2099-01-01T00:00:00.000Z"}

        def give(socket, message):
            self._registrations += 1
            self._send(socket, type="registered", id=message["id"], session=f"s{self._registrations}", user="alice",
                       version="fake", resume={"token": f"t{self._registrations}-0", "seconds": 30}, credential=credential)

        def refuse(socket, message):
            failure = {"domain": "gateway", "code": "gw.registration", "message": "no", "retry": "afterFix"}
            self._send(socket, type="error", id=message["id"], error=failure)
            self._close(4401)(socket, message)

        self._greetings = [self._close(4404), give, self._close(4404), refuse]
        for count in (2, 4):
            await self._sockets[-1][1].close(code=4000, reason="")
            await self._came("register", count)
            await self._until(lambda: self._has(call, state="ready"), "session again")
        proofs = [message["proof"]["kind"] for message in self._all("register")]
        require(proofs == ["signature", "signature", "credential", "signature"], f"proofs: {proofs}")

    async def _refuses_for_a_while(self, call):
        """Waits grow, and a word on when to come again stands."""
        await self._until(lambda: self._has(call, state="ready"), "session")

        def busy(socket, message):
            failure = {"domain": "gateway", "code": "gw.limit", "message": "busy", "retry": "later", "retry_after": 2}
            self._send(socket, type="error", id=message["id"], error=failure)
            self._close(1013)(socket, message)

        self._greetings = [self._close(1013)] * 4 + [busy]
        count = len(self._sockets)
        await self._sockets[-1][1].close(code=1013, reason="")
        await self._came("resume", 6)
        times = [at for at, _ in self._sockets[count - 1 :]]
        waits = [later - earlier for earlier, later in zip(times[1:], times[2:])]
        for wait, (least, most) in zip(waits, ((0.12, 0.7), (0.12, 0.9), (0.25, 1.3), (0.5, 2.1), (2.0, 4.5)), strict=False):
            require(least <= wait <= most, f"waits: {waits}")

    async def _places_late(self, call):
        """A call whose request got no answer in time is hung up when it comes to life after all."""
        await self._until(lambda: self._has(call, state="ready"), "session")
        await call("call", to="+46701234567", microphone=False)
        request = await self._came("call")
        await asyncio.sleep(15.5)
        await self._until(lambda: self._has(call, call="ended"), "end of the call")
        self._send(type="placed", id=request["id"], seq=1, call="C1", answer="v=0")
        hangup = await self._came("hangup")
        require(hangup["call"] == "C1", f"{hangup}")
