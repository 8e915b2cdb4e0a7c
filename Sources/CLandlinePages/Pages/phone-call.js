// One call: what it does while it is up, and what became of it.
import { announce, api, copyButton, duration, element, fill, money, problemBox, spoken, tabs } from "/pages/shell.js";
import { programs } from "/pages/phone-code.js";
import { drawLevels, meter } from "/pages/phone-sound.js";

const byID = (id) => document.getElementById(id);

const states = {
  calling: "Calling", progressing: "On its way", ringing: "Ringing", early: "Sound before the answer",
  accepted: "Answered", established: "Connected",
};
const warnings = {
  "high-rtt": "slow: over 400 ms there and back", "high-jitter": "uneven: jitter over 30 ms",
  "high-packet-loss": "over 3 % of packets lost", "low-mos": "sounds poor: MOS under 3.5", "no-audio": "no sound from your microphone",
};
const retries = {
  never: "Trying again gives the same answer", now: "Trying again may help at once", later: "Trying again later may help",
  afterFix: "Once what is named is put right", afterOperator: "Once the operator has changed something",
  otherCodec: "With another codec", byGateway: "The gateway tries again by itself", nextTrunk: "Later; the gateway had no other way now",
};
const causes = {
  timeout: "It took too long", denied: "It was refused", noAnswer: "Nobody answered", error: "It failed",
  canceled: "You gave up before an answer", otherDeviceAnswered: "Another device answered", none: "The call is over",
};
const keys = "123456789*0#";

const percent = (share) => `${(share * 100).toFixed(1)} %`;
const sentence = (text) => text && text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

// Whole micro-units that so many seconds have cost; the gateway rounds once, at the end.
function costOf(price, seconds) {
  if (seconds <= 0) return 0;
  const { initial_seconds: initial, increment_seconds: step } = price;
  const billed = initial + Math.ceil(Math.max(0, seconds - initial) / Math.max(1, step)) * step;
  return price.connection_fee_micro + Math.ceil((price.rate_per_minute_nano * billed) / 60_000);
}

function grade(score) {
  if (score >= 4) return ["good", "good"];
  if (score >= 3.5) return ["good", "fair"];
  return score >= 2.5 ? ["warn", "poor"] : ["bad", "bad"];
}

byID("pad").append(...[...keys].map((key) => element("button", { type: "button", dataset: { digit: key } }, key)));

