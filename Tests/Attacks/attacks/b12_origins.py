"""Pages of other sites at the app's door."""

import http.server
import threading

from gateway_lab import PROTOCOL, Lab
from ground import *
from web_socket import WebSocket

PAGE = b"""<!doctype html><title>elsewhere</title><script>
window.tried = (port) => Promise.all(["landline.v1", "", "landline.v1,other"].flatMap((protocol) =>
  ["ws://127.0.0.1", "ws://localhost"].map((base) => new Promise((done) => {
    const list = protocol ? protocol.split(",") : [];
    const socket = new WebSocket(`${base}:${port}/v1/connect`, list);
    socket.onopen = () => done("open"); socket.onerror = () => done("refused");
    setTimeout(() => done("nothing"), 5000);
  }))).concat(["GET", "POST", "DELETE"].map((method) =>
  fetch(`http://127.0.0.1:${port}/v1/sign-in`, { method, credentials: "include", body: method === "POST" ? "{}" : undefined })
    .then((answer) => answer.type === "opaque" ? "opaque" : "read", () => "refused"))));
</script>"""


async def attack(ground):
    """Class M, WebSockets across origins.
    Evidence: RFC 6455 section 10.2, RFC 7118 section 9, FreeSWITCH verto set of 2026-05, GHSA-wcvv-g26m-wx5c.
    Must hold: pages of other sites, in Chromium and by every spelling of Origin, open 0 sessions and read nothing; the
    gateway's own pages may."""
    async with Lab("b12") as lab:
        port = lab.http_port
        opened, tried = [], 0
        spellings = [
            "null", "http://evil.example", "https://evil.example", f"http://127.0.0.1:{port}.evil.example",
            f"http://evil.example:{port}", f"http://evil@127.0.0.1:{port}", f"http://127.0.0.1:{port}@evil.example",
            f"http://127.0.0.1:{port}/", f"http://127.0.0.1:{port}/page", f"http://127.0.0.1:{port}#", f"http://127.0.0.1:{port}?",
            "http://127.0.0.1", "https://127.0.0.1", f"http://127.0.0.1:{port + 1}", f"http://localhost:{port}",
            f"http://127.0.0.1.:{port}", f"http://0127.0.0.1:{port}", f"http://2130706433:{port}", f"http://[::ffff:127.0.0.1]:{port}",
            f"//127.0.0.1:{port}", f"ws://127.0.0.1:{port}", f"file://127.0.0.1:{port}", "file://", "chrome-extension://abc",
            f"127.0.0.1:{port}", "*", " ", f"http://127.0.0.1:{port} http://evil.example", f"http://evil.example, http://127.0.0.1:{port}",
            f"http://127.0.0.1:{port}\t", "a" * 5000, "http://", "http://:80", f"HTTP://EVIL.EXAMPLE:{port}", "undefined",
        ]
        for origin in spellings:
            tried += 1
            try:
                web = await asyncio.wait_for(WebSocket.open("127.0.0.1", port, "/v1/connect", PROTOCOL, origin), 5)
                # White space around a field's value is none of it (RFC 9110 section 5.5), and a slash behind the own origin
                # names nobody else.
                if origin.strip().removesuffix("/") not in ("", f"http://127.0.0.1:{port}"):
                    opened.append(repr(origin))
                web.drop()
            except (ValueError, OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
                continue
        for lines in (["Origin: http://evil.example", f"Origin: http://127.0.0.1:{port}"],
                      [f"Origin: http://127.0.0.1:{port}", "Origin: http://evil.example"],
                      ["origin:http://evil.example"], ["ORIGIN: http://evil.example"], ["Origin : http://evil.example"],
                      ["Origin: http://evil.example", "Host: evil.example:1"], ["Origin:", "Origin: http://evil.example"],
                      ["X-Forwarded-Host: evil.example", "Origin: http://evil.example"],
                      ["Sec-Fetch-Site: same-origin", "Origin: http://evil.example"]):
            tried += 1
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write("\r\n".join([
                "GET /v1/connect HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13",
                f"Sec-WebSocket-Protocol: {PROTOCOL}", *lines, "", ""]).encode())
            said = await asyncio.wait_for(reader.readline(), 5)
            if b" 101 " in said:
                opened.append(repr(lines))
            writer.close()
        # Why its WebSocket was refused a page learns by asking again without an upgrade: that, and nothing else.
        for origin in ("http://evil.example", "null", f"http://127.0.0.1:{port + 1}"):
            tried += 1
            status, fields, said = await lab.http_request("GET", "/v1/connect", headers={"Origin": origin}, bearer=False)
            if (status, json.loads(said).get("code")) != (403, "connect.origin"):
                opened.append(f"without an upgrade, {origin}: {status} {said[:80]}")
            if "access-control-allow-credentials" in fields or fields.get("access-control-allow-origin") == "*":
                opened.append(f"the refusal of {origin} may be read with cookies or by everybody")
        status, _, _ = await lab.http_request(
            "GET", "/v1/connect", headers={"Origin": f"http://127.0.0.1:{port}"}, bearer=False)
        require(status == 426, f"the own page is told that an upgrade is wanted: {status}")
        web = await WebSocket.open("127.0.0.1", port, "/v1/connect", PROTOCOL, f"http://127.0.0.1:{port}")
        web.drop()
        (await WebSocket.open("127.0.0.1", port, "/v1/connect", PROTOCOL)).drop()
        told = await browser(lab, port)
        if told is None:
            ground.skip("B12", "Chromium is not there: only spellings of the field were tried")
        else:
            elsewhere, own = told
            tried += len(elsewhere)
            opened += [f"Chromium, elsewhere: {each}" for each in elsewhere if each in ("open", "read")]
            require("open" in own, f"the gateway's own page connects: {own}")
        ground.none("B12", opened, "sessions opened or answers read", f"{tried} tries, {len(told[0]) if told else 0} in Chromium")
        await lab.idle()


async def browser(lab, port):
    """What a page of another site is told, and one of the gateway's own; None without a browser."""
    from playwright.async_api import Error, async_playwright

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        async with async_playwright() as play:
            path = next((each for each in ("/usr/bin/chromium", "/usr/bin/google-chrome") if os.path.exists(each)), None)
            try:
                chromium = await play.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            except Error:
                return None
            page = await chromium.new_page()
            await page.goto(f"http://127.0.0.1:{server.server_port}/")
            elsewhere = await page.evaluate("(port) => window.tried(port)", port)
            await page.goto(f"http://127.0.0.1:{port}/openapi.json")
            own = await page.evaluate("""(port) => new Promise((done) => {
              const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/connect`, "landline.v1");
              socket.onopen = () => done("open"); socket.onerror = () => done("refused"); })""", port)
            await chromium.close()
            return elsewhere, own
    finally:
        server.shutdown()
