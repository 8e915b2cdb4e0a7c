// /calls/ID: the story of one call, read again each second while it is up.
import { api, charged, copyButton, fill, moment, money, onDecimals, price, spoken, start, untilReturn } from "/pages/shell.js";
import {
  action, badge, card, ending, errorBox, errorLink, facts, grid, hangUp, isKnown, main, postings, query, states, tags,
} from "/pages/lists.js";
import { Ladder, legs } from "/pages/ladder.js";
import { offset, Plot, timingBar } from "/pages/plots.js";

const { a, article, details, div, h1, h3, li, p, pre, span, strong, summary, ul } = tags;
const phases = { "set-up": "Post-dial delay", ringing: "Ringing", talking: "Talking" };
const holds = { authorised: "before the answer", answered: "while it is up", settled: "and settled", voided: "and given back" };
const owners = {
  app: "The app has to act", gateway: "The gateway’s operator has to act", trunk: "The trunk’s carrier has to act",
  callee: "Only the callee can change it", account: "The account’s owner has to act", nobody: "Nobody has to act",
};
const figures = [
  { key: "score", title: "MOS", digits: 2, bottom: 1, top: 4.5, isBetterHigh: true, limit: { value: 3.5, text: "warning below 3.5" } },
  { key: "jitter", title: "Jitter", unit: "ms", digits: 1, top: 10, limit: { value: 30, text: "warning above 30 ms" } },
  { key: "loss_rate", title: "Loss", unit: "%", digits: 2, top: 1, factor: 100, limit: { value: 3, text: "warning above 3 %" } },
  { key: "effective_loss", title: "Effective loss", unit: "%", digits: 2, top: 1, factor: 100,
    note: "loss that no copy in a later packet made good; of what is sent, with what the other end threw away" },
  { key: "round_trip", title: "Round trip", unit: "ms", digits: 1, top: 50, limit: { value: 400, text: "warning above 400 ms" },
    note: "there and back, as reports of both ends tell" },
  { key: "buffered", title: "Buffer", unit: "ms", digits: 1, top: 10,
    note: "the longest that a packet waited in the gateway for one before it" },
];

await start("calls");
// As it stands in the address: ids have nothing to escape.
const id = location.pathname.split("/")[2];
const isMasked = new URLSearchParams(location.search).get("masked") === "true";
const mask = { masked: isMasked ? "true" : null };
const path = (rest) => `/v1/calls/${id}${rest}`;
const page = div("stack");
fill(main, page);

// Sections are written again only when what they show has changed: nothing moves under a reader's eyes.

const known = new Map();
function changed(name, ...values) {
  const text = JSON.stringify(values);
  if (known.get(name) === text) return false;
  known.set(name, text);
  return true;
}

const heading = h1("break");
const state = div("row");
const conclusion = p({ role: "status" });
const problem = errorBox();
const file = (text, rest, name) => a({ class: "button slim", href: query(path(rest), mask), download: `${id}.${name}` }, text);
const capture = file("Capture (pcapng)", "/capture", "pcapng");
const ender = action(() => hangUp(id, problem), "danger slim", "Hang up");
const [findings, about, codecs, counts, descriptions, attempts, costs, recordings] = Array.from({ length: 8 }, () => div("stack"));
const gaps = div("");
const timing = timingBar((name) => phases[name] ?? name);
const ladder = new Ladder();
const plot = new Plot(figures);
const cards = {
  findings: card("What happened", findings), timing: card("Time", timing.node),
  sound: card("Sound", codecs, counts, plot.node), descriptions: card("Session descriptions", descriptions),
  attempts: card("Attempts", attempts), costs: card("Money", costs), recordings: card("Recordings", recordings),
};

function build() {
  const link = new URL("?masked=true", location.href).href;
  fill(page, p("small", a({ href: "/calls" }, "All calls")), div("stack tight", heading, state, conclusion), problem,
    div("row", ender, file("Text", "/story.txt", "txt"), file("JSON", "/story", "json"), capture,
      isMasked ? a({ class: "button slim", href: location.pathname }, "Show numbers") : copyButton(() => link, "Copy a link that hides numbers")),
    isMasked && p("notice", "Numbers are hidden on this page."),
    cards.findings, div("columns", card("Call", about), cards.timing), cards.recordings, card("Ladder", ladder.node), cards.sound,
    div("columns", cards.attempts, cards.costs), cards.descriptions, gaps);
}

