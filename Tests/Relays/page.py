"""One call of landline.js in headless Chromium, on a page of the gateway itself. Tells as one object whether it was heard, and
which way its sound took.

With BACK, says a line once it is heard, and tells whether it is heard again, over a relay, within so many seconds.

usage: page.py ORIGIN KEY SECRET NUMBER ENERGY SECONDS BACK
"""

import asyncio
import json
import sys

from playwright.async_api import async_playwright

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent / "PeerKit" / "Scripts"))
from chromium_peer import FLAGS  # noqa: E402

CALL = """
async ([key, secret, number, energy, seconds, back]) => {
  const { Landline } = await import("/landline.js");
  const landline = new Landline({
    applicationKey: key, user: "web", capabilities: ["calling"], credentials: { secret },
  });
  await landline.connect();
  const call = landline.callPhone(number);
  const media = [];
  call.addEventListener("media", ({ detail }) => media.push(detail.failure?.message ?? detail.state));
  const audio = new Audio();
  audio.srcObject = call.remoteStream;
  quietly(audio.play());
  function quietly(promise) { promise.catch(() => {}); }
  const result = { heard: false, local: null, media, failure: null };
  call.ended.then(() => (result.failure = call.failure?.message ?? null));
  let end = performance.now() + seconds * 1000;
  // Energy from which on it is heard over a relay; without BACK none is waited for.
  let wanted = null;
  while (!result.heard && performance.now() < end && call.state !== "ended") {
    await new Promise((done) => setTimeout(done, 100));
    const report = call.connection ? await call.connection.getStats() : new Map();
    for (const each of report.values()) {
      if (each.type === "inbound-rtp" && each.totalAudioEnergy > (wanted ?? energy)) {
        if (back === 0) result.heard = true;
        else if (wanted === null) {
          wanted = Infinity;
          end = performance.now() + back * 1000;
          await globalThis.tellHeard();
        } else result.heard = true;
      }
      if (each.type !== "transport" || !each.selectedCandidatePairId) continue;
      const local = report.get(report.get(each.selectedCandidatePairId)?.localCandidateId);
      result.local = local && { candidateType: local.candidateType, relayProtocol: local.relayProtocol };
      if (wanted !== Infinity || local?.candidateType !== "relay") continue;
      const heard = [...report.values()].find(({ type }) => type === "inbound-rtp").totalAudioEnergy;
      wanted = heard + energy;
    }
  }
  call.hangUp();
  await landline.stopGracefully?.();
  return result;
}
"""


async def main():
    origin, key, secret, number, energy, seconds, back = sys.argv[1:]
    # The relay's certificate is of an authority that no browser knows; that certificates are judged is the browser's own.
    flags = [f"--unsafely-treat-insecure-origin-as-secure={origin}", "--ignore-certificate-errors"]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path="/usr/bin/chromium", headless=True, args=FLAGS + flags)
        try:
            context = await browser.new_context(permissions=["microphone"])
            page = await context.new_page()
            await page.expose_function("tellHeard", lambda: print("heard", flush=True))
            await page.goto(origin + "/docs/")
            found = await page.evaluate(CALL, [key, secret, number, float(energy), float(seconds), float(back)])
            print(json.dumps(found))
        finally:
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
