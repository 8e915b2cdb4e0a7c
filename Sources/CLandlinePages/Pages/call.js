// /calls/ID: the story of one call, read again each second while it is up.
import { api, copyButton, element, fill, moment, money, problemBox, spoken, start } from "/pages/shell.js";
import { badge, causes, confirmed, grid, query, states } from "/pages/lists.js";
import { Ladder, legs } from "/pages/ladder.js";
import { Plot, TimingBar } from "/pages/plots.js";
import { offset } from "/pages/drawing.js";

const phaseWords = { "set-up": "Post-dial delay", ringing: "Ringing", talking: "Talking" };
const owners = {
  app: "The app has to act", gateway: "The gateway’s operator has to act", trunk: "The trunk’s carrier has to act",
  callee: "Only the callee can change it", account: "The account’s owner has to act", nobody: "Nobody has to act",
};
const holds = { open: "still held", settled: "settled", voided: "given back" };
const retries = {
  never: "no", now: "yes, at once", later: "yes, later", nextTrunk: "yes, by another trunk", byGateway: "the gateway does it by itself",
};
const figures = [
  { key: "score", title: "MOS", digits: 2, bottom: 1, top: 4.5, isBetterHigh: true, limit: { value: 3.5, text: "warning below 3.5" } },
  { key: "jitter", title: "Jitter", unit: "ms", digits: 1, top: 10, limit: { value: 30, text: "warning above 30 ms" } },
  { key: "loss_rate", title: "Loss", unit: "%", digits: 2, top: 1, factor: 100, limit: { value: 3, text: "warning above 3 %" } },
];

await start("calls");
const main = document.querySelector("main");
const id = decodeURIComponent(location.pathname.split("/")[2] ?? "");
const isMasked = new URLSearchParams(location.search).get("masked") === "true";
const path = (rest = "") => `/v1/calls/${encodeURIComponent(id)}${rest}`;
const page = element("div", { class: "stack" });
fill(main, page);

// Sections. Each is made once and changed when what it shows has changed: nothing moves under a reader's eyes.

const known = new Map();
/** Whether a value differs from the last time. */
function changed(name, value) {
  const text = JSON.stringify(value ?? null);
  if (known.get(name) === text) return false;
  known.set(name, text);
  return true;
}

let sections = 0;
function section(title, ...children) {
  sections += 1;
  const heading = `section-${sections}`;
  return element("section", { class: "card stack", "aria-labelledby": heading }, element("h2", { id: heading }, title), children);
}

function facts(rows) {
  return element("dl", { class: "facts" }, rows.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([title, value]) => [element("dt", {}, title), element("dd", {}, value)]));
}

const heading = element("h1", { class: "break" }, "Call");
const state = element("div", { class: "row" });
const conclusion = element("p", { role: "status" });
const summary = element("div", {});
const live = element("div", { role: "alert" });
const hangUp = element("button", { type: "button", class: "danger", hidden: true, onclick: end }, "Hang up");
const findings = section("What happened");
const timing = new TimingBar((name) => phaseWords[name] ?? name);
const timingSection = section("Time", timing.node);
const ladder = new Ladder();
const plots = figures.map((figure) => new Plot(figure));
const codecs = element("div", { class: "stack tight" });
const counts = element("div", {});
const soundSection = section("Sound", codecs, counts, ...plots.map((plot) => plot.node));
const descriptions = section("Session descriptions");
const attempts = section("Attempts");
const costs = section("Money");
const gaps = element("div", {});

function actions() {
  const link = new URL(query(`/calls/${encodeURIComponent(id)}`, { masked: "true" }), location.href);
  return element("div", { class: "row" }, hangUp,
    element("a", { class: "button slim", href: path("/story.txt"), download: `${id}.txt`, hidden: isMasked }, "Text"),
    element("a", { class: "button slim", href: path(`/story${location.search && isMasked ? "?masked=true" : ""}`), download: `${id}.json` }, "JSON"),
    element("a", { class: "button slim", href: path("/capture"), download: `${id}.pcapng`, hidden: isMasked }, "Capture (pcap)"),
    isMasked
      ? element("a", { class: "button slim", href: location.pathname }, "Show numbers")
      : copyButton(() => link.href, "Copy a link that hides numbers"));
}