// Shows the call until its end. → { endedHere }
export async function showCall(call, order, sound) {
  const panel = byID("live");
  const stateLine = byID("state");
  const price = { now: null, at: 0, seconds: null };
  let state = "";
  let connectedAt = null;
  let endedHere = false;
  let endsAt = null;
  let pressed = "";
  let isMuted = false;
  let isHeld = false;
  const raised = new Set();

  function enter(next) {
    // Early media may come before ringing: a call does not go back.
    const ranks = Object.keys(states);
    if (ranks.indexOf(next) <= ranks.indexOf(state) && state) return;
    state = next;
    panel.dataset.state = next;
    stateLine.textContent = states[next];
    performance.mark(`landline.${next}`);
  }

  function elapsed() {
    return connectedAt === null ? 0 : (performance.now() - connectedAt) / 1000;
  }

  function tick() {
    const seconds = elapsed();
    byID("timer").textContent = duration(seconds);
    if (price.now) {
      const cost = costOf(price.now, seconds);
      const isFree = price.now.rate_per_minute_nano === 0 && price.now.connection_fee_micro === 0;
      byID("cost").textContent = isFree ? "nothing" : money(cost, price.now.currency);
      const left = [];
      const had = order.hint?.available_micro;
      if (had !== undefined && had !== null) left.push(money(had - cost, price.now.currency));
      if (!isFree) left.push(`for ${spoken(Math.max(0, price.now.seconds_available - seconds))}`);
      byID("credit").textContent = left.join(", ") || "–";
    }
    if (endsAt !== null) {
      byID("credit-ends").textContent = `The credit ends in ${Math.max(0, Math.ceil((endsAt - performance.now()) / 1000))} s, and the call with it.`;
    }
  }

  // The page as it is before anything is known of the call.
  panel.hidden = false;
  byID("party").textContent = order.target;
  for (const id of ["price", "cost", "credit"]) byID(id).textContent = "–";
  byID("score").textContent = "no figures yet";
  byID("score").className = "badge";
  byID("round-trip").textContent = "";
  byID("pressed").textContent = "none";
  byID("heard").textContent = "";
  byID("credit-ends").hidden = true;
  fill(byID("warnings"));
  byID("mute").setAttribute("aria-pressed", "false");
  byID("hold").setAttribute("aria-pressed", "false");
  byID("mute").textContent = "Mute";
  byID("hold").textContent = "Hold";
  for (const id of ["leg-sent", "leg-received"]) {
    for (const cell of [...byID(id).cells].slice(2)) cell.textContent = "–";
  }
  byID("unheard").hidden = !sound.trouble;
  byID("unheard").textContent = sound.trouble ? `${sound.trouble} You hear the other side and are not heard.` : "";
  enter("calling");
  tick();
  panel.focus();

  // Sound

  const levels = [
    { bar: byID("leg-sent").querySelector(".bar"), meter: sound.stream ? meter(sound.stream) : null },
    { bar: byID("leg-received").querySelector(".bar"), meter: null },
  ];
  const stopLevels = drawLevels(levels);

  function listen() {
    const speaker = byID("sound");
    if (!call.remoteStream) return;
    if (speaker.srcObject !== call.remoteStream) {
      speaker.srcObject = call.remoteStream;
      speaker.play().catch(() => {});
    }
    levels[1].meter ??= meter(call.remoteStream);
  }
  listen();

  // What the gateway says

  const handlers = {
    placed: () => performance.mark("landline.placed"),
    progress: () => enter("progressing"),
    ringing: () => enter("ringing"),
    early: () => {
      listen();
      enter("early");
    },
    accepted: () => {
      listen();
      connectedAt ??= performance.now();
      enter("accepted");
    },
    established: () => {
      listen();
      enter("established");
    },
    price: ({ detail }) => {
      price.now = detail;
      const isFree = detail.rate_per_minute_nano === 0 && detail.connection_fee_micro === 0;
      const parts = [`${money(detail.rate_per_minute, detail.currency)}/min`];
      if (detail.connection_fee_micro) parts.push(`${money(detail.connection_fee_micro, detail.currency)} a call`);
      if (detail.initial_seconds > 1 || detail.increment_seconds > 1) {
        parts.push(`${detail.initial_seconds} s at least, then by ${detail.increment_seconds} s`);
      }
      byID("price").textContent = isFree ? "free" : parts.join(", ");
      tick();
    },
    credit: ({ detail }) => {
      const isEnding = Number.isFinite(detail.ends_in);
      endsAt = isEnding ? performance.now() + detail.ends_in * 1000 : null;
      byID("credit-ends").hidden = !isEnding;
      tick();
    },
    digit: ({ detail }) => {
      byID("heard").textContent = `; the other side pressed ${detail.digit}`;
      announce(`The other side pressed ${detail.digit}`);
    },
    held: ({ detail }) => {
      stateLine.textContent = detail.held ? "The other side put you on hold" : states[state];
    },
    quality: ({ detail }) => {
      const [tone, word] = grade(Math.min(detail.sent.mos, detail.received.mos));
      byID("score").className = `badge ${tone}`;
      byID("score").textContent = `Sound: ${word}, MOS ${Math.min(detail.sent.mos, detail.received.mos).toFixed(1)}`;
      byID("round-trip").textContent = Number.isFinite(detail.round_trip) ? `${Math.round(detail.round_trip)} ms there and back` : "";
      for (const [id, leg] of [["leg-sent", detail.sent], ["leg-received", detail.received]]) {
        const cells = byID(id).cells;
        cells[2].textContent = leg.mos.toFixed(1);
        cells[3].textContent = percent(leg.loss);
        cells[4].textContent = `${Math.round(leg.jitter)} ms`;
      }
    },
    warning: ({ detail }) => {
      if (detail.raised) raised.add(detail.warning);
      else raised.delete(detail.warning);
      fill(byID("warnings"), [...raised].map((name) => element("span", { class: "badge warn", dataset: { warning: name } }, warnings[name] ?? name)));
    },
  };
  // What the buttons and keys do

  function press(digit) {
    try {
      call.sendDigits(digit);
    } catch (error) {
      announce(error.message, true);
      return;
    }
    pressed = (pressed + digit).slice(-32);
    byID("pressed").textContent = pressed;
  }

  function hangUp() {
    endedHere = true;
    stateLine.textContent = "Hanging up";
    call.hangUp();
  }

  function mute() {
    isMuted = !isMuted;
    call.mute(isMuted);
    byID("mute").setAttribute("aria-pressed", String(isMuted));
    byID("mute").textContent = isMuted ? "Muted" : "Mute";
    announce(isMuted ? "Muted" : "You are heard again");
  }

  async function hold() {
    isHeld = !isHeld;
    const button = byID("hold");
    button.setAttribute("aria-pressed", String(isHeld));
    button.textContent = isHeld ? "On hold" : "Hold";
    try {
      await call.hold(isHeld);
      announce(isHeld ? "The call is on hold" : "The call goes on");
    } catch (error) {
      isHeld = !isHeld;
      button.setAttribute("aria-pressed", String(isHeld));
      button.textContent = isHeld ? "On hold" : "Hold";
      announce(error.message, true);
    }
  }

  const stop = new AbortController();
  const { signal } = stop;
  for (const [type, handler] of Object.entries(handlers)) call.addEventListener(type, handler, { signal });
  byID("hang-up").addEventListener("click", hangUp, { signal });
  byID("mute").addEventListener("click", mute, { signal });
  byID("hold").addEventListener("click", hold, { signal });
  byID("pad").addEventListener("click", (event) => {
    const digit = event.target.closest("button")?.dataset.digit;
    if (digit) press(digit);
  }, { signal });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      hangUp();
      return;
    }
    // Plain characters act only inside the call, so that nothing typed elsewhere is heard by the other side.
    if (!panel.contains(document.activeElement) || event.repeat) return;
    if (event.key.length === 1 && keys.includes(event.key)) {
      event.preventDefault();
      press(event.key);
    } else if (event.key === "m") mute();
    else if (event.key === "h") hold();
  }, { signal });
  const timer = setInterval(tick, 200);

  try {
    await call.ended;
  } catch {
    // The failure stands in the call.
  } finally {
    stop.abort();
    clearInterval(timer);
    stopLevels();
    byID("sound").srcObject = null;
    panel.hidden = true;
    panel.dataset.state = "ended";
  }
  return { endedHere };
}

