// /calls: the calls that are up, pushed by the gateway, and a search of those that are over.
import { api, duration, fill, follow, moment, money, start } from "/pages/shell.js";
import {
  action, asks, badge, callPath, card, causes, errorBox, errorLink, field, grid, hangUp, input, instant, main, masked, option,
  options, PagedList, query, states, tags, timeInput,
} from "/pages/lists.js";

// Rows of live calls on the page; more are counted only.
const mostRows = 200;
// Milliseconds that a call that ended stays in the live table.
const farewell = 4000;
const warnScore = 3.5;
const tones = { ringing: "warn", answered: "info", established: "good" };
const { a, button, div, h1, label, p, select, span } = tags;

const me = await start("calls");
const isOperator = me.role === "operator";
let isMasked = location.hash === "#masked";
const shown = (text) => (isMasked ? masked(text ?? "") : text ?? "");
const parties = (call) =>
  `${shown(call.caller_number ?? call.user ?? call.application ?? "the gateway")} → ${shown(call.destination)}`;

// Two scores: `4.4 / 3.1 low`
function scores(pair, names) {
  const known = pair.map((score) => (score > 0 ? score : null));
  if (known[0] === null && known[1] === null) return "–";
  return known.map((score, index) => [index > 0 && " / ",
    span(score && score < warnScore ? "bad" : "", span("visually-hidden", `${names[index]} `),
      score ? `${score.toFixed(1)}${score < warnScore ? " low" : ""}` : "–")]);
}

// Calls that are up

const calls = new Map();
const rows = new Map();
const account = isOperator ? ["Account"] : [];
const live = grid("Calls that are up", "State", "From and to", ...account, "Trunk", "Codecs", "#MOS", "#Time", "#Held", "-Hang up");
const liveState = span({ class: "badge", role: "status" }, "connecting");
const liveNone = p("empty", "No call is up. ", a({ href: "/" }, "Make one"), ".");
const liveCount = p({ class: "small muted" });
const liveProblem = errorBox();

// Texts are written only when they change: selections and screen readers stay where they are.
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

class LiveRow {
  constructor(call) {
    this.state = badge("");
    this.parties = a({ href: callPath(call.id), class: "break" });
    this.about = div("small muted");
    [this.trunk, this.codecs, this.score, this.time, this.held] = Array.from({ length: 5 }, () => span(""));
    this.button = action(() => hangUp(call.id, liveProblem), "slim", "Hang up");
    this.node = live.row(this.state, div("", this.parties, this.about), ...(isOperator ? [call.account] : []), this.trunk,
      this.codecs, this.score, this.time, this.held, this.button);
    this.show(call);
  }

  show(call) {
    this.call = call;
    const isOver = call.state === "ended";
    write(this.state, states[call.state] ?? call.state);
    this.state.className = `badge ${call.failure ? "bad" : tones[call.state] ?? ""}`;
    write(this.parties, parties(call));
    write(this.about, `${call.kind}${call.failure ? ` · ${call.failure.message}` : ""}`);
    write(this.trunk, call.trunk ?? "–");
    write(this.codecs, [call.near_codec, call.far_codec].filter(Boolean).join(" → ") || "–");
    const pair = [call.quality?.received?.mos, call.quality?.sent?.mos];
    if (String(pair) !== this.pair) fill(this.score, scores(pair, ["received", "sent"]));
    this.pair = String(pair);
    write(this.held, call.held_micro > 0 ? money(call.held, call.currency) : "–");
    this.button.setAttribute("aria-label", `Hang up ${parties(call)}`);
    this.button.hidden = isOver;
    this.node.classList.toggle("gone", isOver);
    if (!isOver || this.time.textContent === "") this.tick();
  }

  tick() {
    const since = Date.parse(this.call.answered_at ?? this.call.started_at);
    write(this.time, duration((Date.now() - since) / 1000));
  }
}

let isPlanned = false;
// Many changes, one drawing.
function plan() {
  if (!isPlanned) setTimeout(drawLive, 100);
  isPlanned = true;
}

