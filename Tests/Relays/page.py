"""One call of landline.js in headless Chromium, on a page of the gateway itself. Tells as one object whether it was heard, and
which way its sound took.

usage: page.py ORIGIN KEY SECRET NUMBER ENERGY SECONDS
"""

import asyncio
import json
import sys

from playwright.async_api import async_playwright

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent / "PeerKit" / "Scripts"))
from chromium_peer import FLAGS  # noqa: E402

CALL = """
async ([key, secret, number, energy, seconds]) => {
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
  const end = performance.now() + seconds * 1000;
  while (!result.heard && performance.now() < end && call.state !== "ended") {
    await new Promise((done) => setTimeout(done, 100));
    const report = call.connection ? await call.connection.getStats() : new Map();
    for (const each of report.values()) {
      if (each.type === "inbound-rtp" && each.totalAudioEnergy > energy) result.heard = true;
      if (each.type !== "transport" || !each.selectedCandidatePairId) continue;
      const local = report.get(report.get(each.selectedCandidatePairId)?.localCandidateId);
      result.local = local && { candidateType: local.candidateType, relayProtocol: local.relayProtocol };
    }
  }
  call.hangUp();
  await landline.stopGracefully?.();
  return result;
}
"""


async def main():
    origin, key, secret, number, energy, seconds = sys.argv[1:]
    # The relay's certificate is of an authority that no browser knows; that certificates are judged is the browser's own.
    flags = [f"--unsafely-treat-insecure-origin-as-secure={origin}", "--ignore-certificate-errors"]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path="/usr/bin/chromium", headless=True, args=FLAGS + flags)
        try:
            context = await browser.new_context(permissions=["microphone"])
            page = await context.new_page()
            await page.goto(origin + "/docs/")
            print(json.dumps(await page.evaluate(CALL, [key, secret, number, float(energy), float(seconds)])))
        finally:
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