// After the call

function headline(cause, failure, endedHere, wasAnswered) {
  if (failure) return sentence(failure.invalid?.problem ?? failure.message ?? causes[cause] ?? "The call failed");
  if (cause === "hungUp") return endedHere ? "You ended the call." : "The other side ended the call.";
  if (endedHere && !wasAnswered) return `${causes.canceled}.`;
  return `${causes[cause] ?? "The call is over"}.`;
}

function saidBy(failure, summary) {
  if (failure.domain === "network") return "this page: the way to the gateway is broken";
  if (failure.domain === "sip") {
    const status = failure.sip_status ? `, with SIP ${failure.sip_status}${failure.phrase ? ` ${failure.phrase}` : ""}` : "";
    return `${failure.trunk ? `the other side, over trunk ${failure.trunk}` : "the other side"}${status}`;
  }
  if (failure.domain === "capability") return "the gateway: a side lacks what the call needs";
  return summary?.progressed_at ? "this gateway" : "this gateway, before anything was dialled";
}

function evidence(failure) {
  const all = [];
  for (const reason of failure.reasons ?? []) all.push(`Reason: ${reason.protocol}${reason.cause ? ` cause ${reason.cause}` : ""}${reason.text ? `, “${reason.text}”` : ""}`);
  if (!failure.reasons?.length && failure.cause) all.push(`Q.850 cause ${failure.cause}`);
  if (failure.warning) all.push(`Warning: ${failure.warning}`);
  if (failure.retry_after) all.push(`Retry-After: ${failure.retry_after} s`);
  if (failure.refusal) all.push(`Refusal: ${failure.refusal}`);
  return all;
}

const list = (items) => element("ul", {}, items.map((item) => element("li", {}, item)));

// The causes and remedies that the gateway's catalogue has for a code: its page as plain text, in two lists.
async function remedies(code) {
  const text = await api(`/errors/${encodeURIComponent(code)}`, { as: "text", headers: { Accept: "text/plain" } });
  const part = (title) => {
    const after = text.split(`${title}:\n`)[1] ?? "";
    return after.split("\n\n")[0].split("\n").filter((line) => line.startsWith("- ")).map((line) => sentence(line.slice(2)));
  };
  return { causes: part("Likely causes"), fixes: part("What to do") };
}

async function story(id) {
  // It is written a moment after the end.
  for (const wait of [150, 700, 1500]) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      const found = await api(`/v1/calls/${encodeURIComponent(id)}/story`);
      if (!found.is_live) return found;
    } catch (error) {
      if (error.status !== 404) return null;
    }
  }
  return null;
}

