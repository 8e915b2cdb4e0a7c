"""Whether answers tell who exists."""

import pathlib
import statistics
import sys

import landline_app
from gateway_lab import CLIENT, PROTOCOL, SECRET, Lab, Trunk
from ground import *
from web_socket import Closed, WebSocket

ALONE = True
HERE = pathlib.Path(__file__).resolve().parent.parent
# Seconds after which those who hear nothing give up.
QUICKLY = ["--maximumtime=5"]


async def attack(ground):
    """Class H, enumeration and brute force.
    Evidence: svwar and svcrack against Asterisk ("unidentified request"), coturn 5ca467e7 (compare in constant time).
    Must hold: an app that does not exist and a wrong signature get the same answer in the same time (medians within 5 %, or
    within 50 µs); sipvicious finds no server, no extension and no password."""
    async with Lab("b02", trunks=[Trunk("first")]) as lab:
        app = await lab.app("main", user="known")
        key = app.account.key
        unknown = "5f0e7a52-8c1d-4c0a-9d3e-ffffffffffff"
        samples = ground.size(300, 10_000)
        names = ("wrong", "unknown app", "unknown user")
        answers = {name: set() for name in names}
        webs = {name: await WebSocket.open("127.0.0.1", lab.http_port, "/v1/connect", PROTOCOL) for name in names}

        async def measured():
            """Medians by name, each try beside one of the others."""
            times = {name: [] for name in names}
            for number in range(samples):
                for name in ground.random.sample(names, 3):
                    application, user = unknown if name == "unknown app" else key, "known"
                    if name == "unknown user":
                        user = "stranger"
                    sequence = lab.next_sequence()
                    text = json.dumps({
                        "type": "register", "id": 7, "application": application, "user": user, "device": "d",
                        "client": CLIENT, "capabilities": ["calling"], "proof": {
                            "kind": "signature", "sequence": str(sequence),
                            "signature": landline_app.signature(user, application, sequence, SECRET[:-4] + "Ag==")}})
                    try:
                        begin = time.perf_counter()
                        await webs[name].send(text)
                        said = await webs[name].receive()
                        if number >= 20:
                            times[name].append(time.perf_counter() - begin)
                        said = json.loads(said)
                        said.pop("id", None)
                        answers[name].add(json.dumps(said, sort_keys=True))
                    except Closed as end:
                        # The door closes after so many: that is an answer too.
                        answers[name].add(f"closed {end.code}")
                        webs[name] = await WebSocket.open("127.0.0.1", lab.http_port, "/v1/connect", PROTOCOL)
            # The fastest quarter is free of what else the machine does; a difference of the code stands in both.
            return [{name: statistics.median(each) for name, each in times.items()},
                    {name: statistics.quantiles(each, n=4)[0] for name, each in times.items()}]

        # A difference that is there is there each time; one that a busy machine makes is not.
        share, apart = 1, 1
        for _ in range(3):
            for found in await measured():
                difference = max(abs(found[name] - found["wrong"]) for name in names)
                if difference / found["wrong"] < share:
                    medians, apart, share = found, difference, difference / found["wrong"]
            if share < 0.05:
                break
        same = answers["wrong"] == answers["unknown app"] == answers["unknown user"]
        ground.promise("B2", f"{share:.1%}", "difference of medians", "< 5 % or < 50 us", share < 0.05 or apart < 50e-6,
                       f"{samples} tries each, medians " + ", ".join(
                           f"{name} {value * 1e6:.0f} us" for name, value in medians.items()))
        ground.promise("B2", 0 if same else 1, "answers that differ", "0", same,
                       "codes and texts alike" if same else str(answers)[:200])

        # The same of REST: no key, a wrong key, an account that is nobody's.
        told = set()
        for path in ("/v1/accounts/main", "/v1/accounts/nobody", "/v1/calls/none"):
            for header in ({}, {"Authorization": "Bearer wrong-key-wrong-key-wrong"}):
                code, fields, text = await lab.http_request("GET", path, headers=header, bearer=False)
                told.add((code, fields.get("www-authenticate"), re.sub(r'"instance":"[^"]*"|/v1/\w+/\w+|[0-9a-f]{16,}', "", text)))
        ground.promise("B2", len({code for code, _, _ in told}), "kinds of answers of REST", "1", len({code for code, _, _ in told}) == 1)

        found = []
        folder = os.path.dirname(sys.executable)
        if not os.path.exists(f"{folder}/sipvicious_svmap"):
            ground.skip("B2", "sipvicious is not installed: Deploy/peers-python")
        else:
            async def scan(*command):
                process = await asyncio.create_subprocess_exec(
                    sys.executable, str(HERE / "from_stranger.py"), f"{folder}/sipvicious_{command[0]}",
                    *command[1:], "-p", str(lab.sip_port), "127.0.0.1", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
                    env={**os.environ, "HOME": str(lab.folder)}, cwd=lab.folder)
                try:
                    output, _ = await asyncio.wait_for(process.communicate(), 25)
                except asyncio.TimeoutError:
                    process.kill()
                    output, _ = await process.communicate()
                text = output.decode(errors="replace")
                found.extend(f"{command[0]}: {line.strip()}" for line in text.splitlines() if re.search(
                    r"^\|\s*(127\.0\.0\.1|\d{3})|reqauth|noauth|The password for", line))
                if "usage" in text.lower() or "Traceback" in text:
                    found.append(f"{command[0]} did not run: {text[-300:]}")

            await asyncio.gather(
                scan("svmap"), scan("svwar", "-e", "100-140", "-m", "INVITE", *QUICKLY),
                scan("svwar", "-e", "100-140", "-m", "REGISTER", "--force", *QUICKLY),
                scan("svcrack", "-u", "100", "-r", "1-30", *QUICKLY))
            ground.none("B2", found, "found by sipvicious", "svmap, svwar by INVITE and REGISTER, svcrack")
        await lab.idle()