function show(story) {
  if (!page.contains(heading)) build();
  heading.textContent = `Call to ${story.destination}`;
  document.title = `${heading.textContent} – Landline`;
  if (changed("conclusion", story.conclusion)) conclusion.textContent = story.conclusion;
  ender.hidden = !story.is_live;
  // Numbers in messages are not hidden; without a trace there are none.
  capture.hidden = isMasked || !story.ladder.some((row) => row.kind === "sip");
  if (changed("state", story.state, story.cause, story.failure, story.is_live)) {
    const word = story.is_live ? states[story.state] ?? story.state : ending(story.cause, story.failure) ?? story.state;
    fill(state, badge(word, story.failure ? "bad" : story.is_live || story.cause === "hungUp" ? "good" : "warn"),
      story.is_live && badge("live", "info"), badge(story.kind));
  }
  showFindings(story);
  showAbout(story);
  cards.timing.hidden = story.timing.length === 0;
  if (changed("timing", story.timing)) timing.show(story.timing);
  if (changed("ladder", story.lanes, story.ladder, story.quality, story.attempts)) ladder.show(story);
  showSound(story);
  showDescriptions(story);
  showAttempts(story);
  showMoney(story);
  if (changed("gaps", story.gaps)) {
    fill(gaps, story.gaps.length > 0 && div("notice", strong("", "What is not known"), ul("evidence", story.gaps.map((gap) => li("", gap)))));
  }
}

function showFindings({ findings: found, failure }) {
  if (!changed("findings", found, failure)) return;
  cards.findings.hidden = found.length === 0 && !failure;
  const [first, ...rest] = found;
  fill(findings, first && article("finding", h3("", first.title), findingParts(first, failure)),
  rest.length > 0 && p("small muted", failure ? "Less likely, or beside it" : "Also"),
  rest.map((finding) => details("finding", summary("", finding.title), findingParts(finding, failure))),
  failure && div("problem", p("", strong("", failure.meaning)), facts([
    ["Code", errorLink(failure.code)], ["Said by", failure.said_by],
    ["SIP", [failure.sip_status, failure.phrase].filter(Boolean).join(" ")],
    ["Cause (Q.850)", [failure.q850, failure.q850_name].filter(Boolean).join(" ")],
    ["Warning", failure.warning], ["Reasons", (failure.reasons ?? []).join("; ")], ["Refusal", failure.refusal],
    ["Does a retry help", `${failure.retry}${failure.retry_after_seconds ? `, after ${failure.retry_after_seconds} s` : ""}`],
  ])));
}

// What a finding says. How sure it is matters where somebody has to find out what went wrong.
function findingParts({ explanation, owner, confidence, rule, evidence, fixes }, failure) {
  const isQuiet = owner === "nobody" && !failure;
  return [p("", explanation),
    p("row", badge(owners[owner] ?? owner, owner === "nobody" ? "good" : "warn"), !isQuiet && badge(`${confidence} % sure`)),
    fixes.length > 0 && div("stack tight", p("small muted", "What to do"), fixes.map((fix) => div("fix", pre("code", fix), copyButton(() => fix)))),
    evidence.length > 0 && details("small", summary("", "Why this is believed"), ul("evidence mono", evidence.map((line) => li("", line))),
      p("muted", "Rule ", span("mono", rule)))];
}

function showAbout(story) {
  const { account, started_at: started, ended_at: ended } = story;
  if (!changed("about", ended, story.caller_number, story.caller_name, story.signature)) return;
  fill(about, facts([
    ["To", story.destination], ["Caller’s number", story.caller_number], ["Caller’s name", story.caller_name], ["Signature", story.signature], ["User", story.user], ["Application", story.application],
    ["Account", a({ href: query("/account", { account }) }, account)], ["Environment", story.environment],
    ["Started", moment(started)], ["Ended", ended && moment(ended)], ["Id", span("mono", story.call)],
  ]));
}

// The ways of the sound, by the titles of their lanes.
function waysOf(story) {
  const at = legs(story);
  const name = (leg) => (leg === "far" && at.far === at.gateway ? "far side" : story.lanes[at[leg]].title);
  return ["near", "far"].filter((side) => [...story.media, ...story.quality].some((one) => one.side === side)).flatMap((side) => [
    [side, "received", `${name(side)} → ${name("gateway")}`], [side, "sent", `${name("gateway")} → ${name(side)}`],
  ]);
}