async function explain(place, id, failure) {
  const found = id ? await story(id) : null;
  const finding = found?.findings?.[0];
  if (finding) {
    fill(place, element("h3", {}, finding.title), element("p", {}, finding.explanation),
      finding.fixes.length > 0 && [element("p", { class: "label" }, "What to do"), list(finding.fixes)]);
    return;
  }
  if (!failure) {
    if (found?.conclusion) fill(place, element("p", {}, found.conclusion));
    return;
  }
  try {
    const { causes: likely, fixes } = await remedies(failure.code);
    fill(place, likely.length > 0 && [element("h3", {}, "Likely because"), list(likely)],
      fixes.length > 0 && [element("h3", {}, "What to do"), list(fixes)]);
  } catch {
    fill(place, element("p", {}, "The page of the error says what to do."));
  }
}

export function showResult(call, order, { endedHere, again }) {
  const summary = call.summary ?? null;
  const failure = call.failure ?? summary?.failure ?? null;
  const cause = summary?.cause ?? (failure ? "error" : "none");
  const section = byID("result");
  const facts = [];
  const fact = (name, ...value) => facts.push(element("dt", {}, name), element("dd", {}, ...value));

  fact("Called", element("span", { class: "mono" }, order.target));
  if (summary) fact("Lasted", summary.answered_at ? spoken(summary.duration_ms / 1000) : "it was not answered");
  if (summary) {
    if (summary.cost_micro === undefined || summary.cost_micro === null) fact("Cost", "not known yet: the ledger is away");
    else if (summary.cost_micro === 0) fact("Cost", "nothing");
    else fact("Cost", `${money(summary.cost_micro, summary.currency)} for ${summary.billed_seconds} s`);
  }
  if (failure) {
    fact("Who said so", saidBy(failure, summary));
    const shown = evidence(failure);
    if (shown.length) fact("Evidence", shown.join("; "));
    if (failure.invalid?.accepted) fact("Accepted", failure.invalid.accepted);
    if (retries[failure.retry]) fact("Again?", retries[failure.retry]);
  }
  for (const [name, value] of Object.entries(summary?.headers ?? {})) fact(name, value);

  const reasons = element("div", { class: "stack tight", id: "reasons", "aria-live": "polite" });
  section.dataset.call = call.id ?? "";
  section.dataset.cause = cause;
  section.dataset.code = failure?.code ?? "";
  fill(section,
    element("div", { class: "spread" },
      element("h2", { id: "result-title", class: failure ? "bad" : null }, headline(cause, failure, endedHere, Boolean(summary?.answered_at))),
      element("button", { type: "button", class: "slim", id: "again", onclick: again }, "Call again")),
    element("dl", { class: "facts" }, facts),
    reasons,
    element("p", { class: "row" },
      call.id && element("a", { href: `/calls/${encodeURIComponent(call.id)}`, id: "call-link" }, "The whole story of this call"),
      failure?.code && element("a", { href: `/errors/${encodeURIComponent(failure.code)}`, id: "error-link" }, `About ${failure.code}`)));
  section.hidden = false;
  section.focus();
  if (failure) explain(reasons, call.id, failure);
}

export function showMistake(error) {
  const section = byID("result");
  section.dataset.call = "";
  section.dataset.cause = "error";
  section.dataset.code = error.code ?? error.failure?.code ?? "";
  fill(section, element("h2", { id: "result-title", class: "bad" }, "The call was not placed"), problemBox(error));
  section.hidden = false;
  section.focus();
}

let language = "javascript";

export function showCode(order, registration) {
  const section = byID("code");
  const all = programs(order, registration, location.origin);
  const text = element("pre", { class: "code", tabindex: "0", role: "tabpanel", id: "code-panel" });
  const bar = element("div", { class: "tabs", role: "tablist", "aria-label": "Language" }, all.map(({ name, title }) =>
    element("button", {
      type: "button", role: "tab", id: `code-${name}`, "aria-controls": "code-panel",
      "aria-selected": String(name === language),
    }, title)));
  fill(section,
    element("div", { class: "spread" }, element("h2", { id: "code-title" }, "Code for this call"), copyButton(() => text.textContent)),
    bar, text);
  tabs(bar, (tab) => {
    language = tab.id.slice("code-".length);
    text.setAttribute("aria-labelledby", tab.id);
    text.textContent = all.find(({ name }) => name === language).text;
  });
  section.hidden = false;
}
