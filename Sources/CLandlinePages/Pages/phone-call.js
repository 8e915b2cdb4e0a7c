// One call: what it does while it is up, and what became of it.
import {
  announce, api, charged, copyButton, duration, element, fill, kindOf, money, price as priceText, spoken, tabs, untilReturn,
} from "/pages/shell.js";
import { programs } from "/pages/phone-code.js";
import { meter, microphoneTrouble } from "/pages/phone-sound.js";

const byID = (id) => document.getElementById(id);

// In this order: sound before the answer may come earlier than the ringing, and a call does not go back.
const states = {
  calling: "Calling", progressing: "On its way", ringing: "Ringing", early: "Sound before the answer", accepted: "Answered", established: "Connected",
};
const ranks = Object.keys(states);
const warnings = {
  "high-rtt": "over 400 ms there and back", "high-jitter": "jitter over 30 ms", "high-packet-loss": "over 3 % lost",
  "high-downlink-loss": "over 3 % lost on the way to you", "low-mos": "MOS under 3.5", "no-audio": "no sound from your microphone",
  "thin-link": "your network is thin: the sound was cut to what it carries",
};
const retries = {
  never: "it would give the same answer", now: "yes, at once", later: "yes, later", nextTrunk: "yes, later", otherCodec: "with another codec",
  afterFix: "once what is named is put right", afterOperator: "once the operator has changed something",
};
const causes = {
  timeout: "It took too long.", denied: "It was refused.", noAnswer: "Nobody answered.", error: "It failed.",
  canceled: "You gave up before an answer.", otherDeviceAnswered: "Another device answered.",
  transferred: "You put the other side through.",
};
const transfers = {
  ringing: "It rings there, and the other side waits.", answered: "You talk with them now, and the other side waits.",
  completed: "Both talk with each other.", "taken-back": "You talk with the other side again.", connected: "You were put through to",
};
const keys = "123456789*0#";
const directions = ["sent", "received"];

const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
const isFree = (price) => price.rate_per_minute_nano === 0 && price.connection_fee_micro === 0;

// Whole micro-units that so many seconds have cost so far.
function costOf(price, seconds) {
  if (seconds <= 0) return 0;
  const { initial_seconds: initial, increment_seconds: step } = price;
  const billed = initial + Math.ceil(Math.max(0, seconds - initial) / Math.max(1, step)) * step;
  return price.connection_fee_micro + Math.ceil((price.rate_per_minute_nano * billed) / 60_000);
}

for (const direction of directions) {
  const row = byID(`leg-${direction}`);
  row.append(
    element("td", {}, element("span", { class: "bar", role: "meter", "aria-label": `Level ${row.textContent}`, "aria-valuenow": "0" }, element("span"))),
    ...[1, 2, 3].map(() => element("td", { class: "num", dataset: { blank: "–" } })));
}
byID("pad").append(...[...keys].map((key) => element("button", { type: "button", dataset: { digit: key } }, key)));