function showSound(story) {
  const { codecs: chosen, media, quality } = story;
  if (!changed("sound", chosen, media, quality, story.lanes, story.attempts)) return;
  cards.sound.hidden = !chosen && media.length === 0 && quality.length === 0;
  fill(codecs, chosen && p("", strong("", [chosen.near, chosen.far].filter(Boolean).join(" → ") || "No codec was agreed"), " ",
    chosen.near && chosen.far && badge(chosen.is_transcoded ? "transcoded" : "passed through", chosen.is_transcoded ? "info" : "good")),
  chosen && ul("evidence", chosen.reasons.map((reason) => li("", reason))));
  const ways = waysOf(story);
  const table = grid("Packets of each direction", "Direction", "#Packets", "#Bytes", "#Lost", "#Jitter", "#MOS");
  fill(table.body, ways.map(([side, way, name]) => {
    const one = media.find((leg) => leg.side === side)?.[way];
    return one && (one.packets > 0 || quality.length > 0) && table.row(name, one.packets.toLocaleString("en"), one.bytes.toLocaleString("en"), one.lost.toLocaleString("en"),
      one.packets > 0 ? `${one.jitter.toFixed(1)} ms` : "–", one.packets > 0 && one.score > 0 ? one.score.toFixed(2) : "–");
  }));
  const means = media.filter((leg) => leg.mean_score && leg.received.packets > 0).map((leg) =>
    `${leg.side} side: mean MOS ${leg.mean_score.toFixed(2)}, worst ${(leg.worst_score ?? leg.mean_score).toFixed(2)}`);
  const isCounted = media.some((leg) => leg.received.packets > 0 || leg.sent.packets > 0);
  fill(counts, isCounted ? table.node : media.length > 0 && p("muted", "No packet of sound went either way."), means.length > 0 && p("small muted", means.join("; ")));
  const last = Math.max(1, ...quality.map((second) => second.at / 1e6));
  const series = (side, name, figure) => ({
    name, points: quality.filter((second) => second.side === side).map((second) => [second.at / 1e6, figure(second) ?? null]),
  });
  // A score of 0 is an unknown one; before the first packet nothing was lost or late.
  const all = Object.fromEntries(figures.map(({ key, factor = 1 }) => [key, ways.map(([side, way, name]) => series(side, name, (second) => {
    const one = second[way];
    return one.packets > 0 && (key !== "score" || one.score > 0) && isKnown(one[key]) ? one[key] * factor : null;
  }))]));
  const [near, far] = ["near", "far"].map((side) => ways.find((way) => way[0] === side)?.[2].replace(" → ", " and "));
  all.round_trip = [near && series("near", near, (second) => second.round_trip), far && series("far", far, (second) => second.round_trip)]
    .filter(Boolean);
  // What the gateway sends waits in somebody else's buffer.
  all.buffered = all.buffered.filter((_, index) => ways[index][1] === "received");
  plot.node.hidden = !Object.values(all).flat().some(({ points }) => points.some(([, value]) => value !== null));
  plot.show(all, last);
}

function showDescriptions({ descriptions: found }) {
  if (!changed("descriptions", found)) return;
  cards.descriptions.hidden = found.length === 0;
  fill(descriptions, found.map((one) => details("",
    summary("", `${one.side === "near" ? "Near" : "Far"} side: ${one.role} of ${one.from} at ${offset(one.microseconds / 1000)}`,
      one.summary && span("muted small", ` · ${one.summary}`)),
    pre({ class: "code message", tabindex: "0", role: "region", "aria-label": `${one.role} of ${one.from}` }, one.text))));
}

function showAttempts({ attempts: made }) {
  if (!changed("attempts", made)) return;
  cards.attempts.hidden = made.length === 0;
  const table = grid("Attempts at trunks", "Trunk", "#Took", "Outcome", "SIP Call-ID");
  fill(table.body, made.map((one) => table.row(one.trunk, offset(one.milliseconds),
    [one.sip_status ? `SIP ${one.sip_status} ` : one.code ? "" : "–", one.code && errorLink(one.code)], span("mono small break", one.sip_call_id ?? "–"))));
  fill(attempts, table.node);
}

function showMoney({ money: cost, is_live: isLive }) {
  cards.costs.hidden = !cost;
  if (!cost || !changed("money", cost, isLive)) return;
  const cash = (micro) => (isKnown(micro) ? money(micro, cost.currency) : null);
  const rate = cost.rate_per_minute_nano;
  fill(costs, facts([
    ["Charged", cash(cost.charged_micro) ?? (isLive ? "when the call ends" : "nothing")],
    ["Billed", isKnown(cost.billed_seconds) ? spoken(cost.billed_seconds) : null],
    ["Held", cost.reserved_micro ? `${cash(cost.reserved_micro)} (${holds[cost.hold_state] ?? cost.hold_state})` : null],
    ["Rate", rate ? `${price((rate / 1e9).toFixed(9), cost.currency)} a minute` : "free"],
    ["Connection fee", cost.connection_fee_micro ? cash(cost.connection_fee_micro) : null],
    ["Increments", rate && isKnown(cost.initial_seconds) ? `${cost.initial_seconds} s at first, then each ${cost.increment_seconds} s` : null],
    ["Destination", cost.destination], ["Rate deck", cost.deck],
    ["Account now", `${cash(cost.balance_micro)}, ${cash(cost.available_micro)} available`],
  ]), cost.transfers.map((transfer) => div("stack tight", h3("", `Transfer ${transfer.id} (${transfer.kind})`),
    p("small muted", moment(new Date(transfer.at).toISOString())),
    postings(transfer.id, [transfer.debit, transfer.credit], cost.currency))));
}

