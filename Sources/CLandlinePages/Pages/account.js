// /account: what is there, what is reserved, where it went.
import { api, confirmed, fill, moment, money, onDecimals, onReturn, price, problemBox, spoken, start, when } from "/pages/shell.js";
import {
  asks, badge, callPath, card, errorBox, facts, field, folded, grid, input, instant, isKnown, main, option, options,
  PagedList, postings, query, repeat, tags, timeInput,
} from "/pages/lists.js";
import { dayBars, Plot } from "/pages/plots.js";

const { a, button, code, details, div, h1, p, select, span, summary } = tags;
// Periods of the drawing, in hours.
const periods = { 24: "24 hours", 168: "7 days", 720: "30 days" };
// Days that a balance should last for.
const enoughDays = 3;
const kinds = {
  opening: "Opening", topup: "Top-up", call: "Call", termination: "Cost of a call", refund: "Refund", adjust: "Correction",
  transfer: "Transfer", overrun: "Overrun", chargeback: "Chargeback",
};
const methods = { bank: "Bank transfer", card: "Card", cash: "Cash", other: "Other" };

const me = await start("account");
const isOperator = me.role === "operator";
let [name, account, spend] = [null, null, null];
let stop = () => {};
let [again, redraw] = [stop, stop];
onReturn(() => again());
onDecimals(() => redraw());

const path = (rest) => `/v1/accounts/${encodeURIComponent(name)}${rest}`;
const cash = (value) => money(value, account.currency);
const count = (calls, word = "") => `${calls} ${word}${calls === 1 ? "call" : "calls"}`;
// Of a busy account calls are not counted.
const also = (calls, joint) => (isKnown(calls) ? joint + count(calls) : "");
const heading = h1("", "Account");
const chooserBox = div("row end");
const page = div("stack");
fill(main, div("stack", div("spread", heading, chooserBox), page));

async function choose(wanted) {
  stop();
  [name, spend] = [wanted, null];
  heading.textContent = `Account ${name}`;
  document.title = `${name} – Account – Landline`;
  if (isOperator) history.replaceState(null, "", query("/account", { account: name }));
  try {
    account = await api(path(""));
    if (wanted === name) build();
  } catch (error) {
    fill(page, problemBox(error));
  }
}

function build() {
  const [balance, outflow, course, entries] = [balanceCard(), spendCard(), courseCard(), historyCard()];
  let [posted, held] = [account.posted_micro, account.held_micro];
  const shown = name;
  async function refresh() {
    try {
      const found = await api(path(""));
      if (shown !== name) return;
      account = found;
    } catch (error) {
      // That the gateway is gone is told above the page.
      if (error.status !== 0) balance.problem.fail(error);
      return;
    }
    balance.show();
    if (account.posted_micro !== posted || account.held_micro !== held) course.load();
    held = account.held_micro;
    if (account.posted_micro === posted) return;
    posted = account.posted_micro;
    outflow.load().then(balance.show);
    entries.changed();
  }
  fill(page, div("columns", balance.node, outflow.node), course.node, isOperator && topUpCard(refresh), entries.node);
  balance.show();
  course.load();
  outflow.load().then(balance.show);
  entries.reload();
  stop = repeat(2, refresh);
  [again, redraw] = [refresh, () => {
    balance.draw();
    outflow.draw();
    course.draw();
    entries.draw();
  }];
}

function balanceCard() {
  const box = div("");
  const hint = div({ role: "status" });
  const problem = errorBox();
  let [shown, told] = [null, null];
  return {
    node: card("Balance", box, hint, problem),
    problem,
    draw() {
      shown = null;
      this.show();
    },
    show() {
      problem.clear();
      const text = JSON.stringify(account);
      if (text !== shown) {
        fill(box, facts([
          ["Available", span("big", cash(account.available))], ["Booked", cash(account.posted)],
          ["Reserved", cash(account.held) + (account.open_calls > 0 ? ` for ${count(account.open_calls, "open ")}` : "")],
          ["Credit limit", account.kind === "postpaid" ? cash(account.credit_limit) : null],
          ["Status", [badge(account.status, account.status === "open" ? "good" : "warn"), ` ${account.kind}`]],
          ["Rate plan", account.plan ?? "the default one"], ["Time zone", account.zone], ["Since", moment(account.created_at)],
        ]));
      }
      const low = lowBalance();
      if (low !== told) fill(hint, low && p("notice warn", low));
      [shown, told] = [text, low];
    },
  };
}