// Shows the call until its end. → whether it was ended here
export async function showCall(call, order, trouble) {
  const panel = byID("live");
  const line = byID("state");
  const raised = new Set();
  const meters = [];
  let state = "";
  let connectedAt = null;
  let creditEndsAt = null;
  let isEndedHere = false;
  let price = null;
  // Measuring begins once the call is set up: it starts the browser's sound, which takes its time.
  let lastDraw = performance.now() + 500;

  function enter(next) {
    performance.mark(`landline.${next}`);
    if (ranks.indexOf(next) <= ranks.indexOf(state)) return;
    state = next;
    panel.dataset.state = next;
    line.textContent = states[next];
  }

  function tick() {
    const seconds = connectedAt === null ? 0 : (performance.now() - connectedAt) / 1000;
    byID("timer").textContent = duration(seconds);
    if (price) {
      const cost = costOf(price, seconds);
      // What the price says is the first grant of the call, which is renewed.
      const { available_micro: had, seconds_available: buys } = order.hint ?? {};
      byID("cost").textContent = isFree(price) ? "nothing" : money(cost, price.currency);
      byID("credit").textContent = [
        Number.isFinite(had) && money(had - cost, price.currency),
        !isFree(price) && Number.isFinite(buys) && `enough for ${spoken(Math.max(0, buys - seconds))}`,
      ].filter(Boolean).join(", ") || "–";
    }
    byID("credit-ends").hidden = creditEndsAt === null;
    if (creditEndsAt !== null) {
      const left = Math.max(0, Math.ceil((creditEndsAt - performance.now()) / 1000));
      byID("credit-ends").textContent = `The credit ends in ${left} s, and the call with it.`;
    }
  }

  function draw(now) {
    if (state === "ended") return;
    requestAnimationFrame(draw);
    if (now - lastDraw < (matchMedia("(prefers-reduced-motion: reduce)").matches ? 500 : 50)) return;
    lastDraw = now;
    [call.localStream, call.remoteStream].forEach((stream, index) => {
      // A meter is of one stream; another microphone is another stream.
      if (meters[index]?.stream !== stream) meters[index] = { stream, level: null, shown: 0 };
      const one = meters[index];
      one.level ??= meter(stream);
      // Down slowly: an eye cannot follow speech.
      const percent = (one.shown = Math.max(Math.round(100 * (one.level?.() ?? 0)), one.shown - 8, 0));
      const bar = byID(`leg-${directions[index]}`).querySelector(".bar");
      bar.firstElementChild.style.width = `${percent}%`;
      bar.setAttribute("aria-valuenow", String(percent));
    });
  }

  function listen() {
    if (byID("sound").srcObject === call.remoteStream) return;
    byID("sound").srcObject = call.remoteStream;
    byID("sound").play().catch(() => {});
  }

  // What the buttons and keys do. What fails because the call has just ended is told by its end.

  function press(digit) {
    call.sendDigits(digit).catch((error) => announce(error.message, true));
    byID("pressed").textContent = (byID("pressed").textContent.replace("none", "") + digit).slice(-32);
  }

  function toggle(id, words, act) {
    const button = byID(id);
    const isOn = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(isOn));
    act(isOn).then(() => announce(words[Number(isOn)]), () => button.setAttribute("aria-pressed", String(!isOn)));
  }

  const mute = () => toggle("mute", ["You are heard again", "Muted"], (isOn) => call.mute(isOn));
  const hold = () => toggle("hold", ["The call goes on", "The call is on hold"], (isOn) => call.hold(isOn));

  function hangUp() {
    isEndedHere = true;
    line.textContent = "Hanging up";
    call.hangUp();
  }

  const listening = new AbortController();
  const on = (target, type, act) => target.addEventListener(type, act, { signal: listening.signal });

  // What the gateway says

  function watchable() {
    performance.mark("landline.placed");
    byID("watch").href = `/calls/${encodeURIComponent(call.id)}`;
    byID("watch").hidden = false;
  }
  on(call, "placed", watchable);
  for (const type of ["progressing", "ringing"]) on(call, type, () => enter(type));
  for (const type of ["early", "accepted", "established"]) {
    on(call, type, () => {
      listen();
      if (type !== "early") connectedAt ??= performance.now();
      enter(type);
    });
  }
  on(call, "price", ({ detail }) => {
    price = detail;
    byID("price").textContent = isFree(price) ? "free" : [
      `${priceText(price.rate_per_minute, price.currency)}/min`,
      price.connection_fee_micro > 0 && `${money(price.connection_fee_micro, price.currency)} a call`,
      (price.initial_seconds > 1 || price.increment_seconds > 1) && `${price.initial_seconds} s at least, then by ${price.increment_seconds} s`,
    ].filter(Boolean).join(", ");
    tick();
  });
  on(call, "credit", ({ detail }) => {
    creditEndsAt = Number.isFinite(detail.ends_in) ? performance.now() + detail.ends_in * 1000 : null;
    tick();
    if (creditEndsAt !== null) announce(byID("credit-ends").textContent, true);
  });
  on(call, "digit", ({ detail }) => {
    byID("heard").textContent = `; the other side pressed ${detail.digit}`;
  });
  on(call, "held", ({ detail }) => {
    line.textContent = detail.held ? "The other side put you on hold" : states[state];
  });
  on(call, "recording", ({ detail }) => {
    byID("recorded").hidden = detail.state === "off";
    byID("recorded").textContent = detail.state === "paused" ? "The recording is paused." : "What is said is recorded.";
  });
  // Which buttons a transfer has in its state.
  function showTransfer(isUnderWay, isAnswered) {
    for (const id of ["transfer-now", "transfer-ask"]) byID(id).hidden = isUnderWay;
    byID("transfer-back").hidden = !isUnderWay;
    byID("transfer-complete").hidden = !isAnswered;
  }

  async function transfer(consult) {
    const target = byID("transfer-to").value.trim();
    if (!target) return byID("transfer-to").focus();
    showTransfer(true, false);
    byID("transfer-state").textContent = "They are being called, and the other side waits.";
    try {
      await call.transfer({ kind: kindOf(target), target, consult });
    } catch (error) {
      showTransfer(false, false);
      byID("transfer-state").textContent = error.message;
    }
  }

  on(call, "transfer", ({ detail }) => {
    const { state: step, failure, to } = detail;
    showTransfer(step === "ringing" || step === "answered", step === "answered");
    const party = to.number ?? to.address ?? to.user ?? "";
    const words = step === "failed" ? `Not put through: ${failure?.message ?? "they hung up"}` : transfers[step] ?? step;
    byID("transfer-state").textContent = step === "connected" ? `${words} ${party}.` : words;
    announce(byID("transfer-state").textContent, step === "failed");
    if (step === "connected") byID("party").textContent = party;
  });
  on(call, "quality", ({ detail }) => {
    // Nothing is said of a direction in which nothing flows.
    const heard = directions.filter((direction) =>
      detail[direction]?.packets > 0 && detail[direction].mos > 0 && !(direction === "sent" && order.listens));
    const score = Math.min(...heard.map((direction) => detail[direction].mos));
    const [tone, word] = score >= 4 ? ["good", "good"] : score >= 3.5 ? ["good", "fair"] : score >= 2.5 ? ["warn", "poor"] : ["bad", "bad"];
    byID("score").className = `badge ${heard.length ? tone : "warn"}`;
    byID("score").textContent = heard.length ? `Sound: ${word}, MOS ${score.toFixed(1)}` : "No sound yet";
    byID("round-trip").textContent = Number.isFinite(detail.round_trip) ? `${Math.round(detail.round_trip)} ms there and back` : "";
    for (const direction of directions) {
      const { mos, loss, jitter } = detail[direction] ?? {};
      const cells = byID(`leg-${direction}`).cells;
      const figures = [mos?.toFixed(1), `${(loss * 100).toFixed(1)} %`, `${Math.round(jitter)} ms`];
      figures.forEach((figure, index) => (cells[index + 2].textContent = heard.includes(direction) ? figure : "–"));
    }
  });
  on(call, "media", ({ detail }) => {
    byID("no-path").hidden = !detail.failure;
    byID("no-path").textContent = detail.failure ? `No sound can flow yet: ${detail.failure.details.phrase}.` : "";
  });
  // Who is in the conference, and who speaks.
  function showMembers() {
    byID("room").hidden = call.members.length === 0;
    byID("room-count").textContent = String(call.members.length);
    fill(byID("members"), call.members.map(({ participant, from, muted }) => {
      const isOwn = participant === call.participant;
      const name = (from.name || from.value || from.kind) + (isOwn ? " (you)" : "");
      const speaks = call.speaking.includes(participant);
      const words = [muted && "muted", speaks && "speaks", participant === call.leads && "leads"].filter(Boolean);
      return element("li", { dataset: { participant: String(participant), speaks: String(speaks) } },
        element("span", { class: "break" }, name), words.map((word) => [" ", element("span", { class: `badge ${word === "muted" ? "warn" : "good"}` }, word)]));
    }));
  }
  for (const type of ["members", "speakers"]) on(call, type, showMembers);
  on(call, "warning", ({ detail }) => {
    raised[detail.raised ? "add" : "delete"](detail.warning);
    fill(byID("warnings"), [...raised].map((name) => element("span", { class: "badge warn", dataset: { warning: name } }, warnings[name] ?? name)));
  });

  on(byID("hang-up"), "click", hangUp);
  on(byID("mute"), "click", mute);
  on(byID("hold"), "click", hold);
  on(byID("transfer-form"), "submit", (event) => {
    event.preventDefault();
    transfer(false);
  });
  on(byID("transfer-ask"), "click", () => transfer(true));
  for (const [id, act] of [["transfer-complete", "completeTransfer"], ["transfer-back", "takeBack"]]) {
    on(byID(id), "click", () => call[act]().catch((error) => announce(error.message, true)));
  }
  on(byID("pad"), "click", ({ target }) => target.dataset.digit && press(target.dataset.digit));
  on(document, "keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (event.key === "Escape") hangUp();
    // Plain characters act only inside the call, so that nothing typed elsewhere is heard by the other side.
    else if (!panel.contains(document.activeElement)) return;
    else if (event.key.length === 1 && keys.includes(event.key)) press(event.key);
    else if (event.key === "m") mute();
    else if (event.key === "h") hold();
    else return;
    event.preventDefault();
  });

  // The panel as it is before anything is known of this call.
  for (const node of panel.querySelectorAll("[data-blank]")) node.textContent = node.dataset.blank;
  for (const id of ["mute", "hold"]) byID(id).setAttribute("aria-pressed", "false");
  showTransfer(false, false);
  byID("transfer").open = false;
  byID("transfer-to").value = "";
  byID("score").className = "badge";
  byID("party").textContent = order.target;
  for (const id of ["no-path", "recorded"]) byID(id).hidden = true;
  byID("watch").hidden = true;
  showMembers();
  byID("unheard").hidden = !trouble;
  byID("unheard").textContent = trouble ? `${trouble} You hear the other side and are not heard.` : "";
  panel.hidden = false;
  enter("calling");
  if (order.isIncoming) {
    line.textContent = "Answering";
    watchable();
  }
  tick();
  listen();
  panel.focus();
  requestAnimationFrame(draw);
  const timer = setInterval(tick, 200);

  await call.ended;
  state = "ended";
  listening.abort();
  clearInterval(timer);
  byID("sound").srcObject = null;
  panel.hidden = true;
  panel.dataset.state = state;
  return isEndedHere;
}

