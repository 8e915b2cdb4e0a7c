// The page of landline_js.py: drives landline.js with calls of the methods of `page` and tells all of its events.

// Before the library runs: what it opens and leaves open is counted.
const opened = { sockets: [], connections: [], tracks: [], timers: new Set(), listeners: 0 };
const wrap = (name, list) => {
  const Original = globalThis[name];
  globalThis[name] = class extends Original {
    constructor(...values) {
      super(...values);
      list.push(this);
    }
  };
};
wrap("WebSocket", opened.sockets);
wrap("RTCPeerConnection", opened.connections);
const [set, clear] = [globalThis.setTimeout, globalThis.clearTimeout];
globalThis.setTimeout = (act, wait, ...rest) => {
  const timer = set(() => {
    opened.timers.delete(timer);
    act(...rest);
  }, wait);
  opened.timers.add(timer);
  return timer;
};
globalThis.clearTimeout = (timer) => {
  opened.timers.delete(timer);
  clear(timer);
};
for (const target of [globalThis, document]) {
  const add = target.addEventListener;
  target.addEventListener = (name, listener, options) => {
    if (options?.signal) {
      opened.listeners += 1;
      options.signal.addEventListener("abort", () => (opened.listeners -= 1));
    }
    return add.call(target, name, listener, options);
  };
}
const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (constraints) => {
  const stream = await ask(constraints);
  opened.tracks.push(...stream.getTracks());
  return stream;
};
// Sound files that go to the loudspeaker by themselves: the call's own sound goes by way of an element.
let loudspeaker = null;
const connect = AudioNode.prototype.connect;
AudioNode.prototype.connect = function (target, ...rest) {
  if (this instanceof AudioBufferSourceNode && target instanceof AudioDestinationNode) {
    loudspeaker = new AnalyserNode(this.context, { fftSize: 2048 });
    connect.call(this, loudspeaker);
  }
  return connect.call(this, target, ...rest);
};
// What the browser would show, and whether somebody looks at the page.
const notices = [];
globalThis.Notification = class {
  static permission = "default";
  static async requestPermission() { return (this.permission = "granted"); }
  constructor(title, options) {
    Object.assign(this, { title, ...options, isOpen: true });
    notices.push(this);
  }
  close() { this.isOpen = false; }
};
let isLookedAt = true;
document.hasFocus = () => isLookedAt;
let focused = 0;
globalThis.focus = () => (focused += 1);
globalThis.addEventListener("unhandledrejection", ({ reason }) => tell({ event: "unhandled", reason: String(reason) }));

const library = await import("/landline.js");
const { Landline, LandlineError } = library;

const CALL_EVENTS = [
  "placed", "progressing", "ringing", "early", "accepted", "established", "price", "credit", "digit", "held", "quality",
  "warning", "media", "microphone", "ended",
];
const described = (error) =>
  error && {
    is: error instanceof LandlineError, code: error.code, domain: error.domain, retry: error.retry, message: error.message,
    sip_status: error.sipStatus, q850: error.q850, rule: error.invalid?.rule, offset: error.invalid?.offset,
  };
// What is heard, block by block.
const RECORDER = `registerProcessor("recorder", class extends AudioWorkletProcessor {
  process(inputs) { if (inputs[0].length) this.port.postMessage(inputs[0][0].slice()); return true; }
});`;
// The tone as it is: what makes speech better makes a tone worse.
const PLAIN = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
const base64 = (data) => btoa(String.fromCharCode(...new Uint8Array(data)));

// Hertz: 440 with 18 to both sides, and what the change makes of it.
const TONE = { from: 400, to: 480 };
// Goertzel's: the power of one step of a spectrum.
const power = (values, step) => {
  const turn = 2 * Math.cos((2 * Math.PI * step) / values.length);
  let [last, before] = [0, 0];
  for (const value of values) [last, before] = [value + turn * last - before, last];
  return last * last + before * before - turn * last * before;
};

// bit/s that packets of 20 ms add on the wire, and of a sender that nothing holds back.
const [HEADERS, WIDEST] = [20000, 32000];
const readStatistics = RTCRtpSender.prototype.getStats;
const readReception = RTCRtpReceiver.prototype.getStats;

