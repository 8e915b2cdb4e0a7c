// Calls from a web page through a Landline gateway. One module, nothing else; its types stand in landline.d.ts.

export const VERSION = "0.7.0";
const CLIENT = `landline.js/${VERSION}`;
// The part of the protocol by which a gateway tells of calls for the page's user.
const INCOMING = "incoming.1";
const ROOMS = "rooms.1";

/** Every limit of the library; milliseconds where nothing else is said. */
export const LIMITS = Object.freeze({
  /** Requests without a reply at a time, those that wait for the connection among them. */
  pendingRequests: 64,
  /** Calls of one client at a time. */
  calls: 16,
  /** Characters of one message, either way. */
  messageLength: 262144,
  /** Characters of a session description. */
  descriptionLength: 65536,
  /** Keys of one sendDigits(). */
  digits: 64,
  /** Bytes of all custom headers together, and of one name. */
  headerBytes: 1024,
  headerNameBytes: 64,
  /** Bytes of what the device calls itself. */
  nameBytes: 255,
  /** Tabs of one browser that have a device of their own for one user; further ones have a name for once. */
  tabs: 32,
  /** Figures of one statistics report, and characters of a figure's name. */
  figures: 64,
  figureName: 64,
  /** A request without reply is given up after this long. */
  reply: 15000,
  /** connect() is refused after this long; the client goes on trying. */
  connect: 30000,
  /** A connection that is not open and registered by then is tried anew. */
  attempt: 10000,
  /** Longest that the page's credentials function may take, and how long its answer is good. */
  credentials: 30000,
  proof: 30000,
  /** Signatures whose sequence was passed, one after the other, before the registration counts as refused. */
  signatures: 16,
  /** Silence of the gateway before a ping, and before the connection counts as lost after it. */
  ping: 20000,
  pong: 10000,
  /** The same after news from the network, when the answer matters at once. */
  probe: 2500,
  /** The wait before the second attempt; it doubles up to the longest. */
  firstWait: 250,
  longestWait: 30000,
  /** A hang-up or decline without an answer ends the call here, and so does a crossing whose other call does not come. */
  hangUp: 5000,
  /** Between two statistics reports. */
  report: 10000,
  /** Between two looks at what became of the sound that is sent, and of what comes. */
  uplink: 1000,
  /** How long ICE may be interrupted before it is started anew, and the least time between two such starts. */
  iceGrace: 2000,
  iceRestart: 4000,
  /** From the gateway's answer until the page is told that there is no way for sound yet. */
  mediaPath: 2000,
  /** From the gateway's answer until relays are asked, where the gateway has any; the page is told by so much later then. */
  directPath: 1500,
  relayPath: 3000,
  /** Bytes of a sound file. */
  soundBytes: 16777216,
});

// What the library itself can find wrong, in the words of the gateway's catalogue: [message, retry].
const FAILURES = {
  "sip.media": ["The two sides found no common codec or media transport.", "otherCodec"],
  "network.unreachable": ["The app could not connect to the gateway.", "now"],
  "network.timeout": ["The gateway did not answer the app in time.", "now"],
  "network.security": ["The app and the gateway could not agree on a trusted encrypted connection.", "afterFix"],
  "network.media": ["No way for sound was found between the app's device and the gateway's media port (ICE over UDP, then DTLS).", "afterFix"],
  "network.lost": ["The connection between app and gateway broke and was not resumed in time.", "now"],
  "capability.remote": ["The other side has no device that supports what was asked for: calls, video or messages.", "never"],
  "capability.local": ["This client was started without the capability that was asked for.", "afterFix"],
  "gw.limit": ["The account has reached one of its caps; the Reason header names it.", "later"],
  "gw.number": ["The text is not a phone number in international form.", "afterFix"],
  "gw.address": ["The text is not a SIP address, user id or conference id.", "afterFix"],
  "gw.header": ["A custom header breaks the rules; the message names it.", "afterFix"],
  "gw.message": ["A message to the gateway, or a part of it that is named, is not what the protocol says.", "afterFix"],
  "gw.origin": ["Web pages of this origin may not connect to the gateway.", "afterOperator"],
  "gw.registration": ["The proof of who registers was not accepted.", "afterFix"],
};
const DOMAINS = { sip: "sip", network: "network", capability: "capability", gw: "gateway" };

/** Everything that is known of a failure; `details` is the gateway's own object. */
export class LandlineError extends Error {
  constructor(details, options) {
    const { problem } = details.invalid ?? {};
    super([details.message, problem ?? details.phrase].filter(Boolean).join(" — "), options);
    this.name = "LandlineError";
    this.code = details.code;
    this.domain = details.domain;
    this.retry = details.retry;
    this.refusal = details.refusal ?? null;
    this.sipStatus = details.sip_status ?? null;
    this.phrase = details.phrase ?? null;
    this.q850 = details.cause ?? null;
    this.reasons = details.reasons ?? [];
    this.warning = details.warning ?? null;
    this.retryAfter = details.retry_after ?? null;
    this.leg = details.leg ?? null;
    this.trunk = details.trunk ?? null;
    this.attempts = details.attempts ?? [];
    this.correlation = details.correlation ?? null;
    this.invalid = details.invalid ?? null;
    this.details = details;
  }
}

function failure(code, more, cause) {
  const [message, retry] = FAILURES[code];
  const details = { domain: DOMAINS[code.split(".")[0]], code, message, retry, leg: "app", ...more };
  return new LandlineError(details, cause === undefined ? undefined : { cause });
}

// What the gateway told.
const told = (details) => (typeof details?.code === "string" ? new LandlineError(details) : failure("gw.message"));
const problem = (code, phrase, cause) => failure(code, { phrase }, cause);

function invalid(code, kind, rule, offset, problem, accepted) {
  return failure(code, { invalid: { kind, rule, ...(offset === null ? {} : { offset }), problem, accepted } });
}