// After the call

function saidBy(failure, summary) {
  if (failure.code === "network.media") return "this browser's own network: the other side has no part in it";
  if (failure.domain === "network") return "this page: the way to the gateway is broken";
  if (failure.domain === "capability") return failure.leg === "app" ? "this browser" : "the gateway: a side lacks what the call needs";
  if (failure.domain === "gateway") return summary.progressed_at ? "this gateway" : "this gateway, before anything was dialled";
  return "the other side";
}

const evidence = (failure) => [
  !failure.sip_status && failure.domain === "network" && failure.phrase,
  failure.sip_status && `SIP ${failure.sip_status} ${failure.phrase ?? ""}`.trim(),
  ...(failure.reasons ?? []).map(({ protocol, cause, text }) => [`Reason: ${protocol}`, cause && `cause ${cause}`, text].filter(Boolean).join(" ")),
  !failure.reasons?.length && failure.cause && `Q.850 cause ${failure.cause}`,
  failure.warning && `Warning: ${failure.warning}`,
  failure.redress && `blocked by ${failure.redress.network ?? "a network"}; redress: ${[failure.redress.url, failure.redress.telephone].filter(Boolean).join(", ") || "nobody named"}`,
  failure.retry_after && `Retry-After: ${failure.retry_after} s`,
  failure.refusal && `refusal ${failure.refusal}`,
].filter(Boolean).join("; ");