globalThis.page = {
  asked: 0,
  heardAt: null,

  async open({ rate }) {
    this.context = new AudioContext({ sampleRate: rate });
    const address = URL.createObjectURL(new Blob([RECORDER], { type: "text/javascript" }));
    await this.context.audioWorklet.addModule(address);
    this.blocks = [];
  },

  // From here on reports are those of a link that carries so many bit/s; without a rate those of the other end.
  carry({ rate }) {
    RTCRtpSender.prototype.getStats = rate === undefined ? readStatistics : async function () {
      const sent = (this.getParameters().encodings[0].maxBitrate ?? WIDEST) + HEADERS;
      const fractionLost = Math.max(0, 1 - rate / sent);
      const report = { type: "remote-inbound-rtp", timestamp: performance.now(), fractionLost, roundTripTime: 0.02 };
      return new Map([["report", report]]);
    };
    tell({ event: "carrying" });
  },

  // From here on this part of what comes, 0 to 1, counts as lost; without one what the browser counts is told.
  lose({ loss }) {
    let lost = 0;
    let received = 0;
    RTCRtpReceiver.prototype.getStats = loss === undefined ? readReception : async () => {
      lost += 50 * loss;
      received += 50 * (1 - loss);
      return new Map([["inbound", { type: "inbound-rtp", packetsLost: lost, packetsReceived: received }]]);
    };
    tell({ event: "losing" });
  },

  // What the sender of the call under way may send.
  uplink() {
    const connection = opened.connections.findLast(({ connectionState }) => connectionState === "connected");
    const [encoding] = connection.getSenders()[0].getParameters().encodings;
    tell({ event: "uplink", rate: encoding.maxBitrate ?? null, adaptive: encoding.adaptivePtime ?? null });
  },

  // Every name that a user of the module can reach, as `Class.member` or alone.
  names() {
    const names = [];
    for (const [name, value] of Object.entries(library)) {
      names.push(name);
      if (name === "LIMITS") names.push(...Object.keys(value).map((each) => `${name}.${each}`));
      if (typeof value !== "function") continue;
      const own = Object.getOwnPropertyNames(value.prototype).filter((each) => each !== "constructor");
      names.push(...own.map((each) => `${name}.${each}`));
    }
    const error = new LandlineError({ code: "gw.internal", domain: "gateway", message: "", retry: "later" });
    const own = (name, object) => names.push(...Object.keys(object).map((each) => `${name}.${each}`));
    own("LandlineError", error);
    const client = new Landline({ applicationKey: "key", user: "nobody", credentials: { secret: "none" }, capabilities: ["calling"] });
    own("Landline", client);
    const call = client.callPhone("");
    own("Call", call);
    client.stop();
    return [...new Set(names.filter((name) => !["LandlineError.stack", "LandlineError.name"].includes(name)))].sort();
  },

  client({ key, user = "alice", secret, credentials = "secret", wrong = false, capabilities = ["calling"], url, device, name, busy,
    keeps, reaction = null }) {
    this.asked = 0;
    const good = async ({ applicationKey, user, leastSequence: sequence }) => {
      const text = `${user}${applicationKey}${sequence}${wrong ? "AAAAAAAAAAAAAAAAAAAAAA==" : secret}`;
      return { signature: base64(await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text))), sequence };
    };
    const kinds = {
      secret: { secret },
      callback: (request) => {
        this.asked += 1;
        tell({ event: "asked", members: Object.keys(request).sort().join(" "), sequence: request.leastSequence });
        return good(request);
      },
      token: async ({ applicationKey, user }) => ({ token: await makeToken(applicationKey, user, secret) }),
      throws: () => { throw new Error("signed out"); },
      empty: () => ({}),
    };
    try {
      this.landline = new Landline({ applicationKey: key, user, credentials: kinds[credentials], capabilities, url, device, name, busy,
        keep: keeps ? localStorage : undefined });
    } catch (error) {
      return tell({ event: "refused", name: error.name, message: error.message });
    }
    this.landline.addEventListener("state", ({ detail: { state, failure } }) =>
      tell({ event: "state", value: state, failure: described(failure) }));
    // The older library has no short way to listen.
    this.landline.addEventListener("incoming", ({ detail: call }) => {
      this.clicked = performance.now();
      this.follow(call);
      const { id, direction, kind, target, from, headers, videoOffered, waiting, expiresAt, state } = call;
      tell({ event: "incoming", call: id, direction, kind, target, from, headers, video: videoOffered, waiting, state,
        seconds: (expiresAt - Date.now()) / 1000 });
      if (reaction === "answer") this.answer({});
      if (reaction === "hangUp") call.hangUp();
    });
    this.landline.addEventListener("missed", ({ detail: missed }) => tell({ event: "missed", ...missed }));
    tell({ event: "client" });
  },

  listen({ on = true }) {
    this.landline.listen(on).then(
      () => tell({ event: "listening", on: this.landline.listening, device: this.landline.device }),
      (error) => tell({ event: "not-listening", ...described(error) }),
    );
  },

  // From here on the first sound is waited for anew.
  answer({ microphone = PLAIN, headers }) {
    this.heardAt = null;
    this.clicked = performance.now();
    this.current.answer({ microphone, headers }).then(
      () => tell({ event: "answered", milliseconds: performance.now() - this.clicked }),
      (error) => tell({ event: "not-answered", ...described(error) }),
    );
  },

  // The call that came in stands for the one that met it.
  followInstead() {
    this.follow(this.current.instead);
    tell({ event: "following", call: this.current.id, state: this.current.state });
  },

  async tone({ name }) {
    await this.landline.startPlayingTone(name);
    tell({ event: "file-playing", isPlaying: this.landline.isPlayingSoundFile });
  },

  async mayNotify() { tell({ event: "may-notify", may: await this.landline.showNotifications() }); },

  look({ away }) {
    isLookedAt = !away;
    tell({ event: "looking", away });
  },

  notices({ click = false }) {
    if (click) notices.at(-1).onclick();
    tell({ event: "notices", count: notices.length, open: notices.filter(({ isOpen }) => isOpen).length,
      title: notices.at(-1)?.title ?? null, focused });
  },

  // What the browser keeps of the page.
  kept() { tell({ event: "kept", count: localStorage.length, keys: Object.keys(localStorage).sort() }); },

  async forget() {
    await this.landline.forget();
    tell({ event: "forgotten" });
  },

  // Nobody waits here: the next command may be what it is about.
  connect() {
    const started = performance.now();
    this.landline.connect().then(
      () => tell({ event: "connected", milliseconds: performance.now() - started }),
      (error) => tell({ event: "not-connected", ...described(error) }),
    );
  },

  call({ to, kind = "phone", headers, caller, anonymous, microphone = PLAIN, video }) {
    const given = microphone === "stream" ? this.stream : microphone;
    this.clicked = performance.now();
    const options = { headers, callerNumber: caller, anonymous, microphone: given, video };
    const call = this.follow(this.landline.call(kind, to, options));
    tell({ event: "asked-for", state: call.state, id: call.id });
  },

  // All that happens to the call that is under way from now on.
  follow(call) {
    this.heardAt = null;
    this.blocks = [];
    this.current = call;
    const told = (this.told = {});
    for (const name of CALL_EVENTS) {
      call.addEventListener(name, ({ detail }) => {
        told[name] = (told[name] ?? 0) + 1;
        tell({ event: `call-${name}`, at: performance.now() - this.clicked, state: call.state, ...detail,
          ...(name === "ended" ? { error: described(call.failure), instead: call.instead?.id ?? null } : {}) });
      });
    }
    this.hear(call.remoteStream);
    const clicked = performance.timeOrigin + this.clicked;
    call.ended.then((summary) => tell({ event: "over", same: summary === call.summary, times: call.times, started: clicked }));
    return call;
  },

  hear(stream) {
    this.element ??= document.querySelector("audio");
    // A remote stream flows into the graph only while an element plays it as well.
    this.element.muted = true;
    this.element.srcObject = stream;
    this.source?.disconnect();
    this.recorder?.disconnect();
    const recorder = (this.recorder = new AudioWorkletNode(this.context, "recorder", { channelCount: 1, channelCountMode: "explicit" }));
    recorder.port.onmessage = ({ data }) => {
      if (recorder !== this.recorder) return;
      this.blocks.push(data);
      if (this.heardAt === null && data.some((value) => Math.abs(value) > 0.01)) {
        this.heardAt = performance.now() - this.clicked;
        tell({ event: "heard", milliseconds: this.heardAt });
      }
    };
    this.source = this.context.createMediaStreamSource(stream);
    this.source.connect(recorder).connect(this.context.destination);
  },

  ask({ method, values = [] }) {
    this.current[method](...values).then(
      () => tell({ event: "did", method }), (error) => tell({ event: "did-not", method, ...described(error) }));
  },

  // A WAV file of a tone: mono, 16 bits, 8 kHz.
  file({ frequency, milliseconds }) {
    const rate = 8000;
    const count = (rate * milliseconds) / 1000;
    const view = new DataView(new ArrayBuffer(44 + 2 * count));
    const text = (place, word) => [...word].forEach((letter, index) => view.setUint8(place + index, letter.charCodeAt(0)));
    text(0, "RIFF"); view.setUint32(4, 36 + 2 * count, true); text(8, "WAVEfmt "); view.setUint32(16, 16, true);
    view.setUint16(20, 1, true); view.setUint16(22, 1, true); view.setUint32(24, rate, true); view.setUint32(28, 2 * rate, true);
    view.setUint16(32, 2, true); view.setUint16(34, 16, true); text(36, "data"); view.setUint32(40, 2 * count, true);
    for (let index = 0; index < count; index += 1)
      view.setInt16(44 + 2 * index, 8000 * Math.sin((2 * Math.PI * frequency * index) / rate), true);
    return view.buffer;
  },

  async playFile({ frequency, milliseconds, loop }) {
    await this.landline.startPlayingSoundFile(new Blob([this.file({ frequency, milliseconds })]), { loop });
    tell({ event: "file-playing", isPlaying: this.landline.isPlayingSoundFile });
  },

  // Waits until the loudspeaker has it.
  async hearOwn() {
    const values = new Float32Array(2048);
    const end = performance.now() + 5000;
    let loud = false;
    while (!loud && performance.now() < end) {
      await new Promise((done) => requestAnimationFrame(done));
      loudspeaker?.getFloatTimeDomainData(values);
      loud = values.some((value) => Math.abs(value) > 0.1);
    }
    tell({ event: "own-heard", heard: loud });
  },

  stopFile() {
    this.landline.stopPlayingSoundFile();
    tell({ event: "file-stopped", isPlaying: this.landline.isPlayingSoundFile });
  },

  async fileOver() {
    while (this.landline.isPlayingSoundFile) await new Promise((done) => requestAnimationFrame(done));
    tell({ event: "file-over" });
  },

  async sendFile({ frequency, milliseconds, loop, mode }) {
    await this.current.startSendingSoundFile(this.file({ frequency, milliseconds }), { loop, mode });
    tell({ event: "file-sending", isSending: this.current.isSendingSoundFile });
  },

  stopSending() {
    this.current.stopSendingSoundFile();
    tell({ event: "sending-stopped", isSending: this.current.isSendingSoundFile });
  },

  badFile() {
    this.landline.startPlayingSoundFile(new Uint8Array(100).buffer).then(
      () => tell({ event: "file-refused", code: "none" }), (error) => tell({ event: "file-refused", ...described(error) }));
  },

  async twoHolds() {
    const all = await Promise.allSettled([this.current.hold(true), this.current.hold(false), this.current.hold(true)]);
    tell({ event: "held-thrice", outcome: all.map(({ status }) => status).join(" "), held: this.current.onHold });
  },

  // The library has its own clone: this one is the page's to keep.
  async microphone() {
    this.stream = await ask({ audio: true });
    tell({ event: "microphone" });
  },

  release() {
    for (const track of this.stream.getTracks()) track.stop();
    tell({ event: "released" });
  },

  streams() {
    const [given] = this.stream?.getAudioTracks() ?? [];
    const [own] = this.current.localStream?.getAudioTracks() ?? [];
    tell({ event: "streams", given: given?.readyState ?? null, own: own?.readyState ?? null, enabled: own?.enabled ?? null,
      muted: this.current.muted, held: this.current.onHold, heldByOther: this.current.heldByOther });
  },

  // The other end of the call's sound where no gateway is: answers, and offers a change.
  async farAnswer({ sdp }) {
    this.far ??= new RTCPeerConnection();
    await this.far.setRemoteDescription({ type: "offer", sdp });
    await this.far.setLocalDescription();
    return this.far.localDescription.sdp;
  },

  async farOffer() {
    await this.far.setLocalDescription(await this.far.createOffer({ iceRestart: true }));
    return this.far.localDescription.sdp;
  },

  async farTakes({ sdp }) {
    await this.far.setRemoteDescription({ type: "answer", sdp });
    return this.far.signalingState;
  },

  // Asks for so much at once that not all can wait.
  async flood({ count }) {
    const all = await Promise.allSettled(Array.from({ length: count }, () => this.current.sendDigits("1")));
    return all.filter(({ reason }) => reason?.code === "gw.limit").length;
  },

  // What a client is told that wants calls of a gateway without them.
  async refusedListening() {
    try { await this.landline.listen(); } catch (error) { return error.code; }
    return "none";
  },

  announce({ name }) { globalThis.dispatchEvent(new Event(name)); },

  facts() {
    return { state: this.landline.state, draining: this.landline.draining, calls: this.landline.calls.length,
      call: this.current?.state ?? null, told: this.told };
  },

  stop() {
    this.landline.stop();
    tell({ event: "stopped", state: this.landline.state });
  },

  async stopGracefully() {
    await this.landline.stopGracefully();
    tell({ event: "stopped", state: this.landline.state });
  },

  // Without a word of the library.
  cut({ code }) {
    for (const socket of opened.sockets) if (socket.readyState === WebSocket.OPEN) socket.close(...(code ? [code] : []));
    tell({ event: "cut" });
  },

  restart() {
    globalThis.dispatchEvent(new Event("online"));
    tell({ event: "restarting" });
  },

  async path() {
    const figures = [...(await this.current.connection.getStats()).values()];
    const pair = figures.find((each) => each.type === "candidate-pair" && each.nominated);
    const local = /a=ice-ufrag:(\S+)/.exec(this.current.connection.localDescription.sdp)?.[1];
    const remote = /a=ice-ufrag:(\S+)/.exec(this.current.connection.remoteDescription.sdp)?.[1];
    tell({ event: "path", state: this.current.connection.iceConnectionState, pairs: Boolean(pair), local, remote });
  },

  left() {
    tell({
      event: "left", sockets: opened.sockets.filter((each) => each.readyState < WebSocket.CLOSING).length,
      connections: opened.connections.filter((each) => each.signalingState !== "closed").length,
      tracks: opened.tracks.filter((each) => each.readyState === "live").length, timers: opened.timers.size,
      listeners: opened.listeners, made: opened.sockets.length,
      urls: [...new Set(opened.sockets.map((each) => each.url))].join(" "), protocol: opened.sockets.at(-1)?.protocol,
    });
  },

  // Root mean square of what was heard in the last seconds, and which share of it lies where the microphone's tone wavers.
  level({ seconds }) {
    const count = Math.ceil((seconds * this.context.sampleRate) / 128);
    const values = this.blocks.slice(-count).flatMap((block) => [...block]);
    const energy = values.reduce((sum, value) => sum + value * value, 0);
    const turn = this.context.sampleRate / Math.max(values.length, 1);
    let near = 0;
    for (let step = Math.ceil(TONE.from / turn); step * turn <= TONE.to; step += 1) near += power(values, step);
    tell({
      event: "level", value: Math.sqrt(energy / Math.max(values.length, 1)),
      tone: energy > 0 ? (2 * near) / (values.length * energy) : 0,
    });
  },

  record() {
    this.blocks = [];
    tell({ event: "recording" });
  },

  // 16-bit samples of what was heard, in base64.
  recorded() {
    const samples = Int16Array.from(this.blocks.flatMap((block) =>
      Array.from(block, (value) => Math.max(-32768, Math.min(32767, Math.round(value * 32768))))));
    const bytes = new Uint8Array(samples.buffer);
    let text = "";
    for (let start = 0; start < bytes.length; start += 32768) text += String.fromCharCode(...bytes.subarray(start, start + 32768));
    return btoa(text);
  },
};
tell({ event: "loaded" });
