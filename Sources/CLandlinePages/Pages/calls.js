// /calls: the calls that are up, pushed by the gateway, and a search of those that are over.
import { announce, api, duration, element, fill, follow, moment, money, problemBox, start } from "/pages/shell.js";
import { badge, causes, field, grid, instant, keepMask, masked, option, PagedList, query, readMask, states } from "/pages/lists.js";

/** Rows of live calls on the page; more are counted only. */
const mostRows = 200;
/** How long a call that ended stays in the live table. */
const farewell = 4000;
const warnScore = 3.5;

const tones = { ringing: "warn", answered: "info", established: "good" };

const me = await start("calls");
const isOperator = me.role === "operator";
let isMasked = readMask();
const shown = (text) => (isMasked ? masked(text ?? "") : text ?? "");
const callPath = (id) => `/calls/${encodeURIComponent(id)}`;

// The live table

const calls = new Map();
const rows = new Map();
/** The gateway's clock less ours, where it is worth a thought: times tick here, but were set there. */
let skew = 0;

const live = grid("Calls that are up", [
  { title: "State" }, { title: "From and to" }, ...(isOperator ? [{ title: "Account" }] : []), { title: "Trunk" },
  { title: "Codecs" }, { title: "MOS", num: true }, { title: "Time", num: true }, { title: "Held", num: true },
  { title: "Hang up", hidden: true },
]);
const liveState = element("span", { class: "badge", role: "status" }, "connecting");
const liveEmpty = element("p", { class: "empty" }, "No call is up. ", element("a", { href: "/" }, "Make one"), ".");
const liveMore = element("p", { class: "small muted" });
const liveProblem = element("div", { role: "alert" });

function parties(call) {
  const from = call.caller_number ?? call.user ?? call.application ?? "the gateway";
  return { from: shown(from), to: shown(call.destination) };
}

function scores(call) {
  const { quality } = call;
  return [quality?.received?.mos, quality?.sent?.mos].map((score) => (score > 0 ? score : null));
}

function scoreText(one, other, names) {
  if (one === null && other === null) return "–";
  return [one, other].map((score, index) => element("span", {
    class: score !== null && score < warnScore ? "bad" : null, title: names[index],
  }, element("span", { class: "visually-hidden" }, `${names[index]} `), score === null ? "–" : score.toFixed(1),
  score !== null && score < warnScore ? " low" : "", index === 0 ? " / " : ""));
}

class LiveRow {
  constructor(call) {
    this.state = element("span", { class: "badge" });
    this.parties = element("a", { href: callPath(call.id), class: "break" });
    this.about = element("div", { class: "small muted" });
    [this.trunk, this.codecs, this.score, this.time, this.held] = [0, 0, 0, 0, 0].map(() => element("span"));
    this.button = element("button", { type: "button", class: "slim", onclick: () => this.hangUp() }, "Hang up");
    this.node = live.row([
      this.state, element("div", {}, this.parties, this.about), ...(isOperator ? [call.account] : []), this.trunk, this.codecs,
      this.score, this.time, this.held, this.button,
    ]);
    this.show(call);
  }

  show(call) {
    this.call = call;
    const { from, to } = parties(call);
    this.set(this.state, states[call.state] ?? call.state);
    this.state.className = `badge ${call.failure ? "bad" : tones[call.state] ?? ""}`;
    this.set(this.parties, `${from} → ${to}`);
    this.set(this.about, `${call.kind}${call.failure ? ` · ${call.failure.message}` : ""}`);
    this.set(this.trunk, call.trunk ?? "–");
    this.set(this.codecs, [call.near_codec, call.far_codec].filter(Boolean).join(" → ") || "–");
    const score = scores(call);
    if (String(score) !== this.scored) {
      this.scored = String(score);
      fill(this.score, scoreText(...score, ["received", "sent"]));
    }
    this.set(this.held, call.held_micro > 0 ? money(call.held, call.currency) : "–");
    this.button.setAttribute("aria-label", `Hang up the call to ${to}`);
    this.button.hidden = call.state === "ended";
    this.node.classList.toggle("gone", call.state === "ended");
    this.tick();
  }