const unknown = () => fill(page, h1("", "No such call"),
  p("empty break", `No call of your accounts has the id ${id}, or its record is no longer kept. `,
    a({ href: "/calls" }, "Search the calls"), "."));

// A gateway that was killed left no record of the call: the ledger knows what it cost.
async function interrupted() {
  fill(state, badge("interrupted", "bad"), badge(last.kind));
  ender.hidden = true;
  conclusion.textContent = "The gateway stopped while this call was up and kept no record of it. What stands below is what was known a moment before.";
  for (let found = null; !found && last.money;) {
    found = await charged(id, last.account).catch(() => null);
    if (found) showMoney({ ...last, is_live: false, money: { ...last.money, charged_micro: found.cost_micro, billed_seconds: found.billed_seconds ?? null, hold_state: "settled" } });
    else await untilReturn(2000);
  }
}

const recordingStates = { running: "is recorded", interrupted: "cut off", full: "ended: no room", failed: "ended: the disk failed" };
cards.recordings.hidden = true;
// What stands in the card of recordings; null: it has to be asked for.
let recorded = null;

// Recordings of the call, and the buttons for the one that runs. A page that hides numbers hides what was said, too.
async function readRecordings({ is_live: isLive, state: phase }) {
  if (isMasked) return;
  const running = isLive ? (await api(path(""))).recording ?? null : null;
  const now = JSON.stringify([isLive, phase, running]);
  if (now === recorded) return;
  const { recordings: rows } = await api(query("/v1/recordings", { call: id }));
  // One that was just ended is there a moment later.
  recorded = rows.some((row) => row.state === "running" && row.id !== running?.id) ? null : now;
  const isUp = isLive && ["answered", "established"].includes(phase);
  cards.recordings.hidden = rows.length === 0 && !isUp;
  fill(recordings, isUp && recordingButtons(running), rows.filter((row) => row.id !== running?.id).map(recordingRow));
}

function recordingButtons(running) {
  const target = `/v1/live-calls/${id}/recording`;
  const ask = (method, body, word) => action(async () => {
    problem.clear();
    try {
      await api(target, { method, body, headers: method === "POST" ? { "Idempotency-Key": crypto.randomUUID() } : {} });
    } catch (error) {
      problem.fail(error);
    }
    recorded = null;
  }, "slim", word);
  if (!running) return div("row", ask("POST", {}, "Record"), ask("POST", { announce: true }, "Record, and say so"));
  return div("row", badge(running.paused ? "recording paused" : "recording", running.paused ? "warn" : "bad"),
    ask("PATCH", { paused: !running.paused }, running.paused ? "Go on" : "Pause"), ask("DELETE", undefined, "Stop recording"));
}

function recordingRow({ id: recording, started_at: started, duration_ms: length, state: how, format }) {
  const source = `/v1/recordings/${recording}/sound`;
  const audio = tags.audio({ controls: true, preload: "none", src: source, "aria-label": `Recording of ${spoken(length / 1000)}` });
  return div("stack tight", p("small row", moment(started), spoken(length / 1000), isKnown(recordingStates[how]) && badge(recordingStates[how], "warn")),
    how === "running" ? null : div("row", audio, a({ class: "button slim", href: source, download: `${id}.${format}` }, "Save")));
}

let last = null;
// Amounts have more decimals than before.
onDecimals(() => {
  known.delete("money");
  if (last) showMoney(last);
});

// Readings after the end, until the record and the charge are there.
const afterwards = 3;

async function read() {
  let [wasLive, left] = [false, 0];
  for (;;) {
    try {
      const story = await api(query(path("/story"), mask));
      problem.clear();
      last = story;
      show(story);
      // Without them the page says all the rest.
      await readRecordings(story).catch(() => {});
      if (story.is_live) [wasLive, left] = [true, afterwards];
      else if (--left < 0) return;
    } catch (error) {
      const isFinal = error.status >= 400 && error.status < 500 && error.status !== 429;
      if (error.status === 404 && !wasLive) {
        unknown();
        return;
      }
      // Between the end of a call and its record there is a moment without either.
      if (error.status === 404 && --left < 0) return interrupted();
      // That the gateway is gone is told above the page; what it knew stands there.
      if (error.status !== 404 && (error.status !== 0 || !last)) {
        if (!page.contains(problem)) fill(page, problem);
        problem.fail(error);
        if (isFinal) return;
      }
    }
    await untilReturn(1000);
    while (document.hidden) await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
}

await read();