function build() {
  fill(page,
    element("p", { class: "small" }, element("a", { href: "/calls" }, "All calls")),
    element("div", { class: "stack tight" }, heading, state, conclusion), live, actions(),
    isMasked && element("p", { class: "notice" }, "Numbers are hidden on this page."),
    findings, element("div", { class: "columns" }, section("Call", summary), timingSection),
    section("Ladder", ladder.node), soundSection, element("div", { class: "columns" }, attempts, costs), descriptions, gaps);
}

async function end() {
  if (!await confirmed("Hang up?", "The call ends for both sides.", "Hang up")) return;
  try {
    await api(`/v1/live-calls/${encodeURIComponent(id)}`, { method: "DELETE" });
  } catch (error) {
    if (error.status !== 404) fill(live, problemBox(error));
  }
}

// Showing

function show(story) {
  if (page.childElementCount === 0) build();
  document.title = `Call to ${story.destination} – Landline`;
  heading.textContent = `Call to ${story.destination}`;
  if (conclusion.textContent !== story.conclusion) conclusion.textContent = story.conclusion;
  hangUp.hidden = !story.is_live;
  if (changed("state", [story.state, story.cause, story.failure?.code, story.is_live])) {
    const word = story.is_live ? states[story.state] ?? story.state : causes[story.cause] ?? story.cause ?? story.state;
    fill(state, badge(word, story.failure ? "bad" : story.is_live || story.cause === "hungUp" ? "good" : "warn"),
      story.is_live && badge("live", "info"), badge(story.kind));
  }
  showFindings(story);
  showSummary(story);
  timingSection.hidden = story.timing.length === 0;
  if (changed("timing", story.timing)) timing.show(story.timing);
  if (changed("ladder", [story.lanes, story.ladder, story.quality, story.attempts])) ladder.show(story);
  showSound(story);
  showDescriptions(story);
  showAttempts(story);
  showMoney(story);
  if (changed("gaps", story.gaps)) {
    fill(gaps, story.gaps.length > 0 && element("div", { class: "notice" }, element("strong", {}, "What is not known"),
      element("ul", { class: "evidence" }, story.gaps.map((gap) => element("li", {}, gap)))));
  }
}

function body(node, ...children) {
  node.replaceChildren(node.firstChild, ...children.flat().filter(Boolean));
}

function showFindings(story) {
  if (!changed("findings", [story.findings, story.failure])) return;
  findings.hidden = story.findings.length === 0 && !story.failure;
  body(findings, story.findings.map((finding) => element("article", { class: "finding" },
    element("h3", {}, finding.title), element("p", {}, finding.explanation),
    element("p", { class: "row" }, badge(owners[finding.owner] ?? finding.owner, finding.owner === "nobody" ? "good" : "warn"),
      badge(`${finding.confidence} % sure`), element("span", { class: "small muted mono" }, finding.rule)),
    finding.evidence.length > 0 && element("div", {}, element("p", { class: "small muted" }, "Why this is believed"),
      element("ul", { class: "evidence small mono" }, finding.evidence.map((line) => element("li", {}, line)))),
    finding.fixes.length > 0 && element("div", { class: "stack tight" }, element("p", { class: "small muted" }, "What to do"),
      finding.fixes.map((fix) => element("div", { class: "fix" }, element("pre", { class: "code" }, fix), copyButton(() => fix)))))),
  story.failure && failureBox(story.failure));
}

function failureBox(failure) {
  return element("div", { class: "problem" },
    element("p", {}, element("strong", {}, failure.meaning)),
    facts([
      ["Code", element("a", { href: `/errors/${encodeURIComponent(failure.code)}` }, failure.code)],
      ["Said by", failure.said_by],
      ["SIP", failure.sip_status ? `${failure.sip_status} ${failure.phrase ?? ""}` : failure.phrase],
      ["Cause (Q.850)", failure.q850 ? `${failure.q850}${failure.q850_name ? ` ${failure.q850_name}` : ""}` : null],
      ["Warning", failure.warning], ["Reasons", (failure.reasons ?? []).join("; ")], ["Refusal", failure.refusal],
      ["Can a retry help", `${retries[failure.retry] ?? failure.retry}${failure.retry_after_seconds ? `, after ${failure.retry_after_seconds} s` : ""}`],
    ]));
}

