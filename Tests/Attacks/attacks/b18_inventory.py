"""What the process holds and shows."""

import pathlib
import stat

from gateway_lab import SECRET, Lab, Trunk
from ground import *


async def attack(ground):
    """Class N, operations.
    Evidence: GHSA-xpc6-x892-v83c, GHSA-rvch-3jmx-3jf3 (file modes), GHSA-v6hp-wh3r-cwxh (status page open by default).
    Must hold: nothing listens but what the configuration names; what it keeps is its owner's alone whatever the umask;
    the control socket is its owner's; no secret among its arguments; it runs without capabilities."""
    lab = Lab("b18", trunks=[Trunk("first")])
    # The widest umask, and no capability at all where the machine lets one drop them.
    lab.wrapper = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]
    previous = os.umask(0)
    try:
        lab.prepare()
        if os.geteuid() == 0:
            os.chmod(lab.folder, 0o700)
        # Made by this test, with the umask that the gateway is to bear; one that all may write to is refused.
        os.chmod(lab.state, 0o755)
        await lab.start()
    finally:
        os.umask(previous)
    deviations = []
    try:
        await hostile_carrier(lab, "first")
        app = await lab.app()
        voice = await Voice.start(app)
        await voice.speaks()
        first, last = lab.ports.media
        allowed_udp = {lab.sip_port, lab.app_media_port} | set(range(first, last + 1))
        allowed_tcp = {lab.sip_port, lab.http_port}
        # The far end of the sandbox has one port of the machine's choice, on loopback.
        far_end = 1
        own = lab.sockets()
        for kind, allowed in (("udp", allowed_udp), ("udp6", set()), ("tcp", allowed_tcp), ("tcp6", set()), ("raw", set()),
                              ("raw6", set()), ("packet", set())):
            for line in pathlib.Path(f"/proc/{lab.pid}/net/{kind}").read_text().splitlines()[1:]:
                cells = line.split()
                if kind == "packet" or cells[9] not in own or kind.startswith("tcp") and cells[3] != "0A":
                    continue
                address, _, port = cells[1].rpartition(":")
                if int(port, 16) not in allowed and kind == "udp" and far_end:
                    far_end -= 1
                elif int(port, 16) not in allowed:
                    deviations.append(f"{kind} {int(port, 16)} listens")
                if address != "0100007F":
                    deviations.append(f"{kind} listens at {address}")
        for line in pathlib.Path(f"/proc/{lab.pid}/net/unix").read_text().splitlines()[1:]:
            cells = line.split()
            if cells[6] in own and len(cells) > 7 and not cells[7].startswith(str(lab.state)):
                deviations.append(f"socket {cells[7]}")
        looked = 0
        noted = list(lab.home_state.rglob("*"))
        require(any(path.is_file() for path in noted), f"the gateway notes where it is: {noted}")
        for path in [lab.state, *lab.state.rglob("*"), *noted]:
            mode = path.lstat().st_mode
            looked += 1
            # The folder itself was made by somebody else before.
            if path != lab.state and not stat.S_ISLNK(mode) and mode & 0o077:
                deviations.append(f"{path.relative_to(lab.folder)} has mode {stat.S_IMODE(mode):o}")
        arguments = pathlib.Path(f"/proc/{lab.pid}/cmdline").read_bytes()
        if any(secret.encode() in arguments for secret in (SECRET, lab.operator())):
            deviations.append("a secret among the arguments")
        status = pathlib.Path(f"/proc/{lab.pid}/status").read_text()
        if re.search(r"CapBnd:\s+(\w+)", status).group(1).strip("0"):
            deviations.append("it was not started without capabilities")
        # Others on the machine cannot ask the control socket.
        control = lab.state / "control.sock"
        if os.geteuid() == 0 and subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "test", "-w", control]).returncode == 0:
            deviations.append("others may write to the control socket")
        # Nothing is told to who has no key.
        for path in ("/v1/status", "/v1/calls", "/v1/live-calls", "/v1/trunks", "/v1/accounts", "/v1/accounts/main",
                     "/v1/accounts/main/balances", "/v1/accounts/main/history", "/v1/me", "/debug", "/admin"):
            code, _, _ = await lab.http_request("GET", path, bearer=False)
            if code == 200:
                deviations.append(f"{path} is open")
        # What is for everybody says nothing of this gateway's own.
        for path in ("/docs", "/docs/rest.md", "/docs/configuration.md", "/errors", "/llms.txt", "/asyncapi.json", "/openapi.json"):
            code, _, text = await lab.http_request("GET", path, bearer=False)
            require(code == 200, f"{path} is served: {code}")
            own_words = (str(lab.folder), lab.account("main").key, SECRET, lab.operator())
            deviations += [f"{path} shows {word}" for word in own_words if word in text]
        for path in ("/docs/..%2f..%2flandline.yaml", "/docs/%2e%2e/landline.yaml", "/docs/../../landline.yaml",
                     "/docs/..%2flandline.yaml.md", "/errors/..%2f..%2flandline.yaml", "/../landline.yaml",
                     "/%2e%2e/landline.yaml", "/..%2flandline.yaml", "//etc/passwd", "/calls/../../etc/passwd",
                     "/\\..\\landline.yaml", "/%c0%ae%c0%ae/landline.yaml", "/landline.js/../../production.key"):
            _, _, text = await lab.http_request("GET", path, bearer=False)
            if "applications:" in text or "root:" in text or lab.operator() in text:
                deviations.append(f"{path} shows a file")
        await voice.end()
        ground.none("B18", deviations, "deviations", f"{len(own)} sockets, {looked} files under umask 0, arguments, paths")
        await lab.idle()
    finally:
        await lab.close()