// A sentence when credit runs out soon; null otherwise.
function lowBalance() {
  if (account.status !== "open") return null;
  if (account.available_micro <= 0) return "No credit is left: calls that cost something are refused.";
  const daily = (spend?.days ?? []).reduce((sum, day) => sum + Math.max(0, day.spent_micro), 0) / (spend?.days.length || 1);
  const left = account.available_micro / daily;
  if (!(left < enoughDays)) return null;
  const days = left < 1 ? "less than a day" : left < 2 ? "about one more day" : `about ${Math.floor(left)} more days`;
  return `Low balance: at the pace of the last ${spend.days.length} days it lasts for ${days}.`;
}

function spendCard() {
  const bars = dayBars("Spent per day");
  const sum = p("");
  const problem = errorBox();
  const table = grid("Spent per day", "Day", "#Spent", "#Calls");
  function draw() {
    if (!spend) return;
    const { days } = spend;
    const total = (key) => days.reduce((all, day) => all + day[key], 0);
    const most = days.reduce((one, other) => (other.spent_micro > (one?.spent_micro ?? 0) ? other : one), null);
    sum.textContent = `${cash(total("spent_micro"))}${also(days[0]?.calls === null ? null : total("calls"), " with ")}${most ? `, most on ${most.date}: ${cash(most.spent)}` : ""}`;
    bars.show(days.map((day) => [day.spent_micro, `${day.date}: ${cash(day.spent)}${also(day.calls, ", ")}`]), sum.textContent);
    fill(table.body, days.toReversed().map((day) => table.row(day.date, cash(day.spent), String(day.calls ?? "–"))));
  }
  return {
    draw,
    node: card("Spent in 30 days", bars.node, sum, problem, folded("Day by day", table.node)),
    async load() {
      const asked = name;
      try {
        const found = await api(path("/spend?days=30"));
        if (asked !== name) return;
        spend = found;
      } catch (error) {
        problem.fail(error);
        return;
      }
      problem.clear();
      draw();
    },
  };
}

// What was there over time, and how much of it was held for calls.
function courseCard() {
  const problem = errorBox();
  const period = select({ id: "course-period", onchange: () => load() }, options(periods));
  period.value = "168";
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
  const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
  const plot = new Plot(
    [{ key: "money", title: "Amount", unit: account.currency, top: 0.01, format: (value) => cash(Math.round(value * 1e6)) }], {
      isSteps: true,
      words: (at, isShort) => (isShort ? (plot.end - plot.start > 172_800 ? day : time).format(at * 1000) : when(new Date(at * 1000).toISOString())),
      spread: (end, count, start) => Array.from({ length: count }, (_, index) => start + ((end - start) * index) / (count - 1)),
    });
  async function load() {
    const asked = name;
    const from = new Date(Date.now() - Number(period.value) * 3_600_000).toISOString();
    let found;
    try {
      found = await api(query(path("/balances"), { from }));
    } catch (error) {
      return error.status !== 0 && problem.fail(error);
    }
    if (asked !== name) return;
    problem.clear();
    const { points } = found;
    const line = (title, figure) => ({ name: title, points: points.map((point) => [Date.parse(point.at) / 1000, figure(point) / 1e6]) });
    plot.start = Date.parse(found.from) / 1000;
    const lowest = Math.min(0, ...points.map((point) => point.posted_micro - point.held_micro)) / 1e6;
    plot.figures[0].bottom = lowest;
    plot.show({ money: [
      line("booked", (point) => point.posted_micro), line("available", (point) => point.posted_micro - point.held_micro),
      line("held for calls", (point) => point.held_micro),
    ] }, Math.max(plot.start + 1, Date.parse(found.to) / 1000));
  }
  return { load, draw: () => plot.all && plot.choose(plot.figure), node: card("Balance over time", field("Period", period), problem, plot.node) };
}

// randomUUID is missing where the page came without TLS.
const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

function topUpCard(changed) {
  // One key for one form: whatever is lost on the way, the money is booked once.
  let [key, isUncertain] = [newKey(), false];
  const amount = input("topup-amount", { inputmode: "decimal", required: true, pattern: "[0-9]+([.][0-9]{1,6})?", title: "such as 12.50" });
  const method = select({ id: "topup-method" }, options(methods));
  const note = input("topup-note", { maxlength: "200" });
  const submit = button({ type: "submit", class: "primary" }, "Top up…");
  const answer = errorBox();
  const fields = [amount, method, note];
  async function book() {
    answer.clear();
    const text = cash(amount.value.trim());
    if (!isUncertain && !await confirmed("Top up?", `${text} (${methods[method.value]}) will be booked to ${name}.`, `Book ${text}`)) return;
    const body = { amount: amount.value.trim(), method: method.value, note: note.value.trim() };
    for (const control of [...fields, submit]) control.disabled = true;
    try {
      const moved = await api(path("/topups"), { method: "POST", headers: { "Idempotency-Key": key }, body });
      isUncertain = false;
      fill(answer, p("notice good", `Booked ${cash(moved.amount)}; the balance is ${cash(moved.balance)} now.`));
      for (const control of [amount, note]) control.value = "";
    } catch (error) {
      isUncertain = !(error.status >= 400 && error.status < 500) || error.retryable;
      answer.fail(error,
        isUncertain && p("", "Whether it was booked is not known. “Try again” repeats the same booking: it counts once."));
    }
    if (!isUncertain) key = newKey();
    submit.textContent = isUncertain ? "Try again" : "Top up…";
    for (const control of fields) control.disabled = isUncertain;
    submit.disabled = false;
    changed();
  }
  return details("card", summary("", "Top up this account"), div("stack",
    asks(book, { class: "filters" }, field("Amount", amount), field("Paid by", method), field("Note", note), submit), answer));
}