function showSummary(story) {
  if (!changed("summary", [story.account, story.application, story.user, story.caller_number, story.destination, story.ended_at])) return;
  fill(summary, facts([
    ["To", story.destination], ["Caller’s number", story.caller_number], ["User", story.user], ["Application", story.application],
    ["Account", element("a", { href: query("/account", { account: story.account }) }, story.account)],
    ["Environment", story.environment], ["Started", moment(story.started_at)],
    ["Ended", story.ended_at ? moment(story.ended_at) : null], ["Id", element("span", { class: "mono" }, story.call)],
  ]));
}

/** A direction by the titles of its lanes. */
function directions(story) {
  const at = legs(story);
  const title = (index, other) => story.lanes[index]?.title ?? other;
  const [near, gateway, far] = [title(at.near, "app"), title(at.gateway, "gateway"), title(at.far, "far side")];
  return [
    ["near", "received", `${near} → ${gateway}`], ["near", "sent", `${gateway} → ${near}`],
    ["far", "received", `${far} → ${gateway}`], ["far", "sent", `${gateway} → ${far}`],
  ];
}

function showSound(story) {
  if (!changed("sound", [story.codecs, story.media, story.quality, story.lanes, story.attempts])) return;
  soundSection.hidden = !story.codecs && story.media.length === 0 && story.quality.length === 0;
  const path = story.codecs;
  fill(codecs, path && element("p", {}, element("strong", {}, `${path.near ?? "none"} → ${path.far ?? "none"}`), " ",
    badge(path.is_transcoded ? "transcoded" : "passed through", path.is_transcoded ? "info" : "good")),
  path?.reasons.length > 0 && element("ul", { class: "evidence" }, path.reasons.map((reason) => element("li", {}, reason))));
  const ways = directions(story);
  const media = new Map(story.media.map((leg) => [leg.side, leg]));
  const table = grid("Packets of each direction", [
    { title: "Direction" }, { title: "Packets", num: true }, { title: "Bytes", num: true }, { title: "Lost", num: true },
    { title: "Jitter", num: true }, { title: "MOS", num: true },
  ]);
  table.body.append(...ways.filter(([side]) => media.has(side)).map(([side, way, text]) => {
    const one = media.get(side)[way];
    return table.row([text, one.packets.toLocaleString("en"), one.bytes.toLocaleString("en"), one.lost.toLocaleString("en"),
      `${one.jitter.toFixed(1)} ms`, one.score > 0 ? one.score.toFixed(2) : "–"]);
  }));
  const means = ["near", "far"].filter((side) => media.get(side)?.mean_score).map((side) =>
    `${side === "near" ? "near" : "far"} side mean MOS ${media.get(side).mean_score.toFixed(2)}, worst ${(media.get(side).worst_score ?? media.get(side).mean_score).toFixed(2)}`);
  fill(counts, story.media.length > 0 && table.node, means.length > 0 && element("p", { class: "small muted" }, means.join("; ")));
  const end = Math.max(1, ...story.quality.map((second) => second.at / 1e6));
  figures.forEach(({ key, factor = 1 }, index) => {
    plots[index].node.hidden = story.quality.length === 0;
    plots[index].show(ways.filter(([side]) => story.quality.some((second) => second.side === side)).map(([side, way, name]) => ({
      name, points: story.quality.filter((second) => second.side === side).map((second) => {
        const value = second[way][key];
        // A score of 0 is an unknown one; before the first packet nothing was lost or late.
        const isKnown = key === "score" ? value > 0 : second[way].packets > 0;
        return [second.at / 1e6, isKnown ? value * factor : null];
      }),
    })), end);
  });
}

function showDescriptions(story) {
  if (!changed("descriptions", story.descriptions)) return;
  descriptions.hidden = story.descriptions.length === 0;
  body(descriptions, story.descriptions.map((one) => element("details", {},
    element("summary", {}, `${one.side === "near" ? "Near side" : "Far side"}: ${one.role} of ${one.from} at ${offset(one.microseconds / 1000)}`,
      element("span", { class: "muted small" }, one.summary ? ` · ${one.summary}` : "")),
    element("pre", { class: "code message", tabindex: "0", role: "region", "aria-label": `${one.role} of ${one.from}` }, one.text))));
}

