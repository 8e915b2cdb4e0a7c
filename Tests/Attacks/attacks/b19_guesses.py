"""Keys that are guessed, and a host that asks too often."""

import contextlib

from gateway_lab import Lab
from ground import *

# Numbers of the standard configuration, and what a wrong proof counts as.
PER_SECOND, BURST, COST = 100, 400, 10
GUESSER, NEIGHBOUR = "127.0.9.9", "127.0.9.10"


async def asks(lab, source, key, fields=()):
    """(status, fields in lower case) of one request on a connection of its own; (0, "") where it was closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", lab.http_port, local_addr=(source, 0))
    try:
        lines = ["GET /v1/accounts/main HTTP/1.1", f"Host: 127.0.0.1:{lab.http_port}", "Connection: close",
                 f"Authorization: Bearer {key}", *fields, "", ""]
        writer.write("\r\n".join(lines).encode())
        head = (await asyncio.wait_for(reader.read(), 10)).partition(b"\r\n\r\n")[0].decode("latin-1").lower()
        return (int(head.split()[1]), head) if head.startswith("http/1.1 ") else (0, "")
    except ConnectionError:
        return 0, ""
    finally:
        writer.close()


async def attack(ground):
    """Class H, brute force at the REST door.
    Evidence: coturn 5ca467e7 (throttle by host), svcrack; keys tried by hundreds a second without anybody being told.
    Must hold: of wrong keys only so many are looked at (40 at once, then ten a second), the others get 429 with the time to
    wait; the log says so once and the metrics count it; an invented X-Forwarded-For is no way around, and a neighbour is
    served meanwhile."""
    async with Lab("b19", limits=False) as lab:
        tries = ground.size(1500, 20_000)
        answers, neighbours, number = {}, [], 0
        begin = time.monotonic()

        async def guesses(share):
            for each in share:
                forged = (f"X-Forwarded-For: 198.51.100.{each % 250}",) if each & 1 else ()
                with contextlib.suppress(OSError, asyncio.TimeoutError):
                    status, head = await asks(lab, GUESSER, f"wrong-key-wrong-key-{each:08d}", forged)
                    answers.setdefault(status, []).append(head)

        workers = 16
        flood = [asyncio.ensure_future(guesses(range(first, tries, workers))) for first in range(workers)]
        for share in range(5):
            # Spread over the flood.
            await until("the next part of the guesses", lambda: sum(map(len, answers.values())) >= tries * share // 5, 60)
            neighbours.append((await asks(lab, NEIGHBOUR, lab.operator()))[0])
        await asyncio.gather(*flood)
        seconds = time.monotonic() - begin
        looked_at = len(answers.get(401, []))
        # Requests of all connections that are under way have been let in before the first of them is found wrong.
        most = BURST // COST + workers + PER_SECOND / COST * seconds + 1
        ground.promise("B19", looked_at, "wrong keys looked at", f"<= {most:.0f}", 0 < looked_at <= most,
                       f"of {tries} in {seconds:.1f} s; {', '.join(f'{len(heads)} x {status}' for status, heads in sorted(answers.items()))}")
        untold = [head for head in answers.get(429, []) if "\r\nretry-after: " not in head]
        ground.none("B19", untold, "429 without the time to wait")
        ground.promise("B19", neighbours.count(200), "of 5 requests of a neighbour served", "5", neighbours == [200] * 5)
        lines = [line for line in lab.log_lines() if "asks more often than it may" in line.get("message", "")]
        throttled = await lab.metric("landline_http_throttled_hosts_total")
        refused = await lab.metric("landline_http_refused_proofs_total")
        # A host that was quiet for long enough is news again.
        ground.promise("B19", len(lines), "lines of the log", "1", len(lines) == 1 and throttled >= 1 and refused == looked_at,
                       f"metrics: {throttled:.0f} hosts throttled, {refused:.0f} proofs refused")

        async def served():
            return (await asks(lab, GUESSER, lab.operator()))[0] == 200

        await until("the host is served again", served, 10)
