// Runs in every page before its own scripts: hears what the page's calls hear, and notes what a judge asks afterwards.
"use strict";
(() => {
  // Sound is louder than this, of 1: comfort noise and dither are not.
  const SOUND = 0.01;
  const judge = {
    // Calls in their order: times by performance.now(), blocks of samples.
    calls: [],
    // By whom the page was used: trusted events only.
    pointer: 0,
    keys: 0,
    // When the last click was, made by a key or a pointer.
    clicked: null,
    violations: [],
    errors: [],
  };
  Object.defineProperty(globalThis, "pagesJudge", { value: judge });

  for (const name of ["pointerdown", "mousedown", "touchstart"])
    addEventListener(name, (event) => { if (event.isTrusted) judge.pointer += 1; }, true);
  addEventListener("keydown", (event) => { if (event.isTrusted) judge.keys += 1; }, true);
  addEventListener("click", (event) => { if (event.isTrusted) judge.clicked = event.timeStamp; }, true);
  addEventListener("securitypolicyviolation", (event) => {
    judge.violations.push(`${event.violatedDirective}: ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber}`);
  }, true);
  addEventListener("error", (event) => { judge.errors.push(String(event.message ?? event.target?.src)); }, true);
  addEventListener("unhandledrejection", (event) => { judge.errors.push(String(event.reason)); }, true);

  // Takes each packet's worth of sound as the browser plays it. It needs no module, so no policy of the page is in the way.
  async function hear(call, track) {
    const reader = new MediaStreamTrackProcessor({ track: track.clone(), maxBufferSize: 500 }).readable.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const samples = new Float32Array(value.numberOfFrames);
      value.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
      call.rate = value.sampleRate;
      value.close();
      if (call.sound === null && samples.some((sample) => Math.abs(sample) > SOUND)) call.sound = performance.now();
      call.blocks.push(samples);
    }
  }

  // A connection may be there before anybody calls: a call is one that got the other side's description.
  const Connection = globalThis.RTCPeerConnection;
  globalThis.RTCPeerConnection = class extends Connection {
    #call = { clicked: null, described: null, connected: null, sound: null, rate: 0, blocks: [] };

    constructor(...values) {
      super(...values);
      this.addEventListener("connectionstatechange", () => {
        if (this.connectionState === "connected") this.#call.connected ??= performance.now();
      });
      this.addEventListener("track", ({ track }) => { if (track.kind === "audio") hear(this.#call, track); });
    }

    setRemoteDescription(...values) {
      if (this.#call.described === null) {
        this.#call.clicked = judge.clicked;
        this.#call.described = performance.now();
        judge.calls.push(this.#call);
      }
      return super.setRemoteDescription(...values);
    }
  };

  // 16-bit samples of what the last call heard, in base64.
  judge.recorded = () => {
    const call = judge.calls.at(-1);
    if (!call) return null;
    const samples = new Int16Array(call.blocks.reduce((sum, block) => sum + block.length, 0));
    let place = 0;
    for (const block of call.blocks)
      for (const value of block) samples[place++] = Math.max(-32768, Math.min(32767, Math.round(value * 32768)));
    const bytes = new Uint8Array(samples.buffer);
    let text = "";
    for (let start = 0; start < bytes.length; start += 32768)
      text += String.fromCharCode(...bytes.subarray(start, start + 32768));
    return { rate: call.rate, samples: btoa(text) };
  };

  // Milliseconds from the click that made the last call to each thing; null for what has not happened.
  judge.times = () => {
    const call = judge.calls.at(-1);
    const since = (time) => (call && time !== null ? time - call.clicked : null);
    return call && { described: since(call.described), connected: since(call.connected), sound: since(call.sound) };
  };
})();