function historyCard() {
  const kind = select({ id: "history-kind" }, option("", "All"), options(kinds));
  const [from, to] = [timeInput("history-from"), timeInput("history-to")];
  const table = grid("Entries of the account, newest first", "Time", "What", "#Amount", "#Balance", "-Postings");
  const list = new PagedList({
    read: (cursor) => api(query(path("/history"), { limit: 25, cursor, from: instant(from), to: instant(to) })),
    key: "entries", table, row: (entry) => lineRow(entry, table), matches: (entry) => ["", entry.kind].includes(kind.value),
  });
  const links = ["csv", "json", "hledger"].map((format) => a({ class: "button slim", download: true }, format));
  function reload() {
    for (const link of links) link.href = query(path("/export"), { format: link.textContent, from: instant(from), to: instant(to) });
    list.reload();
  }
  return {
    reload,
    draw: () => list.draw(true),
    changed: () => list.changed(),
    node: card("History", div("row", span("small muted", "Download"), links),
      div({ class: "filters", onchange: reload }, field("Kind", kind), field("From", from), field("Before", to)),
      list.node),
  };
}

const linkTo = (call, text) => a({ href: callPath(call) }, text);

function lineRow(entry, table) {
  const id = `entry-${entry.seq}`;
  const what = `${kinds[entry.kind] ?? entry.kind}${entry.destination ? ` to ${entry.destination}` : ""}`;
  const more = [isKnown(entry.duration_ms) && spoken(entry.duration_ms / 1000), entry.detail].filter(Boolean).join(" · ");
  const word = span("", "Open");
  const opener = button({
    type: "button", class: "quiet slim", "aria-expanded": "false", "aria-controls": id,
    onclick() {
      const isOpen = opener.getAttribute("aria-expanded") === "true";
      opener.setAttribute("aria-expanded", String(!isOpen));
      word.textContent = isOpen ? "Open" : "Close";
      if (isOpen) row.nextElementSibling.remove();
      else row.after(table.below(id, div("stack tight", postings(entry.seq, entry.postings ?? [], account.currency), background(entry))));
    },
  }, word, span("visually-hidden", ` the postings of ${what}, ${cash(entry.amount)}`));
  const row = table.row(moment(entry.time),
    div("", entry.call ? linkTo(entry.call, what) : what, more && div("small muted break", more)),
    span(entry.amount_micro < 0 ? "bad" : "good", entry.amount_micro > 0 && "+", cash(entry.amount)), cash(entry.balance), opener);
  return row;
}

const background = (entry) => facts([
  ["Transfer", String(entry.seq)], ["Booked by", entry.actor], ["Key", entry.key], ["Note", entry.detail],
  ["Billed", isKnown(entry.billed_seconds) ? `${entry.billed_seconds} s` : null],
  ["Rate", entry.rate ? `${price(entry.rate, account.currency)} a minute` : null], ["Reason", entry.reason],
  ["Reverses", entry.reverses ? `transfer ${entry.reverses}` : null], ["Call", entry.call && linkTo(entry.call, entry.call)],
], "small");

async function chooser() {
  const found = [];
  let next = null;
  do {
    const part = await api(query("/v1/accounts", { limit: 500, cursor: next }));
    found.push(...part.accounts);
    next = part.next;
  } while (next && found.length < 5000);
  const wanted = new URLSearchParams(location.search).get("account") ?? found[0]?.account;
  if (!wanted) {
    fill(page, p("empty", "There is no account yet. Make one: ", code("", "landline account create NAME EUR")));
    return;
  }
  if (!found.some((one) => one.account === wanted)) found.unshift({ account: wanted, currency: "?" });
  const names = select({ id: "account-name", onchange: () => choose(names.value) },
    found.map((one) => option(one.account, `${one.account} (${one.currency})`)));
  names.value = wanted;
  fill(chooserBox, field("Account", names));
  await choose(wanted);
}

try {
  if (isOperator) await chooser();
  else if (me.account) await choose(me.account);
  else fill(page, p("empty", "No account belongs to this sign-in."));
} catch (error) {
  fill(page, problemBox(error));
}