const list = (title, items) => items.length > 0 && [element("h3", {}, title), element("ul", {}, items.map((item) => element("li", {}, item)))];

// The stored call, which is written a moment after the end; null where nothing was stored.
async function story(id) {
  for (const wait of [300, 1200]) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    const found = await api(`/v1/calls/${encodeURIComponent(id)}/story`).catch(() => null);
    if (found && !found.is_live) return found;
  }
  return null;
}

const costText = ({ cost_micro: cost, billed_seconds: seconds, currency }) =>
  cost ? `${money(cost, currency)}${Number.isFinite(seconds) ? ` for ${seconds} s` : ""}` : "nothing";

// Asks until it is known, and at once when the gateway is back.
async function learnCost(node, id, account) {
  while (node.isConnected) {
    const found = await charged(id, account).catch(() => null);
    if (found) {
      node.textContent = costText(found);
      announce(`The call cost ${node.textContent}`);
      return;
    }
    await untilReturn(3000);
  }
}

async function explain(section, id, code) {
  const place = section.querySelector("#reasons");
  const told = id ? await story(id) : null;
  // It knows the other side by name and address; what this page alone has found, it does not know.
  const isSame = told?.failure?.code === code;
  if (isSame && told.failure.said_by) section.querySelector("#said-by").textContent = told.failure.said_by;
  const [found] = isSame ? (told.findings ?? []) : [];
  if (found) return fill(place, element("h3", {}, found.title), element("p", {}, found.explanation), list("What to do", found.fixes));
  // What the gateway's catalogue has for every such failure: its page as plain text, names in the first ten columns.
  const text = await api(`/errors/${encodeURIComponent(code)}`, { as: "text", headers: { Accept: "text/plain" } });
  const rows = { likely: [], remedy: [] };
  let name;
  for (const line of text.split("\n")) {
    name = line.slice(0, 10).trim() || name;
    if (line) rows[name]?.push(line.slice(10));
  }
  fill(place, list("Likely because", rows.likely), list("What to do", rows.remedy));
}