  /** Texts are written only when they change: selections and screen readers stay where they are. */
  set(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  tick() {
    if (this.call.state === "ended" && this.time.textContent !== "") return;
    const since = Date.parse(this.call.answered_at ?? this.call.started_at);
    this.set(this.time, duration((Date.now() + skew - since) / 1000));
  }

  async hangUp() {
    if (!this.isAsked) {
      // The second press does it.
      this.isAsked = true;
      this.button.classList.add("danger");
      this.button.textContent = "Really hang up?";
      announce("Press again to hang up");
      setTimeout(() => {
        this.isAsked = false;
        this.button.classList.remove("danger");
        this.button.textContent = "Hang up";
      }, 4000);
      return;
    }
    this.button.disabled = true;
    fill(liveProblem);
    try {
      await api(`/v1/live-calls/${encodeURIComponent(this.call.id)}`, { method: "DELETE" });
    } catch (error) {
      if (error.status !== 404) fill(liveProblem, problemBox(error));
    }
    this.button.disabled = false;
  }
}

let planned = false;
/** Many changes, one drawing. */
function plan() {
  if (planned) return;
  planned = true;
  setTimeout(() => {
    planned = false;
    drawLive();
  }, 100);
}

function drawLive() {
  const wanted = [...calls.values()].sort((one, other) => (one.started_at < other.started_at ? 1 : -1));
  const visible = new Set(wanted.slice(0, mostRows).map((call) => call.id));
  for (const [id, row] of rows) {
    if (!visible.has(id)) {
      row.node.remove();
      rows.delete(id);
    }
  }
  let before = null;
  for (const call of wanted.slice(0, mostRows)) {
    let row = rows.get(call.id);
    if (row) row.show(call);
    else rows.set(call.id, (row = new LiveRow(call)));
    const place = before ? before.nextElementSibling : live.body.firstElementChild;
    if (place !== row.node) live.body.insertBefore(row.node, place);
    before = row.node;
  }
  const count = [...calls.values()].filter((call) => call.state !== "ended").length;
  liveEmpty.hidden = calls.size > 0;
  live.node.hidden = calls.size === 0;
  liveCount.textContent = count === 0 ? "" : `${count} up`;
  liveMore.textContent = calls.size > mostRows ? `and ${calls.size - mostRows} more` : "";
}

function heard(call) {
  calls.set(call.id, call);
  if (call.state === "ended") {
    setTimeout(() => {
      calls.delete(call.id);
      plan();
    }, farewell);
    overSoon();
  }
  plan();
}

/** After the stream was away: what ended meanwhile is not told again. */
async function reconcile() {
  try {
    const response = await api("/v1/live-calls", { as: "response" });
    const date = Date.parse(response.headers.get("date"));
    if (Math.abs(date - Date.now()) > 3000) skew = date - Date.now();
    const up = new Set((await response.json()).calls.map((call) => call.id));
    for (const [id, call] of calls) if (!up.has(id) && call.state !== "ended") calls.delete(id);
    plan();
  } catch {
    // The stream says what is wrong.
  }
}

// Calls that are over

const destination = element("input", { id: "search-to", autocomplete: "off", spellcheck: "false", placeholder: "+4670" });
const accountName = element("input", { id: "search-account", autocomplete: "off", spellcheck: "false" });
const cause = element("select", { id: "search-cause" }, option("", "Any"), Object.entries(causes).map(([value, text]) => option(value, text)));
const from = element("input", { id: "search-from", type: "datetime-local" });
const to = element("input", { id: "search-until", type: "datetime-local" });
const over = grid("Calls that are over, newest first", [
  { title: "Started" }, { title: "From and to" }, ...(isOperator ? [{ title: "Account" }] : []), { title: "Trunk" },
  { title: "Talked", num: true }, { title: "Cost", num: true }, { title: "MOS", num: true }, { title: "Ended" },
]);
let records = [];
const list = new PagedList({
  read: async (cursor) => {
    const page = await api(query("/v1/calls", {
      limit: 50, cursor, destination: destination.value.trim(), account: isOperator ? accountName.value.trim() : null,
      cause: cause.value, from: instant(from), to: instant(to),
    }));
    return { items: page.calls, next: page.next };
  },
  show: (found, isFirst) => {
    if (isFirst) {
      fill(over.body);
      records = [];
      newer.hidden = true;
    }
    records.push(...found);
    over.body.append(...found.map(overRow));
  },
  empty: "No call was found.",
});
const newer = element("button", { type: "button", hidden: true, onclick: () => list.reload() }, "More calls have ended: show them");

function overRow(call) {
  const parts = parties(call);
  const failure = call.failure;
  const score = [call.mean_score_near, call.mean_score_far].map((value) => (value > 0 ? value : null));
  return over.row([
    moment(call.started_at),
    element("div", {}, element("a", { href: callPath(call.id), class: "break" }, `${parts.from} → ${parts.to}`),
      element("div", { class: "small muted" }, call.kind)),
    ...(isOperator ? [call.account] : []), call.trunk ?? "–",
    call.answered_at ? duration(call.duration_ms / 1000) : "–",
    call.cost_micro > 0 ? money(call.cost, call.currency) : "–", scoreText(...score, ["app’s side", "far side"]),
    element("div", {}, badge(causes[call.cause] ?? call.cause, failure ? "bad" : call.cause === "hungUp" ? "good" : "warn"),
      failure && element("div", { class: "small" }, element("a", { href: `/errors/${encodeURIComponent(failure.code)}` }, failure.code),
        failure.sip_status ? ` · SIP ${failure.sip_status}` : "")),
  ]);
}

let overTimer = null;
/** The record of a call is written shortly after its end. */
function overSoon() {
  clearTimeout(overTimer);
  overTimer = setTimeout(() => {
    const isRead = list.pages > 1 || over.node.contains(document.activeElement);
    if (isRead) newer.hidden = false;
    else list.reload();
  }, 1500);
}

// The page

const liveCount = element("span", { class: "muted num" });
const maskBox = element("input", {
  type: "checkbox", id: "mask", checked: isMasked,
  onchange: () => {
    isMasked = maskBox.checked;
    keepMask(isMasked);
    for (const row of rows.values()) row.show(row.call);
    fill(over.body, records.map(overRow));
  },
});
const callID = element("input", { id: "open-call", autocomplete: "off", spellcheck: "false", required: true });
const search = () => list.reload();
fill(document.querySelector("main"), element("div", { class: "stack" },
  element("div", { class: "spread" }, element("h1", {}, "Calls"),
    element("span", { class: "check" }, maskBox, element("label", { for: "mask" }, "Hide numbers"))),
  element("section", { class: "card stack tight", "aria-labelledby": "live-title" },
    element("div", { class: "spread" }, element("h2", { id: "live-title" }, "Up now ", liveCount), liveState),
    liveProblem, liveEmpty, live.node, liveMore),
  element("section", { class: "card stack", "aria-labelledby": "over-title" },
    element("h2", { id: "over-title" }, "Over"),
    element("form", { class: "filters", role: "search", "aria-label": "Calls that are over", onsubmit: (event) => {
      event.preventDefault();
      search();
    } },
    field("Destination begins with", destination), isOperator && field("Account", accountName), field("Ended", cause),
    field("From", from), field("Before", to), element("div", {}, element("button", { type: "submit", class: "primary" }, "Search"))),
    newer, over.node, list.node,
    element("details", {}, element("summary", {}, "Open a call by its id"),
      element("form", { class: "row end", onsubmit: (event) => {
        event.preventDefault();
        location.assign(callPath(callID.value.trim()));
      } }, field("Id of the call", callID), element("button", { type: "submit" }, "Open"))))));
cause.addEventListener("change", search);

drawLive();
follow("/v1/live-calls?watch=true", {
  item: heard,
  state: (state) => {
    liveState.textContent = { connecting: "connecting", live: "live", lost: "connection lost, trying again" }[state];
    liveState.className = `badge ${{ live: "good", lost: "warn" }[state] ?? ""}`;
    if (state === "live") reconcile();
  },
  error: (error) => fill(liveProblem, problemBox(error)),
});
setInterval(() => {
  for (const row of rows.values()) row.tick();
}, 1000);
list.reload();