const bytes = (text) => new TextEncoder().encode(text).length;
const wallClock = () => performance.timeOrigin + performance.now();
// Whoever does not look at a promise is not told of its failure by an error of the page.
const quiet = (promise) => (promise.catch(() => {}), promise);
const before = (promise, milliseconds, error) => {
  let timer;
  const late = new Promise((_, refuse) => (timer = setTimeout(() => refuse(error()), milliseconds)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

// MARK: Arguments. What is certainly wrong is refused here, with the gateway's words; the rest is the gateway's to judge.

const TARGETS = { phone: "number", sip: "address", user: "user", conference: "conference" };

function checkedTarget(kind, target) {
  if (!Object.hasOwn(TARGETS, kind)) {
    const accepted = Object.keys(TARGETS).join(", ");
    throw invalid("gw.message", "call.to.kind", "message.value", null, `there is no kind ${kind}`, accepted);
  }
  const text = String(target ?? "").trim();
  if (kind === "phone") return checkedNumber(text.replace(/^tel:/i, ""));
  if (kind === "sip") {
    const accepted = "user@domain with an optional port, without parameters, such as alice@example.com";
    const refuse = (rule, problem) => {
      throw invalid("gw.address", "SIP address", `sip.${rule}`, null, problem, accepted);
    };
    if (!text) refuse("empty", "nothing is there");
    if (!/.@./.test(text)) refuse("at", "the '@' between user and domain is missing");
    if (text.length > 255) refuse("long", "the address has more than 255 characters");
    return text;
  }
  const [name, rule, most] = kind === "user" ? ["user id", "user", 255] : ["conference id", "conference", 64];
  const accepted = `1 to ${most} printable ASCII characters from '!' to '~', without spaces`;
  const offset = text.search(/[^!-~]/);
  if (!text) throw invalid("gw.address", name, `${rule}.empty`, 0, "nothing is there", accepted);
  if (offset >= 0) throw invalid("gw.address", name, `${rule}.character`, offset, "a character is not allowed", accepted);
  if (text.length > most) {
    throw invalid("gw.address", name, `${rule}.long`, most, `more than ${most} characters`, accepted);
  }
  return text;
}

function checkedNumber(text) {
  const refuse = (rule, offset, problem) => {
    const accepted = "+, a country code and the national number, 7 to 15 digits together, such as +46701234567";
    throw invalid("gw.number", "phone number", `e164.${rule}`, offset, problem, accepted);
  };
  if (!text) refuse("plus", 0, "nothing is there");
  // Short codes reach an emergency service; which ones there are, the gateway knows.
  if (/^[0-9]{2,6}$/.test(text)) return text;
  if (text[0] !== "+") refuse("plus", 0, `'${text[0]}' stands where the number must begin with '+'`);
  const offset = text.slice(1).search(/[^0-9]/);
  if (offset >= 0) {
    const found = text[offset + 1] === " " ? "a space" : `'${text[offset + 1]}'`;
    refuse("digit", offset + 1, `${found} is not a digit 0 to 9`);
  }
  if (text[1] === "0") refuse("first", 1, "no country code begins with 0");
  const digits = text.length - 1;
  if (digits < 7) refuse("short", text.length, `only ${digits} digits where at least 7 are needed`);
  if (digits > 15) refuse("long", 16, "more than 15 digits");
  return text;
}

function checkedHeaders(headers, leavesBySIP) {
  const most = LIMITS.headerNameBytes;
  const accepted =
    `${leavesBySIP ? "x- and " : ""}a SIP token of at most ${most} characters, once each; values without control characters; ` +
    `${LIMITS.headerBytes} bytes together; such as ${leavesBySIP ? "x-" : ""}order: 4711`;
  const entries = Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]);
  const names = new Set();
  let total = 0;
  for (const [name, value] of entries) {
    const refuse = (rule, offset, problem) => {
      const shown = name.slice(0, most).replace(/[^!-~]/g, "?") || "without a name";
      throw invalid("gw.header", `custom header ${shown}`, `header.${rule}`, offset, problem, accepted);
    };
    const key = name.toLowerCase();
    if (leavesBySIP && !key.startsWith("x-")) refuse("prefix", 0, "the name does not start with x-");
    if (bytes(name) > most) refuse("nameLong", most, `the name has more than ${most} characters`);
    if (!/^[a-z0-9.!%*_+`'~-]+$/.test(key) || (leavesBySIP && key === "x-")) {
      refuse("name", null, `it is no SIP token${leavesBySIP ? ", or nothing follows x-" : ""}`);
    }
    if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) refuse("value", null, "a control character stands in the value");
    if (/^ | $/.test(value)) refuse("blank", null, "the value starts or ends with a space");
    if (names.has(key)) refuse("duplicate", null, "the name is already taken, upper and lower case are the same");
    names.add(key);
    total += bytes(name) + bytes(value);
    if (total > LIMITS.headerBytes) refuse("budget", null, `with this header they take ${total} bytes together`);
  }
  return Object.fromEntries(entries);
}

function checkedDigits(digits) {
  const text = String(digits ?? "");
  const refuse = (rule, offset, problem) => {
    throw invalid("gw.number", "keys", `keys.${rule}`, offset, problem, `1 to ${LIMITS.digits} of 0-9, *, # and A-D`);
  };
  if (!text) refuse("empty", null, "nothing is there");
  if (text.length > LIMITS.digits) refuse("long", LIMITS.digits, `more than ${LIMITS.digits} keys`);
  const offset = text.search(/[^0-9*#A-Da-d]/);
  if (offset >= 0) refuse("symbol", offset, "there is no such key");
  return text;
}

// MARK: The session: a WebSocket that registers, numbers requests, matches replies and is made anew after a loss

// Close codes after which the same first message would be refused again.
const OUR_MISTAKE = new Set([1002, 1003, 1007, 1008, 1009]);

class Session {
  /** The gateway's relays with credentials for them; null where it has none. */
  turn = null;
  #url; #profile; #prove; #hear;
  #state = "idle";
  // none, opening, greeting, standing, waiting
  #phase = "none";
  #socket = null;
  #session = null;
  #registered = false;
  #asksOrigin = false;
  #lastNumber = 0;
  #greeting = 0;
  #attempts = 0;
  // Signatures whose sequence was passed since the last registration, and the least that would do.
  #signatures = 0;
  #least = "1";
  #refusal = null;
  #proof = null;
  // The proof that was sent is what the gateway gave this device earlier; once such a one was refused, another is wanted.
  #usesKept = false;
  #wantsFresh = false;
  #heard = 0;
  #pinged = false;
  #timers = { phase: 0, pulse: 0, session: 0 };
  // Requests by number, and those that have none yet.
  #asked = new Map();
  #queued = [];

  /**
   * @param profile what a registration says beside its proof, made anew for each
   * @param prove gives a proof: prove(least sequence, whether what was kept will not do)
   * @param hear what to tell: state(state, error), registered(message), event(message), resumed(), lost(error), draining()
   */
  constructor(url, profile, prove, hear) {
    this.#url = url;
    this.#profile = profile;
    this.#prove = prove;
    this.#hear = hear;
  }

  get state() { return this.#state; }

  start() {
    if (this.#state !== "idle" && this.#state !== "stopped") return;
    this.#attempts = 0;
    this.#signatures = 0;
    this.#registered = false;
    this.#wantsFresh = false;
    this.#enter("connecting");
    this.#open();
  }

  /** Ends it; `error` is null when the page wanted so. */
  stop(error = null) {
    if (this.#state === "idle" || this.#state === "stopped") return;
    if (this.#phase === "standing") this.#transmit({ type: "bye" });
    this.#abandon(1000);
    this.#phase = "none";
    for (const name of Object.keys(this.#timers)) this.#set(name);
    this.#proof = null;
    this.#state = "stopped";
    this.#lose(error, true);
    this.#hear.state("stopped", error);
  }

  /**
   * Sends a request, or keeps it until the session stands. `settle(error, reply)` is called once, before any later
   * message is looked at.
   * @returns a function that takes it back: true, and settle is not called, unless it was sent.
   */
  request(type, members, settle) {
    const entry = { type, members, settle, number: 0, timer: 0, isSent: false };
    const takeBack = () => !entry.isSent && this.#remove(entry);
    if (this.#state === "idle" || this.#state === "stopped") {
      settle(problem("network.unreachable", "the client is not connected"));
      return takeBack;
    }
    if (this.#asked.size + this.#queued.length >= LIMITS.pendingRequests) {
      settle(problem("gw.limit", "too many requests wait for a reply"));
      return takeBack;
    }
    entry.timer = setTimeout(() => this.#settle(entry, failure("network.timeout")), LIMITS.reply);
    if (!this.#session) {
      this.#queued.push(entry);
    } else {
      this.#number(entry);
      if (this.#phase === "standing") this.#send(entry);
    }
    return takeBack;
  }

  /** The network is another one: what was open leads nowhere. */
  networkChanged() {
    if (this.#phase === "none") return;
    this.#abandon(1000);
    this.#attempts = 0;
    this.#keepSession();
    if (this.#state === "ready") this.#enter("reconnecting");
    this.#open();
  }

  /** Something may have happened: look now rather than later. */
  probe() {
    if (this.#phase === "waiting") {
      this.#attempts = 0;
      this.#open();
    } else if (this.#phase === "standing" && !this.#pinged) {
      this.#ping(LIMITS.probe);
    }
  }

  // Connecting

  #open() {
    this.#refusal = null;
    this.#phase = "opening";
    let socket;
    try {
      socket = new WebSocket(this.#url, "landline.v1");
    } catch (error) {
      const phrase = "the browser allows no connection to this address";
      return this.stop(problem("network.security", phrase, error));
    }
    this.#socket = socket;
    this.#set("phase", LIMITS.attempt, () => this.#fail());
    // Late news of a socket that was given up is none.
    const live = (handle) => (event) => socket === this.#socket && handle(event);
    socket.onopen = live(() => this.#greet());
    socket.onmessage = live(({ data }) => this.#receive(data));
    socket.onclose = live(({ code }) => this.#closed(code));
    if (this.#session) return;
    // A token may have ended meanwhile.
    if (performance.now() - this.#proof?.at > LIMITS.proof) this.#proof = null;
    this.#askForProof();
  }

  // Beside the opening of the connection: neither waits for the other.
  #askForProof() {
    if (this.#proof) return;
    const proof = (this.#proof = { value: null });
    const late = () => problem("network.timeout", "the page gave no credentials in time");
    before(Promise.resolve().then(() => this.#prove(this.#least, this.#wantsFresh)), LIMITS.credentials, late).then(
      (value) => {
        if (proof !== this.#proof) return;
        Object.assign(proof, { value, at: performance.now() });
        if (this.#phase === "greeting" && !this.#greeting) this.#greet();
      },
      (error) => {
        if (proof !== this.#proof) return;
        this.#proof = null;
        const typed = error instanceof LandlineError;
        if (typed || !this.#registered) {
          const phrase = "the page gave no credentials";
          return this.stop(typed ? error : problem("network.unreachable", phrase, error));
        }
        // The page's server may be away together with the gateway.
        this.#fail();
      },
    );
  }

  #greet() {
    this.#phase = "greeting";
    this.#greeting = 0;
    if (this.#session) {
      this.#greeting = ++this.#lastNumber;
      const { name, token, lastEvent } = this.#session;
      this.#transmit({ type: "resume", id: this.#greeting, session: name, token, last_event: lastEvent });
    } else if (this.#proof?.value) {
      this.#greeting = ++this.#lastNumber;
      this.#usesKept = this.#proof.value.kind === "credential";
      this.#transmit({ type: "register", id: this.#greeting, ...this.#profile(), proof: this.#proof.value });
      // It is used up.
      this.#proof = null;
    } else {
      this.#askForProof();
    }
  }

  #closed(code) {
    const wasGreeting = this.#phase === "greeting";
    this.#socket = null;
    if (code === 4401 && wasGreeting && this.#usesKept) {
      // Its time is over, or it was ended: the page can prove who it is in another way.
      this.#usesKept = false;
      this.#wantsFresh = true;
      return this.#open();
    }
    if (code === 4401) return this.stop(this.#error() ?? failure("gw.registration"));
    if (code === 4409) return this.stop(problem("network.lost", "the session was taken up elsewhere"));
    // The connection was never there: a browser does not tell a page why, and so the page asks.
    if (this.#phase === "opening") this.#askWhetherRefused();
    if (OUR_MISTAKE.has(code) && wasGreeting) return this.stop(this.#error() ?? failure("gw.message"));
    // Whatever else stands between page and gateway may have said: only the gateway knows whether the session is over.
    if (code === 4404) this.#lose(failure("network.lost"));
    this.#reconnect();
  }

  // The gateway answers the same request without a WebSocket, and a refused page may read it. Other answers, and none, say
  // nothing new.
  async #askWhetherRefused() {
    if (this.#registered || this.#asksOrigin || new URL(this.#url).host === globalThis.location?.host) return;
    this.#asksOrigin = true;
    try {
      const address = this.#url.replace(/^ws/, "http");
      const answer = await fetch(address, { credentials: "omit", signal: AbortSignal.timeout(LIMITS.attempt) });
      const { code, fix } = answer.status === 403 ? await answer.json() : {};
      const isOver = this.#state === "idle" || this.#state === "stopped";
      if (code === "connect.origin" && !isOver) this.stop(problem("gw.origin", String(fix)));
    } catch {
      // The gateway is away, which the next attempt finds as well.
    } finally {
      this.#asksOrigin = false;
    }
  }

  #refuse({ id, error }) {
    this.#refusal = error;
    if (this.#session || id !== this.#greeting) return;
    if (error?.code === "gw.unavailable" && !this.#registered) return this.stop(told(error));
    if (error?.code !== "gw.sequence" || !/^[0-9]{1,20}$/.test(error.next_sequence)) return;
    // Another device of the user was first: whoever signs does so again, on this connection if it lasts.
    if (++this.#signatures >= LIMITS.signatures) return this.stop(told(error));
    this.#least = error.next_sequence;
    this.#greeting = 0;
    this.#askForProof();
  }

  #error() { return this.#refusal && told(this.#refusal); }

  // The connection leads nowhere.
  #fail(code = 1000) {
    this.#abandon(code);
    this.#reconnect();
  }

  #abandon(code) {
    const socket = this.#socket;
    this.#socket = null;
    this.#set("pulse");
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close(code);
  }

  #reconnect() {
    this.#set("pulse");
    this.#keepSession();
    if (this.#state === "ready") this.#enter("reconnecting");
    this.#phase = "waiting";
    this.#set("phase", this.#wait(), () => this.#open());
    this.#attempts += 1;
  }

  // A lost session waits for so long.
  #keepSession() {
    const session = this.#session;
    if (!session || session.isDue) return;
    session.isDue = true;
    this.#set("session", session.seconds * 1000, () => {
      this.#lose(failure("network.lost"));
      if (this.#phase === "greeting") this.#fail();
    });
  }

  // Up to the first wait before the first attempt, then from half of a wait to all of it, so that not all come at once.
  #wait() {
    const wait = Math.min(LIMITS.firstWait * 2 ** Math.max(this.#attempts - 1, 0), LIMITS.longestWait);
    const least = this.#attempts === 0 ? 0 : wait / 2;
    const asked = Math.min((this.#refusal?.retry_after ?? 0) * 1000, LIMITS.longestWait);
    return Math.max(least + Math.random() * (wait - least), asked);
  }

  // Messages

  #receive(data) {
    let message = null;
    if (typeof data === "string" && data.length <= LIMITS.messageLength) {
      try { message = JSON.parse(data); } catch { /* the same as no object */ }
    }
    if (message === null || typeof message !== "object" || Array.isArray(message)) return this.#fail();
    this.#heard = performance.now();
    if (this.#pinged) {
      this.#pinged = false;
      this.#watch(LIMITS.ping);
    }
    const { type, id, seq } = message;
    // Relays for networks without UDP, as one of WebRTC's iceServers: told with each session, and anew before they end.
    if (type === "registered" || type === "resumed" || type === "turn") this.turn = message.turn ?? null;
    if (this.#phase === "greeting") {
      const isReply = id === this.#greeting && typeof message.resume?.token === "string";
      if (type === "error") this.#refuse(message);
      else if (isReply && type === "registered" && !this.#session) this.#begin(message);
      else if (isReply && type === "resumed" && this.#session) this.#resume(message);
      return;
    }
    if (this.#phase !== "standing") return;
    if (seq !== undefined) {
      // Told again after a loss, though it had arrived.
      if (!(seq > this.#session.lastEvent)) return;
      this.#session.lastEvent = seq;
    }
    if (type === "draining") return this.#hear.draining();
    if (type === "error" || type === "done" || type === "answer" || type === "placed" || type === "pong") {
      const entry = this.#asked.get(id);
      if (entry) this.#settle(entry, type === "error" ? told(message.error) : null, message);
      // Its time was over and the page was told so: the call must not go on.
      else if (type === "placed") this.request("hangup", { call: message.call }, () => {});
      return;
    }
    if (typeof message.call === "string") this.#hear.event(message);
  }

  #begin(message) {
    const { session, resume } = message;
    this.#session = { name: session, token: resume.token, seconds: resume.seconds, lastEvent: 0, isDue: false };
    this.#registered = true;
    this.#signatures = 0;
    this.#usesKept = this.#wantsFresh = false;
    this.#stand();
    this.#hear.registered(message);
    while (this.#queued.length > 0) {
      const entry = this.#queued.shift();
      this.#number(entry);
      this.#send(entry);
    }
    this.#enter("ready");
  }

  #resume({ resume, last_request: last }) {
    Object.assign(this.#session, { token: resume.token, seconds: resume.seconds, isDue: false });
    this.#set("session");
    this.#stand();
    for (const [number, entry] of [...this.#asked]) if (!(number <= last)) this.#send(entry);
    this.#enter("ready");
    this.#hear.resumed();
  }

  #stand() {
    this.#phase = "standing";
    this.#attempts = 0;
    this.#pinged = false;
    this.#set("phase");
    this.#watch(LIMITS.ping);
  }

  // One timer, not one for each message: it looks how long ago the last one was.
  #watch(milliseconds) {
    this.#set("pulse", milliseconds, () => {
      const left = LIMITS.ping - (performance.now() - this.#heard);
      if (left > 0) this.#watch(left);
      else this.#ping(LIMITS.pong);
    });
  }

  #ping(patience) {
    this.#pinged = true;
    this.#transmit({ type: "ping", id: ++this.#lastNumber });
    this.#set("pulse", patience, () => this.#fail(4408));
  }

  #number(entry) {
    entry.number = ++this.#lastNumber;
    this.#asked.set(entry.number, entry);
  }

  #send(entry) {
    entry.isSent = true;
    if (!this.#transmit({ type: entry.type, id: entry.number, ...entry.members })) {
      this.#settle(entry, problem("gw.message", "the message is too large"));
    }
  }

  #transmit(message) {
    const text = JSON.stringify(message);
    if (text.length > LIMITS.messageLength) return false;
    // What a connection that is closing cannot take is sent again on the next one.
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
    return true;
  }

  #settle(entry, error, reply) {
    if (this.#remove(entry)) entry.settle(error, reply);
  }

  // Whether it was still waiting.
  #remove(entry) {
    clearTimeout(entry.timer);
    const place = this.#queued.indexOf(entry);
    if (place >= 0) this.#queued.splice(place, 1);
    return place >= 0 || (this.#asked.get(entry.number) === entry && this.#asked.delete(entry.number));
  }

  // The session is over: nobody answers any more. What waits for the next one goes on waiting unless there is none.
  #lose(error, isFinal = false) {
    const had = this.#session;
    this.#session = null;
    this.#set("session");
    const entries = [...this.#asked.values(), ...(isFinal ? this.#queued : [])];
    for (const entry of entries) this.#settle(entry, error ?? stopped());
    if (had) this.#hear.lost(error);
  }

  #enter(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.#hear.state(state, null);
  }

  #set(name, milliseconds, act) {
    clearTimeout(this.#timers[name]);
    this.#timers[name] = act ? setTimeout(act, milliseconds) : 0;
  }
}

// MARK: Media

/** One peer connection for one call, made before it is needed: its offer stands, its candidates are there. */
class Media {
  /** Of `sendrecv` even without a microphone: the track can come later, and no new description is needed for it. */
  constructor(certificate) {
    this.connection = new RTCPeerConnection({
      // The gateway has an address that everybody reaches: nobody else needs to be asked.
      iceServers: [], bundlePolicy: "max-bundle", rtcpMuxPolicy: "require",
      ...(certificate ? { certificates: [certificate] } : {}),
    });
    this.transceiver = this.connection.addTransceiver("audio", { direction: "sendrecv" });
    this.remote = new MediaStream([this.transceiver.receiver.track]);
    this.offer = quiet(this.connection.setLocalDescription().then(() => this.description));
  }

  // The candidates that are known by now: the gateway answers checks and makes none, so it needs to know of none.
  get description() { return this.connection.localDescription.sdp; }

  close() {
    this.connection.onconnectionstatechange = this.connection.oniceconnectionstatechange = null;
    this.connection.close();
  }
}

// MARK: What the network carries

// bit/s of Opus, from the widest link to the thinnest: the bit rates of the gateway's own steps.
const RATES = [32000, 26000, 20000, 14000, 12000, 8000];
// Bytes of IP, UDP and RTP that a packet of 20 ms adds on the wire, and the tag of SRTP by the end of its cipher's name.
const HEADERS = 40;
const TAGS = { GCM: 16, "80": 10, "32": 4 };
// bit/s that cost no quality.
const HARMLESS = 26000;
// Shares of packets, 0 to 1: a link may be too thin; a little too thin where it lasts; more may be tried; a cut has mended it;
// what is believed at once, while less has to come in two reports one after the other; and the part of the loss at the full rate
// that is the same loss.
const LOSS = { heavy: 0.1, lasting: 0.025, bearable: 0.07, light: 0.02, plain: 0.25, same: 0.7 };
// Milliseconds over the shortest round trip: so much waits in a queue, or does not; and, beside heavy loss, a whole one that is a
// queue which was full before the first report; and in which a queue is to drain.
const QUEUE = { long: 150, short: 50, whole: 500, drain: 2000 };
// How many judge a cut; how many are left out before them at most, since they may speak of what was sent earlier; and after how
// many of those it is cut once more.
const REPORTS = { judging: 2, unseen: 4, patient: 2 };
// Milliseconds at most that the gateway keeps one of our reports before it answers with its own, and until that is seen here.
const KEPT = 2250;
// Milliseconds: without loss before more is tried; after a cut in vain before the next; in which reports are of before a change.
const WAITS = { patience: [2000, 64000], pardon: [30000, 240000], settling: 700 };

/**
 * How many bit/s this end sends, by what the other end reports of it: as the gateway does in the other direction
 * (`LinkAdaptation`), but for the size of packets, which a page cannot set. It asks nothing and does nothing by itself.
 */
class UplinkRate {
  #place = 0; #leastRoundTrip = Infinity; #meanLoss = 0; #wasHeavy = false; #cut = null; #queue = 0; #queueBegan = NaN;
  #changedAt = -Infinity; #quietSince = null; #noCutBefore = -Infinity; #isTrying = false; #widestLoss = 0; #hasBaseline = false;
  #lossBeforeTry = 0;
  #pardon = WAITS.pardon[0]; #wait = WAITS.patience[0];
  #rates; #harmless;

  /** Bytes that SRTP adds to a packet. */
  protection = TAGS.GCM;

  /** most: bit/s that the other end takes. */
  constructor(most) {
    this.#rates = [...new Set(RATES.map((rate) => Math.min(rate, most)))];
    this.#harmless = Math.max(this.#rates.findIndex((rate) => rate <= HARMLESS), 0);
  }

  /** bit/s of Opus at most. */
  get rate() { return this.#rates[this.#place]; }
  /** Less is sent than the codec would like. */
  get isNarrowed() { return this.#place > 0; }

  #wire(rate) { return rate + (HEADERS + this.protection) * 400; }
  get #isThinnest() { return this.#place >= this.#rates.length - 1; }

  /**
   * A report came. loss: 0 to 1 since the report before; trip: { milliseconds, began } of a round trip that this report measured,
   * null where it did not; now: milliseconds.
   */
  report(loss, trip, now) {
    if (!Number.isFinite(loss)) return;
    loss = Math.min(Math.max(loss, 0), 1);
    this.#meanLoss += 0.3 * (loss - this.#meanLoss);
    const delay = trip && this.#measure(trip, now);
    // What waited before the last change waits no more.
    const isOfNow = trip !== null && trip.began >= this.#changedAt;
    if (this.#cut && !this.#cut.isSeen && this.#cut.unseen < REPORTS.unseen) {
      return this.#waitToSee(loss, delay, isOfNow || this.#leastRoundTrip === Infinity, now);
    }
    if (now - this.#changedAt < WAITS.settling) return;
    const isWhole = loss >= LOSS.heavy && this.#queue + this.#leastRoundTrip >= QUEUE.whole;
    if (isOfNow && (this.#queue >= QUEUE.long || isWhole)) return this.#narrow(Math.max(loss, delay.late), delay.queue, now);
    if (this.#cut) return this.#judge(loss, now);
    const isHeavy = loss >= LOSS.heavy && this.#noCutBefore <= now;
    const wasHeavy = this.#wasHeavy;
    this.#wasHeavy = isHeavy;
    if (isHeavy && (wasHeavy || this.#isTrying || loss >= LOSS.plain)) this.#narrow(loss, 0, now);
    else if (this.#isTrying && this.#meanLoss >= Math.max(LOSS.lasting, this.#lossBeforeTry + LOSS.light)) this.#narrow(loss, 0, now);
    else if (this.#place < this.#harmless && this.#meanLoss >= LOSS.lasting) this.#move(this.#harmless, now);
    else if (loss <= LOSS.bearable && this.#queue <= QUEUE.short) this.#widen(now);
    else this.#quietSince = null;
  }

  // Milliseconds that wait by now, and the part of what is sent that makes them more.
  #measure({ milliseconds, began }, now) {
    this.#leastRoundTrip = Math.min(this.#leastRoundTrip, milliseconds);
    this.#hasBaseline = !Number.isNaN(this.#queueBegan);
    const former = this.#queue;
    this.#queue = milliseconds - this.#leastRoundTrip;
    const elapsed = began - this.#queueBegan;
    this.#queueBegan = began;
    if (!(elapsed > 0) || this.#queue <= former) return { queue: this.#queue, late: 0 };
    const growth = (this.#queue - former) / elapsed;
    return { queue: this.#queue + growth * Math.max(0, now - began), late: growth / (1 + growth) };
  }

  // The widest place that the link carries while its queue drains.
  #fitting({ sent, loss, queue }) {
    const most = sent * (1 - loss) * 0.9 * (1 - Math.min(queue / QUEUE.drain, 0.5));
    const place = this.#rates.findIndex((rate) => this.#wire(rate) <= most);
    return place < 0 ? this.#rates.length - 1 : place;
  }

  // Sends no more than nine tenths of what came through.
  #narrow(loss, queue, now, isRepeated = false) {
    this.#quietSince = null;
    if (this.#isThinnest) {
      this.#cut = null;
      // Of the least that can be sent the same part is lost.
      if (loss >= Math.max(LOSS.heavy, LOSS.same * this.#widestLoss) && queue < QUEUE.long) this.#giveBack(now);
      return;
    }
    if (this.#place <= this.#harmless) this.#widestLoss = loss;
    // The first round trip tells of no queue, since it may be all of it.
    if (!this.#hasBaseline && Number.isFinite(this.#leastRoundTrip)) queue = Math.max(queue, this.#leastRoundTrip);
    if (this.#isTrying) this.#wait = Math.min(4 * this.#wait, WAITS.patience[1]);
    const before = { sent: this.#wire(this.rate), loss, queue };
    this.#move(Math.max(this.#fitting(before), this.#place + 1), now);
    this.#cut = { before, isSeen: false, unseen: 0, isRepeated, since: 0, reports: 0 };
  }

  // A report that may still speak of what was sent before the cut: it can tell that more was to be cut, and nothing else.
  #waitToSee(loss, delay, isSeen, now) {
    const cut = this.#cut;
    cut.isSeen = isSeen;
    cut.unseen += 1;
    if (isSeen) {
      if (this.#queue >= QUEUE.long) this.#narrow(Math.max(loss, delay?.late ?? 0), delay?.queue ?? this.#queue, now);
      return;
    }
    cut.before.loss = Math.max(cut.before.loss, loss, delay?.late ?? 0);
    cut.before.queue = Math.max(cut.before.queue, delay?.queue ?? 0);
    this.#widestLoss = Math.max(this.#widestLoss, cut.before.loss);
    const fitting = this.#fitting(cut.before);
    // A full queue loses our own reports as well, and then no round trip ends.
    const isStuck = cut.unseen === REPORTS.patient && (loss > LOSS.light || cut.before.queue >= QUEUE.long);
    if (fitting > this.#place) this.#move(fitting, now);
    else if (isStuck && !cut.isRepeated && !this.#isThinnest) this.#narrow(loss, cut.before.queue, now, true);
  }

  // Two reports tell whether a cut has mended it.
  #judge(loss, now) {
    const cut = this.#cut;
    cut.since += loss;
    cut.reports += 1;
    const mean = cut.since / cut.reports;
    const isStillTooMuch = this.#wire(this.rate) * (1 - mean) >= 0.85 * cut.before.sent * (1 - cut.before.loss);
    if (loss >= LOSS.plain && isStillTooMuch) return this.#narrow(loss, 0, now);
    if (cut.reports < REPORTS.judging) return;
    this.#cut = null;
    if (mean <= Math.max(LOSS.light, cut.before.loss / 3)) return void (this.#pardon = WAITS.pardon[0]);
    if (isStillTooMuch) return this.#narrow(mean, 0, now);
    this.#giveBack(now);
  }

  // Fewer bits, and the same part of them lost: the link is bad and not thin.
  #giveBack(now) {
    this.#cut = null;
    this.#noCutBefore = now + this.#pardon;
    this.#pardon = Math.min(2 * this.#pardon, WAITS.pardon[1]);
    this.#move(Math.min(this.#place, this.#harmless), now);
  }

  #widen(now) {
    if (this.#place === 0) return;
    if (this.#quietSince === null) return void (this.#quietSince = now);
    if (this.#isTrying) {
      // The last try went well.
      this.#isTrying = false;
      this.#wait = Math.max(this.#wait / 2, WAITS.patience[0]);
    }
    if (now - this.#quietSince < this.#wait) return;
    this.#move(this.#place - 1, now);
    this.#isTrying = true;
    this.#lossBeforeTry = this.#meanLoss;
  }

  #move(place, now) {
    this.#place = place;
    this.#isTrying = this.#wasHeavy = false;
    this.#changedAt = now;
    this.#quietSince = null;
  }
}

/** Looks at what is reported of one sender, and has it send as much. */
class Uplink {
  #sender; #rate; #newest = -Infinity; #trips = 0;

  /** answer: the description of the other end. */
  constructor(sender, answer) {
    this.#sender = sender;
    this.#rate = new UplinkRate(Number(/maxaveragebitrate=(\d+)/.exec(answer)?.[1] ?? Infinity));
  }

  async look() {
    const rows = [...(await this.#sender.getStats()).values()];
    const cipher = rows.find(({ type }) => type === "transport")?.srtpCipher ?? "";
    this.#rate.protection = TAGS[/GCM|80$|32$/.exec(cipher)?.[0]] ?? TAGS.GCM;
    for (const row of rows) {
      // The time of these rows is that of the report, which may have been seen before.
      if (row.type !== "remote-inbound-rtp" || !(row.timestamp > this.#newest)) continue;
      this.#newest = row.timestamp;
      const { rate } = this.#rate;
      const now = performance.now();
      this.#rate.report(row.fractionLost, this.#trip(row, now), now);
      if (this.#rate.rate !== rate) await this.#send();
    }
  }

  // The gateway may answer the same report of ours again: then nothing was measured.
  #trip({ roundTripTime, roundTripTimeMeasurements: trips = this.#trips + 1 }, now) {
    if (!Number.isFinite(roundTripTime) || trips === this.#trips) return null;
    this.#trips = trips;
    const milliseconds = roundTripTime * 1000;
    return { milliseconds, began: now - milliseconds - KEPT };
  }

  // A browser may have nothing to set before its first negotiation, or refuse: then it sends as it did.
  async #send() {
    const parameters = this.#sender.getParameters();
    const [encoding] = parameters.encodings ?? [];
    if (!encoding) return;
    encoding.maxBitrate = this.#rate.rate;
    // Larger packets save headers where the browser can make them.
    encoding.adaptivePtime = this.#rate.isNarrowed;
    await this.#sender.setParameters(parameters);
  }
}

// Of the sound that comes: the loss from which on, and the milliseconds that a round trip is above the shortest from which on
// the gateway is told, and the milliseconds for which it is told after that. The first round trips are told in any case: they
// are what later ones are compared with.
// Fewer packets tell nothing, and a longer trip is not taken by the gateway.
const TROUBLE = { loss: 0.02, queue: 100, lasts: 30000, trips: 2, packets: 10, longestTrip: 30000 };

/** Looks at what comes of the gateway's sound: browsers report that to it only every five seconds. */
class Downlink {
  #receiver; #before = null; #responses = 0; #shortest = Infinity; #trips = 0; #troubledAt = -Infinity;

  constructor(receiver) { this.#receiver = receiver; }

  /** What the gateway should know of the second before, or null. */
  async look() {
    const rows = [...(await this.#receiver.getStats()).values()];
    const loss = this.#loss(rows.find(({ type }) => type === "inbound-rtp"));
    if (loss === null) return null;
    const trip = this.#trip(rows.find(({ type, nominated, state }) => type === "candidate-pair" && nominated && state === "succeeded"));
    const now = performance.now();
    if (loss >= TROUBLE.loss || trip > this.#shortest + TROUBLE.queue) this.#troubledAt = now;
    if (trip !== null) {
      this.#shortest = Math.min(this.#shortest, trip);
      this.#trips += 1;
    }
    const isFirst = trip !== null && this.#trips <= TROUBLE.trips;
    if (!isFirst && now - this.#troubledAt >= TROUBLE.lasts) return null;
    return { loss, ...(trip !== null && trip <= TROUBLE.longestTrip ? { round_trip: trip } : {}) };
  }

  // The part of the packets that did not come; null for too few to tell.
  #loss({ packetsReceived: received, packetsLost: lost } = {}) {
    if (!Number.isFinite(received) || !Number.isFinite(lost)) return null;
    const before = this.#before ?? { received, lost };
    const expected = received - before.received + lost - before.lost;
    if (this.#before && expected < TROUBLE.packets) return null;
    this.#before = { received, lost };
    return expected > 0 ? Math.min(Math.max((lost - before.lost) / expected, 0), 1) : null;
  }

  // Milliseconds that the path's own checks took, where one was answered since the last look.
  #trip({ currentRoundTripTime: seconds, responsesReceived: responses } = {}) {
    if (!Number.isFinite(seconds) || responses === this.#responses) return null;
    this.#responses = responses;
    return seconds * 1000;
  }
}

// MARK: Sound files

// One for the page: browsers allow few of them. It rests while nothing plays.
let output = null;
let players = 0;

function openOutput() {
  if (!globalThis.AudioContext) throw problem("capability.local", "the browser has no Web Audio");
  output ??= new AudioContext();
  players += 1;
  // Before the user has touched the page a browser may refuse; the sound begins as soon as it does not.
  output.resume().catch(() => {});
  return output;
}

function closeOutput() {
  players -= 1;
  if (players === 0) output.suspend().catch(() => {});
}

// The sound of an address, a Blob, bytes, or an AudioBuffer.
async function readSound(source) {
  if (globalThis.AudioBuffer && source instanceof AudioBuffer) return source;
  const refuse = (why, cause) => problem("capability.local", `no sound file: ${why}`, cause);
  let file = source;
  if (typeof source === "string" || source instanceof URL) {
    let response;
    try { response = await fetch(source); } catch (error) { throw refuse("it cannot be fetched", error); }
    if (!response.ok) throw refuse(`the server says ${response.status}`);
    if (Number(response.headers.get("content-length")) > LIMITS.soundBytes) throw refuse("it is too large");
    file = await response.blob();
  }
  const size = file?.size ?? file?.byteLength;
  if (!Number.isFinite(size)) throw new TypeError("a sound file is an address, a Blob, an ArrayBuffer or an AudioBuffer");
  if (size > LIMITS.soundBytes) throw refuse(`it has more than ${LIMITS.soundBytes} bytes`);
  // Reading takes the bytes away from whoever gave them.
  const data = file instanceof Blob ? await file.arrayBuffer() : (ArrayBuffer.isView(file) ? file : new Uint8Array(file)).slice().buffer;
  const context = openOutput();
  try { return await context.decodeAudioData(data); } catch (error) { throw refuse("the browser cannot read it", error); } finally { closeOutput(); }
}

/** A sound file that plays to one place, once or again and again. */
class Playing {
  #node; #isOver = false; #hasBegun = false;

  /** @param connect where it goes: connect(node, context); finished: told once, when it is over or stopped */
  constructor(buffer, loop, connect, finished) {
    const context = openOutput();
    this.#node = new AudioBufferSourceNode(context, { buffer, loop });
    this.finished = finished;
    this.#node.onended = () => this.stop();
    connect(this.#node, context);
  }

  begin() {
    if (this.#hasBegun || this.#isOver) return;
    this.#hasBegun = true;
    this.#node.start();
  }

  stop() {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#node.onended = null;
    this.#node.disconnect();
    closeOutput();
    this.finished();
  }
}

// Signals of the telephone, one turn of each: [Hz that sound together, milliseconds].
const TONES = {
  ringtone: [[[660, 880], 400], [[], 200], [[660, 880], 400], [[], 200], [[], 1800]],
  ringback: [[[425], 1000], [[], 4000]],
  busy: [[[425], 500], [[], 500]],
  congestion: [[[425], 250], [[], 250]],
};
// Samples a second; the loudness of each tone, 0 to 1; samples that it takes to rise and to fall, without which it clicks.
const TONE = { rate: 16000, level: 0.16, ramp: 80 };
const tones = new Map();

// One turn of a tone: played again and again it has no seam.
function toneOf(name) {
  if (!Object.hasOwn(TONES, name)) throw new TypeError(`there is no tone ${name}, but ${Object.keys(TONES).join(", ")}`);
  if (!globalThis.AudioBuffer) throw problem("capability.local", "the browser has no Web Audio");
  if (tones.has(name)) return tones.get(name);
  const counts = TONES[name].map(([, milliseconds]) => (milliseconds * TONE.rate) / 1000);
  const buffer = new AudioBuffer({ length: counts.reduce((sum, count) => sum + count), sampleRate: TONE.rate });
  const samples = buffer.getChannelData(0);
  let start = 0;
  TONES[name].forEach(([frequencies], place) => {
    for (let index = 0; index < counts[place]; index += 1) {
      const level = TONE.level * Math.min(1, index / TONE.ramp, (counts[place] - index) / TONE.ramp);
      for (const frequency of frequencies) samples[start + index] += level * Math.sin((2 * Math.PI * frequency * index) / TONE.rate);
    }
    start += counts[place];
  });
  tones.set(name, buffer);
  return buffer;
}

// Names of the W3C's "Identifiers for WebRTC's Statistics API"; those of our two streams go without the type.
const FIGURES = {
  "inbound-rtp": [
    "", "packetsReceived", "packetsLost", "packetsDiscarded", "bytesReceived", "jitter", "jitterBufferDelay",
    "jitterBufferTargetDelay", "jitterBufferEmittedCount", "totalSamplesReceived", "totalSamplesDuration",
    "concealedSamples", "silentConcealedSamples", "concealmentEvents", "insertedSamplesForDeceleration",
    "removedSamplesForAcceleration",
    "fecPacketsReceived", "fecPacketsDiscarded", "audioLevel", "totalAudioEnergy",
  ],
  "outbound-rtp": ["", "packetsSent", "bytesSent", "totalPacketSendDelay", "targetBitrate"],
  "remote-inbound-rtp": ["", "roundTripTime", "fractionLost"],
  "remote-outbound-rtp": ["remote-outbound-rtp.", "packetsSent", "bytesSent", "roundTripTime"],
  "media-source": ["media-source.", "audioLevel", "totalAudioEnergy", "echoReturnLoss", "echoReturnLossEnhancement"],
  "candidate-pair": ["candidate-pair.", "currentRoundTripTime", "requestsSent", "responsesReceived"],
  "media-playout": ["media-playout.", "synthesizedSamplesDuration", "synthesizedSamplesEvents", "totalPlayoutDelay"],
};

function figuresOf(statistics) {
  const figures = {};
  let count = 0;
  for (const row of statistics.values()) {
    const names = FIGURES[row.type];
    // Of the pairs, only the one in use says something.
    if (!names || (row.type === "candidate-pair" && !row.nominated)) continue;
    for (const name of names.slice(1)) {
      const full = names[0] + name;
      if (!Number.isFinite(row[name]) || full.length > LIMITS.figureName || count >= LIMITS.figures) continue;
      if (!Object.hasOwn(figures, full)) count += 1;
      figures[full] = row[name];
    }
  }
  return figures;
}

// MARK: A call

// What only the client may do with a call.
const [TAKE, LOST, CHECK, RING, LEAVE, CROSS] =
  ["take", "lost", "check", "ring", "leave", "cross"].map((name) => Symbol(name));

const ORDER = ["initiating", "progressing", "ringing", "answered", "established", "ended"];
// Type on the wire: [event here, state it leads to, name of its time].
const STEPS = {
  progress: ["progressing", "progressing", "progressed"],
  ringing: ["ringing", "ringing", "rung"],
  early: ["early", null, "early"],
  accepted: ["accepted", "answered", "answered"],
  established: ["established", "established", "established"],
};
const PASSED_ON = new Set(["price", "credit", "digit", "held", "transfer", "quality", "warning", "recording"]);

// Tells act(detail) of each event of a name. → what ends that
function listenTo(target, name, act) {
  const listener = ({ detail }) => act(detail);
  target.addEventListener(name, listener);
  return () => target.removeEventListener(name, listener);
}

/** A call. It exists from the moment it is asked for, or comes in; all that happens to it later is an event. */
export class Call extends EventTarget {
  #client; #media; #options; #end;
  #state = "initiating";
  #isAsked = false;
  #takeBack = null;
  #wantsEnd = false;
  #track = null;
  #muted = false;
  #onHold = false;
  #turn = null;
  #mayTurn = resolvers();
  #restarted = -Infinity;
  #mustRestart = false;
  #uplink = null;
  #downlink = null;
  #isReporting = false;
  // The file for the other side: { playing, track, mix }, and the last that was asked for.
  #file = null;
  #fileOrder = null;
  // Muted by itself, for want of a microphone.
  #isDumb = false;
  // Of a call that comes in: "ringing", "accepting" once the gateway was told, "taken"; and the promise of answer().
  #callee = null;
  #answering = null;
  // The offer of this device: null before the gateway has it, "sent" with the alert, "agreed".
  #early = null;
  // The gateway's name for the call that comes in from the very user that this one is for.
  #crossing = null;
  #timers = { report: 0, uplink: 0, ice: 0, path: 0, relay: 0, end: 0 };

  id = null;
  times = {};
  price = null;
  quality = null;
  credit = null;
  /** Of a conference: all who are in it, this page's own number there, who speaks, and who leads the talk. */
  members = [];
  participant = null;
  speaking = [];
  leads = null;
  summary = null;
  failure = null;
  localStream = null;
  heldByOther = false;
  /** Custom headers of the other side, as far as they are known. */
  headers = {};
  /** Of a call that comes in: who calls, whether with video, whether this device is in another call, until when it rings. */
  from = null;
  number = null;
  videoOffered = false;
  waiting = false;
  expiresAt = null;
  /** Of a call that met one from the same user: that one, which comes in. */
  instead = null;

  /** Made by Landline alone. `invitation`: the gateway's message, for a call that comes in. */
  constructor(client, media, kind, target, options, invitation = null) {
    super();
    this.#client = client;
    this.#options = options;
    this.direction = invitation ? "incoming" : "outgoing";
    this.kind = kind;
    this.target = target;
    this.ended = new Promise((end) => (this.#end = end));
    this.times.started = wallClock();
    this.#turn = quiet(this.#mayTurn.promise);
    this.#media = media;
    this.remoteStream = this.#media?.remote ?? new MediaStream();
    if (!invitation) return void this.#place();
    this.#callee = "ringing";
    this.id = invitation.call;
    this.from = { name: "", ...invitation.from };
    this.number = invitation.number ?? null;
    this.headers = { ...invitation.headers };
    this.videoOffered = invitation.video === true;
    this.waiting = invitation.waiting === true;
    this.expiresAt = Date.parse(invitation.expires_at);
  }

  /** Calls listener(detail) for each event of a name. → what ends that */
  on(name, listener) { return listenTo(this, name, listener); }

  get state() { return this.#state; }
  get muted() { return this.#muted; }
  get onHold() { return this.#onHold; }
  get connection() { return this.#media?.connection ?? null; }

  /** Presses keys for the other side: 0-9, *, #, A-D. */
  sendDigits(digits) { return quiet(this.#sendDigits(digits)); }

  async #sendDigits(digits) {
    const keys = checkedDigits(digits);
    await this.#ask("dtmf", { digits: keys });
  }

  /** Silences the microphone, or lets it be heard again. */
  mute(on = true) { return quiet(this.#mute(Boolean(on))); }

  async #mute(on) {
    this.#muted = on;
    this.#open();
    await this.#ask("mute", { muted: on });
  }

  /** Puts the call on hold, or takes it back. */
  hold(on = true) { return quiet(this.#hold(Boolean(on))); }

  async #hold(on) {
    await this.#inTurn(async () => {
      if (this.#onHold === on) return;
      this.#onHold = on;
      this.#open();
      try {
        await this.#negotiate();
      } catch (error) {
        this.#onHold = !on;
        this.#open();
        throw error;
      }
    });
  }

  /**
   * Puts the other side through to somebody else: `{ kind, target, consult }`, with `consult` after talking with them first;
   * or to the other side of another call of this page: `{ with: call }`. `transfer` events tell how it goes.
   */
  transfer({ kind = "phone", target, consult = false, with: other } = {}) {
    if (other !== undefined) {
      if (!other?.id) throw new TypeError("with must be a call that was placed");
      return quiet(this.#ask("transfer", { with: other.id }));
    }
    if (!TARGETS[kind]) throw new TypeError(`kind must be one of ${Object.keys(TARGETS).join(", ")}`);
    const to = { kind, [TARGETS[kind]]: String(target) };
    return quiet(this.#ask("transfer", { to, ...(consult ? { consult: true } : {}) }));
  }

  /** Puts the other side through to whom this page has talked with first, and leaves the call. */
  completeTransfer() { return quiet(this.#ask("complete", {})); }

  /** Gives a transfer up: this page talks with the other side again. */
  takeBack() { return quiet(this.#ask("take-back", {})); }

  /**
   * Has what is said in the call, or in its conference, recorded: "on", "paused" or "off". A `recording` event tells all apps
   * of the call. Refused where the application's apps may not.
   */
  record(state = "on") {
    if (!["on", "paused", "off"].includes(state)) throw new TypeError('state must be "on", "paused" or "off"');
    return quiet(this.#ask("record", { state }));
  }

  /** What is told of a conference: "speakers" (the default: who is there and who speaks), "members" or "none". */
  follow(watch = "speakers") {
    if (!["speakers", "members", "none"].includes(watch)) throw new TypeError('watch must be "speakers", "members" or "none"');
    return quiet(this.#ask("room", { watch }));
  }

  /** Takes a call that comes in. Kept once it is this device's. */
  answer(options = {}) { return (this.#answering ??= quiet(this.#accept(options))); }

  /** Refuses a call that comes in: on all devices of the user, or with `scope: "device"` on this one. */
  decline({ scope = "user", reason = "declined" } = {}) {
    if (scope !== "user" && scope !== "device") throw new TypeError('scope must be "user" or "device"');
    if (reason !== "declined" && reason !== "busy") throw new TypeError('reason must be "declined" or "busy"');
    if (this.#callee !== "ringing") return this.hangUp();
    if (!this.#wantsEnd && this.#state !== "ended") {
      this.#wantsEnd = true;
      this.#request("decline", { scope, reason }).catch(() => this.#finish("denied", null));
      this.#set("end", LIMITS.hangUp, () => this.#finish("denied", null));
    }
    return this.ended;
  }

  /** Ends the call; one that rings here is declined. The promise is that of `ended`. */
  hangUp() {
    if (this.#callee === "ringing") return this.decline();
    if (this.#crossing !== null) this.#finish("canceled", null);
    if (!this.#wantsEnd && this.#state !== "ended") {
      this.#wantsEnd = true;
      this.#open();
      if (this.id !== null) this.#hangUp();
      // A request that was sent has an answer first; one that was not, need not be.
      else if (!this.#isAsked || this.#takeBack?.()) this.#finish("canceled", null);
    }
    return this.ended;
  }

  /** Takes another microphone: a stream, true for the default one, false for none. */
  useMicrophone(microphone) { return quiet(this.#useMicrophone(microphone)); }

  async #useMicrophone(microphone) {
    if (this.#state === "ended") throw over();
    const track = await openMicrophone(microphone);
    if (this.#state === "ended") return track?.stop();
    this.#take(track);
    await this.#media.transceiver.sender.replaceTrack(this.#file?.track ?? track);
  }

  /** Sends a file to the other side from the answer on, in place of the microphone or mixed with it; one at a time. */
  startSendingSoundFile(source, options = {}) { return quiet(this.#startSending(source, options)); }

  async #startSending(source, { loop = false, mode = "inPlace" }) {
    if (mode !== "inPlace" && mode !== "mixed") throw new TypeError('mode must be "inPlace" or "mixed"');
    if (this.#state === "ended") throw over();
    const order = (this.#fileOrder = {});
    const buffer = await readSound(source);
    if (this.#fileOrder !== order || this.#state === "ended") return;
    this.#file?.playing.stop();
    const file = (this.#file = { playing: null, track: null, mix: null });
    file.playing = new Playing(buffer, Boolean(loop), (node, context) => {
      const mixer = context.createMediaStreamDestination();
      node.connect(mixer);
      file.track = mixer.stream.getAudioTracks()[0];
      file.mix = () => {
        file.microphone?.disconnect();
        const own = mode === "mixed" && this.#track ? new MediaStream([this.#track]) : null;
        file.microphone = own && context.createMediaStreamSource(own);
        file.microphone?.connect(mixer);
      };
      file.mix();
    }, () => this.#sent(file));
    if (this.#isDumb) {
      this.#isDumb = false;
      this.mute(false);
    }
    this.#open();
    if (this.times.answered !== undefined) file.playing.begin();
    await this.#media?.transceiver.sender.replaceTrack(file.track);
  }

  stopSendingSoundFile() {
    this.#fileOrder = null;
    this.#file?.playing.stop();
  }

  get isSendingSoundFile() { return this.#file !== null; }

  // The microphone has its place again.
  #sent(file) {
    file.microphone?.disconnect();
    file.track.stop();
    if (this.#file !== file) return;
    this.#file = null;
    if (this.#state === "ended") return;
    quiet(this.#media.transceiver.sender.replaceTrack(this.#track));
    if (!this.#track && !this.#muted) this.#fallSilent();
  }

  // The other side should not wait for sound that will not come.
  #fallSilent() {
    this.#isDumb = true;
    this.mute(true);
  }

  /** Sends the browser's figures of this call to the gateway now. */
  report() { return quiet(this.#report()); }

  // One at a time: what waits for a connection would be old when it gets there.
  async #reportHeard() {
    if (this.#isReporting) return;
    this.#isReporting = true;
    try {
      const heard = await this.#downlink.look();
      if (heard) await this.#request("report", { figures: {}, heard });
    } finally {
      this.#isReporting = false;
    }
  }

  async #report() {
    if (this.id === null || !this.#media) throw over();
    const figures = figuresOf(await this.#media.connection.getStats());
    await this.#request("report", { figures });
  }

  // From here on: how it comes about.

  async #place() {
    try {
      const destination = checkedTarget(this.kind, this.target);
      // Only what leaves as SIP headers needs the prefix.
      const headers = checkedHeaders(this.#options.headers, this.kind === "phone" || this.kind === "sip");
      if (this.#client.session.state === "stopped") throw problem("network.unreachable", "the client is stopped");
      if (!this.#client.mayCall) throw problem("capability.local", "capabilities does not ask for calling");
      if (!this.#media) throw problem("capability.local", this.#client.shortage ?? "too many calls at a time");
      const { microphone = true } = this.#options;
      const opening = quiet(openMicrophone(microphone));
      // Nobody's phone rings while the user is still asked for the microphone.
      if (!this.#client.mayListen(microphone)) await opening;
      const offer = await this.#media.offer;
      if (this.#state === "ended") return void opening.then((track) => track?.stop(), () => {});
      if (offer.length > LIMITS.descriptionLength) throw problem("sip.media", "the offer is too large");
      const { callerNumber, anonymous, video } = this.#options;
      this.#isAsked = true;
      this.#takeBack = this.#client.session.request("call", {
        to: { kind: this.kind, [TARGETS[this.kind]]: destination }, offer,
        ...(Object.keys(headers).length ? { headers } : {}),
        ...(callerNumber ? { from: String(callerNumber) } : {}), ...(anonymous ? { anonymous: true } : {}), ...(video ? { video: true } : {}),
      }, (error, reply) => {
        if (!error) this.#placed(reply);
        else if (this.#wantsEnd === true) this.#finish("canceled", null);
        else if (error.code === "gw.crossed" && error.correlation && !this.#wantsEnd) this.#crossed(error);
        else this.#finish("error", error);
      });
      this.#take(await opening);
      await this.#media?.transceiver.sender.replaceTrack(this.#file?.track ?? this.#track);
      if (!this.#track && !this.#file && !this.#muted) this.#fallSilent();
    } catch (error) {
      if (this.#state === "ended") return;
      const typed = error instanceof LandlineError ? error : problem("capability.local", "the browser refuses", error);
      if (this.id !== null) this.#hangUp();
      if (this.id !== null || !this.#isAsked) this.#finish("error", typed);
      else this.#wantsEnd = typed;
    }
  }

  #placed({ call, answer }) {
    this.id = call;
    this.times.placed = wallClock();
    this.#client.adopt(this);
    this.#tell("placed", { call });
    if (this.#wantsEnd) {
      this.#hangUp();
      if (this.#wantsEnd instanceof LandlineError) this.#finish("error", this.#wantsEnd);
      return;
    }
    this.#agree(answer);
  }

  // The gateway's answer to the first offer.
  #agree(answer) {
    const { connection } = this.#media;
    connection.onconnectionstatechange = () => this.#mediaChanged();
    connection.oniceconnectionstatechange = () => this[CHECK](false);
    const hasRelays = Boolean(this.#client.session.turn);
    this.#set("path", LIMITS.mediaPath + (hasRelays ? LIMITS.relayPath : 0), () => this.#mediaChanged(this.#noPath()));
    if (hasRelays) this.#set("relay", LIMITS.directPath, () => this.#relay());
    connection.setRemoteDescription({ type: "answer", sdp: answer }).then(
      () => this.#mayTurn.resolve(),
      (error) => this.#fail(problem("sip.media", "the browser does not take the gateway's answer", error)),
    );
  }

  // Nothing can come of the call here. While it rings, others of the user's devices may still take it.
  #fail(error) {
    if (this.#callee === "ringing") quiet(this.#request("decline", { scope: "device" }));
    else this.#hangUp();
    this.#finish("error", error);
  }

  // The very user that is called is calling this device: one call is enough, and the other one has a name already.
  #crossed(error) {
    const other = this.#client.calls.get(error.correlation);
    if (other) return this[CROSS](other, error);
    this.#crossing = error.correlation;
    this.#client.crossings.set(this.#crossing, (call) => this[CROSS](call, error));
    this.#set("end", LIMITS.hangUp, () => this.#finish("error", error));
  }

  /** The call that stands in for this one is known. */
  [CROSS](other, error) {
    this.instead = other;
    this.#finish("error", error);
  }

  // MARK: A call that comes in

  /** The page was told. Who answers at once needs no alert. */
  [RING]() { if (!this.#answering) this.#alert(); }

  // The device rings. With an offer at once, sound is there as soon as somebody answers.
  async #alert() {
    if (this.#isRefused() || this.times.rung !== undefined) return;
    this.#state = "ringing";
    this.times.rung = wallClock();
    const offer = await this.#media.offer.catch(() => null);
    if (this.#isRefused() || this.#callee !== "ringing") return;
    const fits = offer !== null && offer.length <= LIMITS.descriptionLength;
    if (fits) this.#early = "sent";
    try {
      const { type, sdp } = await this.#request("alert", fits ? { offer } : {});
      if (type === "answer") {
        this.#early = "agreed";
        if (this.#state !== "ended") this.#agree(sdp);
      } else if (this.#early === "sent") {
        // Passed over: others ring early already. The answer brings the offer.
        this.#early = null;
      }
    } catch {
      // The end that says why is on its way, or the answer finds out.
      this.#early = null;
    }
  }

  #isRefused() { return this.#state === "ended" || this.#wantsEnd !== false; }

  async #accept({ microphone = true, headers }) {
    let opening = null;
    // What is wrong here is found once the promise is kept as that of the answer.
    await null;
    try {
      if (this.#callee === null) throw problem("gw.message", "only a call that comes in is answered");
      const fields = checkedHeaders(headers, false);
      if (this.#isRefused()) throw over();
      opening = quiet(openMicrophone(microphone));
      // Until the user has said whether the microphone may be used, the call rings on: nobody would be heard yet.
      if (!this.#client.mayListen(microphone)) {
        this.#alert();
        await opening;
      }
      if (this.#isRefused()) throw over();
      this.#callee = "accepting";
      const reply = await this.#acceptance(Object.keys(fields).length ? { headers: fields } : {});
      if (this.#isRefused()) throw over();
      this.#callee = "taken";
      if (reply.type === "answer") this.#agree(reply.sdp);
      this.#begin();
    } catch (error) {
      opening?.then((track) => track?.stop(), () => {});
      this.#unanswered(error);
      throw error;
    }
    await this.#listen(opening);
  }

  // The early offer will do where the gateway took it; one that it passed over is made up for.
  async #acceptance(members) {
    if (this.#early !== null) {
      try {
        return await this.#request("accept", members);
      } catch (error) {
        if (error.code !== "gw.message" || this.#early === "agreed" || this.#isRefused()) throw error;
      }
    }
    const offer = await this.#media.offer;
    if (this.#isRefused()) throw over();
    return this.#request("accept", { ...members, offer });
  }

  // It is this device's call.
  #begin() {
    this.times.answered ??= wallClock();
    this.#state = "answered";
    this.#file?.playing.begin();
    this.#tell("accepted", { call: this.id });
    if (this.#media.connection.connectionState === "failed") this.#noMedia();
  }

  async #listen(opening) {
    try {
      this.#take(await opening);
      await this.#media?.transceiver.sender.replaceTrack(this.#file?.track ?? this.#track);
      if (!this.#track && !this.#file && !this.#muted) this.#fallSilent();
    } catch (error) {
      const typed = error instanceof LandlineError ? error : problem("capability.local", "the browser refuses", error);
      if (this.#state !== "ended") this.#fail(typed);
      throw typed;
    }
  }

  #unanswered(error) {
    if (this.#state === "ended") return;
    if (this.#callee === "ringing") {
      // Nothing was sent: it rings on, and may be answered otherwise.
      this.#answering = null;
      this.#alert();
    } else if (this.#callee === "accepting" && !this.#wantsEnd) {
      if (error.code === "gw.tooLate") {
        // The end that says why is on its way.
        this.#wantsEnd = true;
        this.#set("end", LIMITS.hangUp, () => this.#finish("canceled", error));
      } else if (error.code === "gw.header" || error.code === "gw.limit") {
        this.#callee = "ringing";
        this.#answering = null;
      } else {
        this.#finish("error", error instanceof LandlineError ? error : problem("capability.local", "the browser refuses", error));
      }
    }
  }

  /** The client ends: what rings here rings on elsewhere. */
  [LEAVE]() {
    if (this.#callee === "ringing") this.#finish("canceled", null);
    return this.hangUp();
  }

  /** A message of the gateway about this call. */
  [TAKE]({ type, seq, ...members }) {
    if (this.#state === "ended") return;
    const step = STEPS[type];
    if (step) {
      const [name, state, time] = step;
      this.times[time] ??= wallClock();
      if (members.headers) Object.assign(this.headers, members.headers);
      if (state && ORDER.indexOf(state) > ORDER.indexOf(this.#state)) this.#state = state;
      if (type === "accepted") this.#file?.playing.begin();
      if (type === "established") this.#watch();
      this.#tell(name, members);
    } else if (PASSED_ON.has(type)) {
      if (type === "price") this.price = members;
      if (type === "quality") this.quality = members;
      if (type === "credit") this.credit = members;
      if (type === "held") this.heldByOther = members.held;
      this.#tell(type, members);
    } else if (type === "members") {
      // All who are there come with the own number; anything else is what has changed.
      if (members.own !== undefined) this.participant = members.own;
      const gone = new Set([...members.left, ...members.members.map(({ participant }) => participant)]);
      const others = members.own === undefined ? this.members.filter(({ participant }) => !gone.has(participant)) : [];
      this.members = [...others, ...members.members].sort((one, other) => one.participant - other.participant);
      this.#tell(type, members);
    } else if (type === "speakers") {
      this.speaking = members.speaking;
      this.leads = members.leads ?? null;
      this.#tell(type, members);
    } else if (type === "offer") {
      quiet(this.#inTurn(() => this.#answerOffer(members.sdp)));
    } else if (type === "ended") {
      this.#close(members, members.failure ? told(members.failure) : null);
    }
  }

  // Told again after a connection was lost: the timers are set anew, the uplink is as it was.
  #watch() {
    this.#every("report", LIMITS.report, () => this.report());
    this.#uplink ??= new Uplink(this.#media.transceiver.sender, this.#media.connection.remoteDescription?.sdp);
    this.#downlink ??= new Downlink(this.#media.transceiver.receiver);
    this.#every("uplink", LIMITS.uplink, () => {
      quiet(this.#uplink.look());
      quiet(this.#reportHeard());
    });
  }

  /** The gateway cannot be asked any more. */
  [LOST](error) { this.#finish(error ? "error" : this.times.answered ? "hungUp" : "canceled", error); }

  /** Looks whether the path to the gateway is still there; after a change of network it is made anew in any case. */
  [CHECK](isOther) {
    if (this.#state === "ended" || this.id === null) return;
    const state = this.#media.connection.iceConnectionState;
    if (isOther) this.#restart();
    else if (state === "failed") this.times.connected === undefined && !this.#isUnanswered ? this.#noMedia() : this.#restart();
    else if (state === "disconnected") {
      this.#set("ice", LIMITS.iceGrace, () => {
        if (this.#media?.connection.iceConnectionState === "disconnected") this.#restart();
      });
    } else this.#set("ice");
  }

  #mediaChanged(failure = null) {
    const state = this.#media.connection.connectionState;
    if (state === "connected") {
      this.times.connected ??= wallClock();
      this.#set("path");
    }
    // Keys that cannot be agreed: ICE itself found a way.
    if (state === "failed" && this.times.connected === undefined && !this.#isUnanswered) return this.#noMedia();
    this.#tell("media", { state, failure });
  }

  // The browser has given up, and nothing was ever heard: the other side has no part in it.
  #noMedia() {
    if (this.#state === "ended") return;
    const error = this.#noPath();
    this.#tell("media", { state: "failed", failure: error });
    this.#hangUp();
    this.#finish("error", error);
  }

  // Why there is no way for sound, as far as the page can see.
  #noPath() {
    const { localDescription: own, remoteDescription: other } = this.#media.connection;
    const addresses = (description) =>
      [...(description?.sdp ?? "").matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) (\d+) /gim)].map(([, host, port]) =>
        host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`);
    const phrase = addresses(own).length === 0
      ? "the browser names no address of this device: a setting or an extension may forbid it; Firefox on a computer " +
        "without a network needs media.peerconnection.ice.loopback in about:config, and the microphone allowed"
      : `nothing comes back over UDP from ${addresses(other).slice(0, 4).join(" or ") || "the gateway"}: ` +
        "a firewall or VPN may stop it, or this network does not reach that address";
    return problem("network.media", phrase);
  }

  // Relays cost their owner: they are asked only where no direct path was found in time.
  #relay() {
    if (!["connected", "completed"].includes(this.#media.connection.iceConnectionState)) this.#restart();
  }

  // The path to the gateway is looked for anew, with a new offer; the keys and the sound stay.
  #restart() {
    if (this.#mustRestart) return;
    this.#mustRestart = true;
    this.#set("ice", Math.max(this.#restarted + LIMITS.iceRestart - performance.now(), 0), () => {
      this.#restarted = performance.now();
      this.#mustRestart = false;
      quiet(this.#inTurn(async () => {
        const { connection } = this.#media;
        const { turn } = this.#client.session;
        // Holds from the restart on.
        if (turn) connection.setConfiguration({ ...connection.getConfiguration(), iceServers: [turn] });
        connection.restartIce();
        await this.#negotiate();
        this[CHECK](false);
      })).catch(() => this[CHECK](false));
    });
  }

  // One change of the description after the other, the first after the call is placed.
  #inTurn(change) {
    const turn = this.#turn.then(() => {
      if (this.#state === "ended") throw over();
      return change();
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #negotiate() {
    const { connection, transceiver } = this.#media;
    transceiver.direction = this.#onHold ? "sendonly" : "sendrecv";
    await connection.setLocalDescription();
    try {
      const { sdp } = await this.#request("offer", { sdp: this.#media.description });
      await connection.setRemoteDescription({ type: "answer", sdp });
    } catch (error) {
      if (connection.signalingState === "have-local-offer") await connection.setLocalDescription({ type: "rollback" });
      throw error;
    }
  }

  async #answerOffer(sdp) {
    const { connection } = this.#media;
    await connection.setRemoteDescription({ type: "offer", sdp });
    await connection.setLocalDescription();
    await this.#request("answer", { sdp: this.#media.description });
  }

  // It comes in and is not this device's: what fails may come right before somebody answers.
  get #isUnanswered() { return this.#callee === "ringing" || this.#callee === "accepting"; }

  // A request about this call, as soon as it has a name.
  async #ask(type, members) {
    if (this.id === null) await this.#mayTurn.promise;
    return this.#request(type, members);
  }

  #request(type, members) {
    return new Promise((done, refuse) => {
      if (this.id === null) return refuse(over());
      const settle = (error, reply) => (error ? refuse(error) : done(reply));
      this.#client.session.request(type, { call: this.id, ...members }, settle);
    });
  }

  #hangUp() {
    this.#request("hangup", {}).catch(() => {});
    this.#set("end", LIMITS.hangUp, () => this.#finish(this.times.answered ? "hungUp" : "canceled", null));
  }

  #take(track) {
    this.#track?.stop();
    this.#track = track;
    this.localStream = track ? new MediaStream([track]) : null;
    if (track) track.onended = () => this.#tell("microphone", { live: false });
    this.#file?.mix();
    this.#open();
    if (this.#state === "ended") track?.stop();
  }

  #open() {
    const isOpen = !this.#muted && !this.#onHold && !this.#wantsEnd;
    for (const track of [this.#track, this.#file?.track]) if (track) track.enabled = isOpen;
  }

  // An end that the gateway did not tell.
  #finish(cause, error) {
    const time = (value) => new Date(value).toISOString();
    const { started, answered } = this.times;
    const now = wallClock();
    this.#close({
      ...(this.id === null ? {} : { call: this.id }), cause, started_at: time(started), ended_at: time(now),
      ...(answered ? { answered_at: time(answered) } : {}),
      duration_ms: answered ? Math.round(now - answered) : 0, ...(error ? { failure: error.details } : {}),
    }, error);
  }

  #close(summary, error) {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.times.ended = wallClock();
    this.summary = summary;
    this.failure = error;
    for (const name of Object.keys(this.#timers)) this.#set(name);
    if (this.#crossing !== null) this.#client.crossings.delete(this.#crossing);
    this.#mayTurn.reject(over());
    quiet(this.#mayTurn.promise);
    if (this.#track) this.#track.onended = null;
    this.#track?.stop();
    this.stopSendingSoundFile();
    this.#client.forget(this);
    quiet(this.#say(this.#media));
    this.#end(summary);
    // Failures found at once are told when the page has had time to listen.
    queueMicrotask(() => this.#tell("ended", summary));
  }

  // The last figures come after the end: reading them takes time, and nobody should wait for it.
  async #say(media) {
    if (!media) return;
    try {
      // Of a call that somebody else took, or nobody, there is nothing to say.
      if (this.id === null || this.#isUnanswered || this.#client.session.state === "stopped") return;
      const figures = figuresOf(await media.connection.getStats());
      quiet(this.#request("report", { figures }));
    } finally {
      media.close();
    }
  }

  #tell(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }

  #every(name, milliseconds, act) {
    this.#set(name, milliseconds, () => {
      act();
      this.#every(name, milliseconds, act);
    });
  }

  #set(name, milliseconds, act) {
    clearTimeout(this.#timers[name]);
    this.#timers[name] = act ? setTimeout(act, milliseconds) : 0;
  }
}

const over = () => problem("gw.address", "the call is over");
const stopped = () => problem("network.lost", "the client was stopped");

function resolvers() {
  const all = {};
  all.promise = new Promise((resolve, reject) => Object.assign(all, { resolve, reject }));
  return all;
}

// A track that is ours to stop; null for none.
async function openMicrophone(microphone) {
  if (!microphone) return null;
  if (microphone instanceof MediaStream) {
    const [track] = microphone.getAudioTracks();
    if (!track) throw problem("capability.local", "the stream has no sound");
    return track.clone();
  }
  if (!navigator.mediaDevices) throw problem("capability.local", "a microphone needs a page over https or on localhost");
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: microphone });
    return stream.getAudioTracks()[0];
  } catch (error) {
    throw problem("capability.local", `no microphone: ${error.name}`, error);
  }
}

// MARK: The client

// What the client lends to its calls.
class Floor {
  /** Calls that have not ended, and those of them that the gateway has named. */
  live = new Set();
  calls = new Map();
  /** Calls that go out and wait for the one from the same user that comes in, by its id: what to tell them. */
  crossings = new Map();
  certificate = null;
  permission = null;
  shortage = null;
  /** Whether the client asked for calling. */
  mayCall = false;
  session = null;
  #warm = null;
  #open = 0;

  takeMedia() {
    if (this.#open >= LIMITS.calls) return null;
    try {
      const media = this.#warm ?? new Media(this.certificate);
      this.#warm = null;
      this.#open += 1;
      return media;
    } catch {
      this.shortage = "the browser has no WebRTC";
      return null;
    }
  }

  /** Makes the next call's connection before it is asked for. */
  warmUp() {
    if (this.#warm || !this.certificate || this.session.state !== "ready") return;
    try { this.#warm = new Media(this.certificate); } catch { this.shortage = "the browser has no WebRTC"; }
  }

  coolDown() {
    this.#warm?.close();
    this.#warm = null;
  }

  /** Whether the microphone opens without a question to the user. */
  mayListen(microphone) {
    return !microphone || microphone instanceof MediaStream || this.permission?.state === "granted";
  }

  adopt(call) { this.calls.set(call.id, call); }

  forget(call) {
    if (call.connection) this.#open -= 1;
    this.live.delete(call);
    if (this.calls.get(call.id) === call) this.calls.delete(call.id);
    this.warmUp();
  }
}

// MARK: The device: its name, and what it keeps for the next time

const randomText = () => [...crypto.getRandomValues(new Uint8Array(6))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// As long as the page.
class MemoryStorage {
  #texts = new Map();
  getItem(key) { return this.#texts.get(key) ?? null; }
  setItem(key, text) { this.#texts.set(key, text); }
  removeItem(key) { this.#texts.delete(key); }
}

/** Who the client is on this device. What cannot be read or written is as good as nothing: a fresh proof leads on. */
class Device {
  #keep; #owner; #settling = null; #release = null;

  /** @param name null: one for each tab of a browser that keeps things, one for each page of one that does not */
  constructor(owner, name, keep) {
    this.#owner = owner;
    this.#keep = keep ?? new MemoryStorage();
    this.name = name ?? (keep ? null : `web-${randomText()}`);
  }

  /** A tab that is open beside another one is a device beside it; one that comes later takes the place of one that is gone. */
  async settle() {
    if (this.name === null) await (this.#settling ??= this.#choose());
  }

  async #choose() {
    const key = "landline device";
    let browser = await this.#read(key);
    if (!browser) {
      await this.#write(key, randomText());
      browser = (await this.#read(key)) ?? randomText();
    }
    let place = null;
    for (let tab = 1; globalThis.navigator?.locks && place === null && tab <= LIMITS.tabs; tab += 1) {
      if (await this.#hold(`${this.#owner} ${browser} ${tab}`)) place = tab;
    }
    this.name = `web-${browser}-${place ?? randomText()}`;
  }

  // Whether the name is this tab's until it is closed, or lets go of it.
  #hold(name) {
    return new Promise((settle) => {
      const held = (lock) => {
        settle(lock !== null);
        if (lock) return new Promise((release) => (this.#release = release));
      };
      navigator.locks.request(`landline ${name}`, { ifAvailable: true }, held).catch(() => settle(false));
    });
  }

  /** The next connection may have another name, if tabs are closed meanwhile. */
  leave() {
    if (!this.#release) return;
    this.#release();
    this.#release = this.#settling = this.name = null;
  }

  /** { id, secret, expires } of what the gateway gave, and { sequence }, the highest that was signed here, as text. */
  async load() {
    try { return JSON.parse((await this.#read(this.#key)) ?? "{}") ?? {}; } catch { return {}; }
  }

  save(kept) { return this.#write(this.#key, JSON.stringify(kept)); }

  async forget() {
    try { await this.#keep.removeItem(this.#key); } catch { /* there was nothing */ }
  }

  get #key() { return `landline ${this.#owner} ${this.name}`; }

  async #read(key) {
    try { return await this.#keep.getItem(key); } catch { return null; }
  }

  async #write(key, text) {
    try { await this.#keep.setItem(key, text); } catch { /* the browser keeps nothing */ }
  }
}

// MARK: Notifications

/** Shows that somebody calls while nobody looks at the page. */
class Notices {
  #describe = (call) => ({ title: call.from.name || call.from.value || "An anonymous caller", body: "calls you" });
  isOn = false;

  async turn(on, describe) {
    if (describe) this.#describe = describe;
    this.isOn = false;
    if (!on || !globalThis.Notification) return false;
    const answer = Notification.permission === "default" ? await Notification.requestPermission() : Notification.permission;
    this.isOn = answer === "granted";
    return this.isOn;
  }

  show(call) {
    if (!this.isOn || (document.visibilityState === "visible" && document.hasFocus())) return;
    let notice;
    try {
      const { title, ...rest } = this.#describe(call);
      notice = new Notification(title, { tag: call.id, requireInteraction: true, ...rest });
    } catch {
      // Telephones let service workers alone show them.
      return;
    }
    notice.onclick = () => {
      globalThis.focus();
      notice.close();
    };
    const close = () => notice.close();
    call.addEventListener("accepted", close);
    call.addEventListener("ended", close);
  }
}

/** One user on one device: connects, proves who it is, stays connected, makes calls and is called. */
export class Landline extends EventTarget {
  #floor = new Floor();
  #notices = new Notices();
  #session; #credentials; #who; #device;
  #watching = null;
  #waiting = null;
  // Whether calls for the user are wanted, what the gateway was told of that, and whether it knows of such calls at all.
  #wantsCalls = false; #toldCalls = false; #isRung = false;
  // The file for the page's own user, and the last that was asked for.
  #playing = null;
  #playOrder = null;

  /** Why the client stopped; null when it was asked to. */
  failure = null;
  draining = false;

  constructor({ url, applicationKey, user, device, name, credentials, capabilities = [], busy, keep } = {}) {
    super();
    for (const [name, value] of Object.entries({ applicationKey, user, ...(device === undefined ? {} : { device }) })) {
      if (typeof value !== "string" || value === "") throw new TypeError(`${name} must be a text`);
    }
    if (typeof credentials !== "function" && typeof credentials?.secret !== "string") {
      throw new TypeError("credentials must be a function, or { secret } while developing");
    }
    capabilities = [...capabilities];
    if (!capabilities.includes("calling") && !capabilities.includes("messaging")) {
      throw new TypeError('capabilities must ask for "calling", "messaging" or both');
    }
    if (name !== undefined && (typeof name !== "string" || bytes(name) > LIMITS.nameBytes)) {
      throw new TypeError(`name must be a text of at most ${LIMITS.nameBytes} bytes`);
    }
    if (busy !== undefined && !["device", "waiting", "user"].includes(busy)) {
      throw new TypeError('busy must be "device", "waiting" or "user"');
    }
    if (keep !== undefined && typeof keep?.getItem !== "function") throw new TypeError("keep must be a storage");
    const place = address(url);
    this.#credentials = credentials;
    this.#who = { applicationKey, user };
    this.#device = new Device(`${new URL(place).host} ${applicationKey} ${user}`, device ?? null, keep);
    this.#floor.mayCall = capabilities.includes("calling");
    const profile = () => {
      const asks = { application: applicationKey, user, device: this.device, client: CLIENT, capabilities };
      if (!this.#floor.mayCall) return asks;
      this.#toldCalls = this.#wantsCalls;
      return { ...asks, features: [INCOMING, ROOMS], listen: this.#wantsCalls, ...(name ? { name } : {}), ...(busy ? { busy } : {}) };
    };
    this.#session = new Session(place, profile, (least, isFresh) => this.#prove(least, isFresh), {
      state: (state, error) => this.#changed(state, error),
      registered: (message) => this.#registered(message),
      event: (message) => this.#take(message),
      resumed: () => { for (const call of this.#floor.calls.values()) call[CHECK](false); },
      lost: (error) => this.#lose(error),
      draining: () => {
        this.draining = true;
        this.dispatchEvent(new Event("draining"));
      },
    });
    this.#floor.session = this.#session;
    // Made once: keys take their time on a slow phone.
    globalThis.RTCPeerConnection?.generateCertificate({ name: "ECDSA", namedCurve: "P-256" }).then(
      (certificate) => {
        this.#floor.certificate = certificate;
        this.#floor.warmUp();
      },
      () => {},
    );
    navigator.permissions?.query({ name: "microphone" }).then((status) => (this.#floor.permission = status), () => {});
  }

  get state() { return this.#session.state; }
  get applicationKey() { return this.#who.applicationKey; }
  get user() { return this.#who.user; }
  /** Null until it is known which tab of the browser this is. */
  get device() { return this.#device.name; }
  /** Calls that have not ended. */
  get calls() { return [...this.#floor.live]; }
  /** Whether calls for the user are to ring here. */
  get listening() { return this.#wantsCalls; }

  /** Calls listener(detail) for each event of a name. → what ends that */
  on(name, listener) { return listenTo(this, name, listener); }

  /** Connects and registers. Refused when the gateway refuses, or when nothing came of it in time. */
  connect() {
    if (this.#session.state === "ready") return Promise.resolve();
    if (this.#waiting) return this.#waiting.promise;
    const waiting = (this.#waiting = resolvers());
    const timer = setTimeout(() => this.#settle(failure("network.unreachable")), LIMITS.connect);
    const clear = () => clearTimeout(timer);
    waiting.promise.then(clear, clear);
    this.#watch();
    this.#session.start();
    return waiting.promise;
  }

  /** Has calls for the user ring on this device from now on, or no more. A client that is idle connects. */
  listen(on = true) { return quiet(this.#listenFor(Boolean(on))); }

  async #listenFor(on) {
    if (on && !this.#floor.mayCall) throw problem("capability.local", "capabilities does not ask for calling");
    this.#wantsCalls = on;
    if (this.state === "stopped") throw problem("network.unreachable", "the client is stopped");
    if (!on && this.state === "idle") return;
    await this.connect();
    if (on && !this.#isRung) throw problem("capability.remote", "the gateway is of a version that knows no calls for users");
    await this.#tellListening();
  }

  // What differs from what the gateway knows.
  async #tellListening() {
    if (!this.#isRung || this.#toldCalls === this.#wantsCalls) return;
    const on = (this.#toldCalls = this.#wantsCalls);
    await new Promise((done, refuse) => this.#session.request("listen", { on }, (error) => (error ? refuse(error) : done())));
  }

  /**
   * Has the browser show a notification for each call that comes in while nobody looks at the page; a click on it brings the
   * page to the front. The browser asks the user for leave: call this from a click. → whether it may
   */
  showNotifications({ on = true, describe } = {}) { return this.#notices.turn(on, describe); }

  /** Deletes what is kept of this device, as when the user signs out: the next registration proves anew who it is. */
  async forget() {
    await this.#device.settle();
    await this.#device.forget();
  }

  /**
   * Plays a file to the page's own user, in place of one that plays: a ringing tone from `progressing` to `accepted`, a
   * busy tone after the end. The other side does not hear it.
   */
  startPlayingSoundFile(source, options = {}) { return quiet(this.#startPlaying(source, options)); }

  /** The same with a signal of the telephone: "ringtone", "ringback", "busy" or "congestion", again and again unless told otherwise. */
  startPlayingTone(name, { loop = true } = {}) { return quiet(this.#startPlaying(() => toneOf(name), { loop })); }

  async #startPlaying(source, { loop = false }) {
    const order = (this.#playOrder = {});
    const buffer = typeof source === "function" ? source() : await readSound(source);
    if (this.#playOrder !== order) return;
    this.#playing?.stop();
    const playing = new Playing(buffer, Boolean(loop), (node, context) => node.connect(context.destination), () => {
      if (this.#playing === playing) this.#playing = null;
    });
    this.#playing = playing;
    playing.begin();
  }

  stopPlayingSoundFile() {
    this.#playOrder = null;
    this.#playing?.stop();
  }

  get isPlayingSoundFile() { return this.#playing !== null; }

  /** Ends the session and its calls at once, and lets go of everything. What rings here rings on on other devices. */
  stop() {
    this.stopPlayingSoundFile();
    for (const call of this.calls) call[LEAVE]();
    this.#session.stop();
    this.#release();
  }

  /** Hangs up every call, waits until each has its cost, and stops. */
  async stopGracefully() {
    await Promise.all(this.calls.map((call) => call[LEAVE]()));
    this.stop();
  }

  callPhone(number, options) { return this.call("phone", number, options); }
  callSIP(address, options) { return this.call("sip", address, options); }
  callUser(user, options) { return this.call("user", user, options); }
  callConference(conference, options) { return this.call("conference", conference, options); }

  /** Calls. Returns at once; whatever goes wrong arrives as the call's `ended`. A client that is idle connects. */
  call(kind, target, options = {}) {
    if (this.#session.state === "idle") this.connect();
    const call = new Call(this.#floor, this.#floor.takeMedia(), kind, target, options);
    if (call.state !== "ended") this.#floor.live.add(call);
    this.dispatchEvent(new CustomEvent("call", { detail: call }));
    return call;
  }

  // What the gateway gave this device will do while it lasts. The counter of a user goes on from what this device knows; the
  // gateway names a higher one where others were ahead.
  async #prove(least, isFresh) {
    await this.#device.settle();
    const { applicationKey, user } = this.#who;
    const { device } = this;
    const kept = await this.#device.load();
    const isOver = kept.expires !== undefined && !(Date.parse(kept.expires) > Date.now());
    if (!isFresh && typeof kept.id === "string" && typeof kept.secret === "string" && !isOver) {
      return { kind: "credential", credential: kept.id, secret: kept.secret };
    }
    const next = BigInt(/^[0-9]{1,20}$/.test(kept.sequence) ? kept.sequence : 0) + 1n;
    const sequence = next > BigInt(least) ? next : BigInt(least);
    await this.#device.save({ sequence: String(sequence) });
    if (typeof this.#credentials !== "function") {
      if (!globalThis.crypto?.subtle) throw problem("capability.local", "signing needs https or localhost");
      const text = new TextEncoder().encode(`${user}${applicationKey}${sequence}${this.#credentials.secret}`);
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-1", text));
      return { kind: "signature", signature: btoa(String.fromCharCode(...digest)), sequence: String(sequence) };
    }
    const answer = await this.#credentials({ applicationKey, user, device, leastSequence: String(sequence) });
    if (typeof answer?.token === "string") return { kind: "token", token: answer.token };
    if (typeof answer?.signature === "string") {
      return { kind: "signature", signature: answer.signature, sequence: String(answer.sequence ?? sequence) };
    }
    throw problem("gw.registration", "the credentials function gave neither a token nor a signature");
  }

  #registered({ credential, features }) {
    this.#isRung = Array.isArray(features) && features.includes(INCOMING);
    quiet(this.#tellListening());
    if (typeof credential?.id === "string" && typeof credential.secret === "string") quiet(this.#keep(credential));
  }

  async #keep({ id, secret, expires }) {
    const { sequence } = await this.#device.load();
    // Let go of meanwhile.
    if (this.device === null) return;
    await this.#device.save({ id, secret, expires, sequence });
  }

  #changed(state, error) {
    if (state === "ready") {
      this.draining = false;
      this.failure = null;
      this.#settle(null);
      this.#floor.warmUp();
    }
    if (state === "stopped") {
      this.failure = error;
      this.#settle(error ?? stopped());
      this.#release();
    }
    this.dispatchEvent(new CustomEvent("state", { detail: { state, failure: error } }));
  }

  #settle(error) {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (error) waiting?.reject(error);
    else waiting?.resolve();
  }

  // A message about a call.
  #take(message) {
    const call = this.#floor.calls.get(message.call);
    // It is told again on a session that was begun anew.
    if (message.type === "incoming") return call ? undefined : this.#invite(message);
    call?.[TAKE](message);
    if (message.type !== "ended" || message.missed !== true || call?.direction === "outgoing") return;
    const { call: id, cause, started_at: startedAt, ended_at: endedAt } = message;
    const detail = { call: id, from: call?.from ?? null, cause, startedAt, endedAt };
    // Behind the end of the call itself.
    queueMicrotask(() => this.dispatchEvent(new CustomEvent("missed", { detail })));
  }

  #invite(message) {
    const { call: id, from } = message;
    const media = typeof from?.value === "string" ? this.#floor.takeMedia() : null;
    if (!media) return this.#session.request("decline", { call: id, scope: "device", reason: "busy" }, () => {});
    const call = new Call(this.#floor, media, from.kind, from.value, {}, message);
    this.#floor.live.add(call);
    this.#floor.adopt(call);
    this.#floor.crossings.get(id)?.(call);
    this.dispatchEvent(new CustomEvent("incoming", { detail: call }));
    this.#notices.show(call);
    call[RING]();
  }

  // Calls that were placed are gone with the session; those that wait for one are told by their request.
  #lose(error) { for (const call of [...this.#floor.calls.values()]) call[LOST](error); }

  #watch() {
    if (this.#watching) return;
    this.#watching = new AbortController();
    const { signal } = this.#watching;
    const on = (target, name, act) => target?.addEventListener(name, act, { signal });
    const renew = () => {
      this.#floor.coolDown();
      this.#floor.warmUp();
    };
    on(globalThis, "online", () => {
      this.#session.networkChanged();
      renew();
      for (const call of this.#floor.calls.values()) call[CHECK](true);
    });
    on(navigator.connection, "change", () => {
      this.#session.probe();
      renew();
    });
    on(globalThis, "offline", () => this.#session.probe());
    on(document, "visibilitychange", () => document.visibilityState === "visible" && this.#session.probe());
    // The page goes: the gateway learns it now, not when the session's time is over.
    on(globalThis, "pagehide", () => this.stop());
  }

  #release() {
    this.#watching?.abort();
    this.#watching = null;
    this.#floor.coolDown();
    this.#device.leave();
  }
}

function address(url) {
  // Without a word it is the gateway that this module came from.
  const base = new URL(url ?? new URL("/v1/connect", import.meta.url), globalThis.location?.href);
  base.protocol = base.protocol.replace(/^http/, "ws");
  if (base.pathname === "/") base.pathname = "/v1/connect";
  if (!/^wss?:$/.test(base.protocol)) throw new TypeError("url must begin with https, wss, http or ws");
  // What stands in an address stands in logs.
  if (base.username || base.password || base.search || base.hash) {
    throw new TypeError("url must be an address alone: no name, password, query or fragment");
  }
  return base.href;
}