export function showResult(call, order, isEndedHere, account, again) {
  const { summary } = call;
  const failure = call.failure?.details ?? summary.failure ?? null;
  const microphone = /^no microphone: (\w+)/.exec(failure?.phrase)?.[1];
  const section = byID("result");
  const isCostKnown = Number.isFinite(summary.cost_micro);
  const cost = element("span", { id: "cost-told" }, isCostKnown ? costText(summary) : "not known yet; it is asked for");
  const facts = [
    [order.isIncoming ? "Caller" : "Called", order.target],
    ["Answered", !summary.answered_at && "no"],
    ["Lasted", summary.answered_at && spoken(summary.duration_ms / 1000)],
    ["Cost", (isCostKnown || (call.id && summary.answered_at)) && cost],
    ...(failure ? [
      ["Who said so", element("span", { id: "said-by" }, saidBy(failure, summary))], ["Evidence", evidence(failure)], ["Accepted", failure.invalid?.accepted], ["Again?", retries[failure.retry]],
    ] : []),
    ...Object.entries(summary.headers ?? {}),
  ];
  const title = microphone ? microphoneTrouble(microphone)
    : failure ? sentence(failure.invalid?.problem ?? failure.message)
      : summary.cause === "hungUp" ? `${isEndedHere ? "You" : "The other side"} ended the call.`
      : order.isIncoming && summary.cause === "canceled" ? "The other side gave up before the answer." : causes[summary.cause] ?? "The call is over.";
  Object.assign(section.dataset, { call: call.id ?? "", cause: summary.cause, code: failure?.code ?? "" });
  fill(section,
    element("div", { class: "spread" },
      element("h2", { id: "result-title", class: failure && "bad" }, title),
      element("button", { type: "button", class: "slim", id: "again", onclick: again }, order.isIncoming ? "Call back" : "Call again")),
    element("dl", { class: "facts" }, facts.filter(([, value]) => value).map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
    element("div", { class: "stack tight", id: "reasons", role: "status" }),
    element("p", { class: "row" },
      call.id && element("a", { href: `/calls/${encodeURIComponent(call.id)}`, id: "call-link" }, "The whole story of this call"),
      failure && element("a", { href: `/errors/${encodeURIComponent(failure.code)}`, id: "error-link" }, `About ${failure.code}`)));
  section.hidden = false;
  section.focus();
  if (!isCostKnown && call.id && summary.answered_at) learnCost(cost, call.id, account);
  // Without an answer the links above remain.
  if (failure) explain(section, call.id, failure.code).catch(() => {});
}

let language = "javascript";

export function showCode(order, registration) {
  const all = programs(order, registration, location.origin);
  const text = element("pre", { class: "code", tabindex: "0", role: "tabpanel", id: "code-panel" });
  const bar = element("div", { class: "tabs", role: "tablist", "aria-label": "Language" }, all.map(([name, title]) =>
    element("button", { type: "button", role: "tab", id: `code-${name}`, "aria-controls": "code-panel", "aria-selected": String(name === language) }, title)));
  fill(byID("code"), element("div", { class: "spread" }, element("h2", { id: "code-title" }, "Code for this call"), copyButton(() => text.textContent)), bar, text);
  tabs(bar, (tab) => {
    language = tab.id.slice("code-".length);
    text.setAttribute("aria-labelledby", tab.id);
    text.textContent = all.find(([name]) => name === language)[2];
  });
  byID("code").hidden = false;
}