function showAttempts(story) {
  if (!changed("attempts", story.attempts)) return;
  attempts.hidden = story.attempts.length === 0;
  const table = grid("Attempts at trunks", [{ title: "Trunk" }, { title: "Took", num: true }, { title: "Outcome" }, { title: "SIP Call-ID" }]);
  table.body.append(...story.attempts.map((one) => table.row([
    one.trunk, offset(one.milliseconds),
    [one.sip_status ? `SIP ${one.sip_status} ` : "", one.code
      ? element("a", { href: `/errors/${encodeURIComponent(one.code)}` }, one.code) : one.sip_status ? "" : "–"],
    element("span", { class: "mono small break" }, one.sip_call_id ?? "–"),
  ])));
  body(attempts, table.node);
}

function showMoney(story) {
  const cost = story.money;
  if (!changed("money", cost)) return;
  costs.hidden = !cost;
  if (!cost) return;
  const text = (micro) => (micro === null || micro === undefined ? null : money(micro, cost.currency));
  const rate = cost.rate_per_minute_nano;
  const perMinute = rate === null || rate === undefined ? null : money((rate / 1e9).toFixed(9), cost.currency);
  const steps = cost.initial_seconds === null || cost.initial_seconds === undefined ? null
    : `${cost.initial_seconds} s at first, then each ${cost.increment_seconds} s`;
  body(costs, facts([
    ["Charged", text(cost.charged_micro) ?? (story.is_live ? "when the call ends" : "nothing")],
    ["Billed", cost.billed_seconds === null || cost.billed_seconds === undefined ? null : spoken(cost.billed_seconds)],
    ["Held", cost.reserved_micro ? `${text(cost.reserved_micro)}${cost.hold_state ? `, ${holds[cost.hold_state] ?? cost.hold_state}` : ""}` : null],
    ["Rate", perMinute ? `${perMinute} a minute` : "free"], ["Connection fee", cost.connection_fee_micro ? text(cost.connection_fee_micro) : null],
    ["Increments", steps], ["Destination", cost.destination], ["Rate deck", cost.deck],
    ["Account now", `${text(cost.balance_micro)}, ${text(cost.available_micro)} available`],
  ]), cost.transfers.map((transfer) => {
    const table = grid(`Postings of transfer ${transfer.id}`, [{ title: "Account" }, { title: "Amount", num: true }, { title: "Balance after", num: true }]);
    table.body.append(...[transfer.debit, transfer.credit].map((posting) => table.row([
      element("span", { class: "mono break" }, posting.account), text(posting.amount_micro), text(posting.balance_micro)])));
    return element("div", { class: "stack tight" },
      element("h3", {}, `Transfer ${transfer.id} (${transfer.kind})`),
      element("p", { class: "small muted" }, moment(new Date(transfer.at).toISOString())), table.node);
  }));
}

// Reading

function unknown() {
  fill(page, element("h1", {}, "No such call"),
    element("p", { class: "empty break" }, `No call has the id ${id}, or it is another account’s. Records are kept for as long as the configuration says. `,
      element("a", { href: "/calls" }, "Search the calls"), "."));
}

/** Seconds after the end until the record, the charge and the last statistics are there. */
const afterwards = 3;

async function read() {
  let [hadStory, left] = [false, afterwards];
  for (;;) {
    try {
      const story = await api(query(path("/story"), { masked: isMasked ? "true" : null }));
      const wasLive = hadStory && left === afterwards;
      hadStory = true;
      fill(live);
      show(story);
      if (!story.is_live && (!wasLive && left === afterwards || --left <= 0)) return;
    } catch (error) {
      // Between the end of a call and its record there is a moment without either.
      if (error.status === 404 && (!hadStory || --left <= 0)) {
        if (!hadStory) unknown();
        return;
      }
      if (page.childElementCount === 0) fill(page, live);
      fill(live, problemBox(error));
      if (error.status >= 400 && error.status < 500 && error.status !== 404 && error.status !== 429) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
    while (document.hidden) await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
}

if (id === "") location.replace("/calls");
else await read();