function drawLive() {
  isPlanned = false;
  const all = [...calls.values()].sort((one, other) => (one.started_at < other.started_at ? 1 : -1));
  const visible = all.slice(0, mostRows);
  const ids = new Set(visible.map((call) => call.id));
  for (const [id, row] of rows) {
    if (ids.has(id)) continue;
    row.node.remove();
    rows.delete(id);
  }
  let place = live.body.firstElementChild;
  for (const call of visible) {
    const row = rows.get(call.id);
    if (row) row.show(call);
    const { node } = row ?? rows.set(call.id, new LiveRow(call)).get(call.id);
    if (node === place) place = place.nextElementSibling;
    else live.body.insertBefore(node, place);
  }
  live.node.hidden = all.length === 0;
  liveNone.hidden = all.length > 0;
  const count = all.filter((call) => call.state !== "ended").length;
  liveCount.textContent = count > 0 ? `${count} up${all.length > mostRows ? `; the newest ${mostRows} are shown` : ""}` : "";
}

function heard(call) {
  calls.set(call.id, call);
  plan();
  if (call.state !== "ended") return;
  setTimeout(() => {
    calls.delete(call.id);
    plan();
  }, farewell);
  overSoon();
}

// What ended while the stream was away is not told again.
async function reconcile() {
  const up = new Set((await api("/v1/live-calls")).calls.map((call) => call.id));
  for (const [id, call] of calls) if (!up.has(id) && call.state !== "ended") calls.delete(id);
  plan();
}

// Calls that are over

const [destination, accountName] = [input("search-to", { placeholder: "+4670" }), input("search-account")];
const cause = select({ id: "search-cause" }, option("", "Any way"), options(causes));
const [from, to] = [timeInput("search-from"), timeInput("search-before")];
const over = grid("Calls that are over, newest first", "Started", "From and to", ...account, "Trunk", "#Talked", "#Cost", "#MOS", "Ended");
const list = new PagedList({
  read: (cursor) => api(query("/v1/calls", {
    limit: 25, cursor, destination: destination.value.trim(), account: accountName.value.trim(), cause: cause.value,
    from: instant(from), to: instant(to),
  })),
  key: "calls", table: over, row: overRow,
});

function overRow(call) {
  const { failure } = call;
  const tone = failure ? "bad" : call.cause === "hungUp" ? "good" : "warn";
  return over.row(moment(call.started_at),
    div("", a({ href: callPath(call.id), class: "break" }, parties(call)), div("small muted", call.kind)),
    ...(isOperator ? [call.account] : []), call.trunk ?? "–", call.answered_at ? duration(call.duration_ms / 1000) : "–",
    call.cost_micro > 0 ? money(call.cost, call.currency) : "–",
    scores([call.mean_score_near, call.mean_score_far], ["near side", "far side"]),
    div("", badge(causes[call.cause] ?? call.cause, tone),
      failure && div("small", errorLink(failure.code), failure.sip_status ? ` · SIP ${failure.sip_status}` : "")));
}

let overTimer = null;
// The record of a call is written shortly after its end.
function overSoon() {
  clearTimeout(overTimer);
  overTimer = setTimeout(() => list.changed(), 1500);
}

// The page

const maskBox = input("mask", {
  type: "checkbox", checked: isMasked,
  onchange() {
    isMasked = maskBox.checked;
    for (const row of rows.values()) row.show(row.call);
    list.draw(true);
    // A reload, or a link, keeps it.
    history.replaceState(null, "", isMasked ? "#masked" : location.pathname);
  },
});
function search() {
  const text = destination.value.trim();
  if (/^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-Z]{26})$/.test(text)) location.assign(callPath(text));
  else list.reload();
}
cause.addEventListener("change", search);
fill(main, div("stack",
  div("spread", h1("", "Calls"), span("check", maskBox, label({ for: "mask" }, "Hide numbers"))),
  card("Up now", div("spread", liveCount, liveState), liveProblem, liveNone, live.node),
  card("Over",
    asks(search, { class: "filters", role: "search", "aria-label": "Calls that are over" },
      field("To, or a call’s id", destination), isOperator && field("Account", accountName), field("Ended", cause),
      field("From", from), field("Before", to), button({ type: "submit", class: "primary" }, "Search")),
    list.node)));

drawLive();
follow("/v1/live-calls?watch=true", {
  item: heard,
  state(state) {
    liveState.textContent = state === "lost" ? "connection lost, trying again" : state;
    liveState.className = `badge ${{ live: "good", lost: "warn" }[state] ?? ""}`;
    if (state === "live") reconcile().catch(() => {});
  },
  error: (error) => liveProblem.fail(error),
});
setInterval(() => {
  for (const row of rows.values()) if (row.call.state !== "ended") row.tick();
}, 1000);
list.reload();
