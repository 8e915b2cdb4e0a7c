// /account: what is there, what is reserved, where it went.
import { api, element, fill, moment, money, problemBox, spoken, start } from "/pages/shell.js";
import { badge, confirmed, field, grid, instant, newKey, option, PagedList, query, repeat } from "/pages/lists.js";
import { DayBars } from "/pages/plots.js";

/** Days of spend that the low balance hint thinks of. */
const enoughDays = 3;
const kinds = {
  opening: "Opening", topup: "Top-up", call: "Call", termination: "Cost of a call", refund: "Refund", adjust: "Correction",
  transfer: "Transfer", overrun: "Overrun", chargeback: "Chargeback",
};
const methods = { bank: "Bank transfer", card: "Card", cash: "Cash", other: "Other" };

const me = await start("account");
const main = document.querySelector("main");
const isOperator = me.role === "operator";
let name = null;
let account = null;
let spend = null;
let stop = () => {};

const path = (rest = "") => `/v1/accounts/${encodeURIComponent(name)}${rest}`;
const heading = element("h1", {}, "Account");
const chooserBox = element("div", { class: "row end" });
const page = element("div", { class: "stack" });
fill(main, element("div", { class: "stack" }, element("div", { class: "spread" }, heading, chooserBox), page));

async function choose(wanted) {
  stop();
  [name, account, spend] = [wanted, null, null];
  heading.textContent = `Account ${name}`;
  document.title = `${name} – Account – Landline`;
  if (isOperator) history.replaceState(null, "", query("/account", { account: name }));
  try {
    account = await api(path());
  } catch (error) {
    fill(page, problemBox(error));
    return;
  }
  build();
}

// Parts

function build() {
  const balance = balanceCard();
  const outflow = spendCard();
  const entries = historyCard();
  fill(page, element("div", { class: "columns" }, balance.node, outflow.node), isOperator && topUpCard(refresh), entries.node);
  balance.show();
  outflow.load();
  entries.list.reload();
  let posted = account.posted_micro;
  async function refresh() {
    try {
      account = await api(path());
    } catch (error) {
      balance.fail(error);
      return;
    }
    balance.show();
    if (account.posted_micro === posted) return;
    posted = account.posted_micro;
    outflow.load();
    // What somebody is reading is not pulled away.
    if (entries.isUntouched()) entries.list.reload();
    else entries.tell();
  }
  stop = repeat(2, refresh);
}

function balanceCard() {
  const available = element("dd", { class: "big" });
  const posted = element("dd", { class: "num" });
  const held = element("dd", { class: "num" });
  const limit = element("dd", { class: "num" });
  const status = element("dd");
  const hint = element("div", { role: "status" });
  const problem = element("div", { role: "alert" });
  const facts = element("dl", { class: "facts" },
    element("dt", {}, "Available"), available, element("dt", {}, "Balance"), posted, element("dt", {}, "Reserved"), held,
    element("dt", { hidden: account.kind !== "postpaid" }, "Credit limit"), limit, element("dt", {}, "Status"), status,
    element("dt", {}, "Rate plan"), element("dd", {}, account.plan ?? "the default one"),
    element("dt", {}, "Time zone"), element("dd", {}, account.zone),
    element("dt", {}, "Since"), element("dd", {}, moment(account.created_at)));
  limit.hidden = account.kind !== "postpaid";
  let told = null;
  return {
    node: element("section", { class: "card stack", "aria-label": "Balance" }, facts, hint, problem),
    show() {
      fill(problem);
      available.textContent = money(account.available, account.currency);
      posted.textContent = money(account.posted, account.currency);
      held.textContent = account.open_calls > 0 || account.held_micro > 0
        ? `${money(account.held, account.currency)} for ${account.open_calls} open ${account.open_calls === 1 ? "call" : "calls"}`
        : money(account.held, account.currency);
      limit.textContent = money(account.credit_limit, account.currency);
      fill(status, badge(account.status, account.status === "open" ? "good" : "warn"), ` ${account.kind}`);
      const low = lowBalance();
      if (low === told) return;
      told = low;
      fill(hint, low && element("p", { class: "notice warn" }, low));
    },
    fail: (error) => fill(problem, problemBox(error)),
  };
}

/** A sentence when credit runs out soon, measured by what was spent; null otherwise. */
function lowBalance() {
  if (account.status !== "open") return null;
  if (account.available_micro <= 0) return "No credit is left: calls that cost something are refused.";
  if (!spend) return null;
  const days = spend.days.filter((day) => day.spent_micro > 0).length;
  const daily = spend.days.reduce((sum, day) => sum + Math.max(0, day.spent_micro), 0) / Math.max(1, spend.days.length);
  if (days === 0 || account.available_micro >= daily * enoughDays) return null;
  const left = account.available_micro / daily;
  return `Low balance: at the pace of the last ${spend.days.length} days it lasts for ${left < 1 ? "less than a day" : `about ${Math.floor(left)} more ${left < 2 ? "day" : "days"}`}.`;
}

function spendCard() {
  const bars = new DayBars("Spent per day");
  const sum = element("p", {});
  const problem = element("div", { role: "alert" });
  const table = grid("Spent per day", [{ title: "Day" }, { title: "Spent", num: true }, { title: "Calls", num: true }]);
  return {
    node: element("section", { class: "card stack tight", "aria-labelledby": "spend-title" },
      element("h2", { id: "spend-title" }, "Spent in 30 days"), bars.node, sum, problem,
      element("details", {}, element("summary", {}, "Day by day"),
        element("div", { class: "tall", tabindex: "0", role: "region", "aria-label": "Spent per day" }, table.node))),
    async load() {
      const asked = name;
      let found;
      try {
        found = await api(path("/spend?days=30"));
      } catch (error) {
        fill(problem, problemBox(error));
        return;
      }
      if (asked !== name) return;
      fill(problem);
      spend = found;
      const { days, currency } = spend;
      const total = days.reduce((all, day) => all + day.spent_micro, 0);
      const calls = days.reduce((all, day) => all + day.calls, 0);
      const most = days.reduce((one, other) => (other.spent_micro > (one?.spent_micro ?? 0) ? other : one), null);
      sum.textContent = `${money(total, currency)} with ${calls} ${calls === 1 ? "call" : "calls"}`
        + (most ? `, most on ${most.date}: ${money(most.spent, currency)}` : "");
      bars.show(days.map((day) => ({
        date: day.date, figure: day.spent_micro, text: `${money(day.spent, currency)}, ${day.calls} calls`,
      })), sum.textContent);
      fill(table.body, days.toReversed().map((day) => table.row([day.date, money(day.spent, currency), String(day.calls)])));
    },
  };
}

function topUpCard(changed) {
  // One key for one form: whatever is lost on the way, the money is booked once.
  let [key, isUncertain] = [newKey(), false];
  const amount = element("input", { id: "topup-amount", inputmode: "decimal", required: true, autocomplete: "off", pattern: "[0-9]+([.][0-9]{1,6})?" });
  const method = element("select", { id: "topup-method" }, Object.entries(methods).map(([value, text]) => option(value, text)));
  const note = element("input", { id: "topup-note", maxlength: "200", autocomplete: "off" });
  const button = element("button", { type: "submit", class: "primary" }, "Top up…");
  const answer = element("div", { role: "alert" });
  const done = element("div", { role: "status" });
  const inputs = [amount, method, note];
  const form = element("form", {
    class: "filters",
    onsubmit: async (event) => {
      event.preventDefault();
      fill(answer);
      fill(done);
      const text = money(amount.value.trim(), account.currency);
      const isSure = isUncertain || await confirmed("Top up?",
        `${text} by ${methods[method.value].toLowerCase()} will be booked to ${name}. A booking can be undone by another booking only.`, `Book ${text}`);
      if (!isSure) return;
      for (const input of [...inputs, button]) input.disabled = true;
      try {
        const moved = await api(path("/topups"), {
          method: "POST", headers: { "Idempotency-Key": key },
          body: { amount: amount.value.trim(), method: method.value, note: note.value.trim() },
        });
        isUncertain = false;
        fill(done, element("p", { class: "notice good" },
          `Booked ${money(moved.amount, moved.currency)}; the balance is ${money(moved.balance, moved.currency)} now.`));
        form.reset();
      } catch (error) {
        isUncertain = !(error.status >= 400 && error.status < 500) || error.retryable;
        fill(answer, problemBox(error), isUncertain && element("p", {},
          "Whether it was booked is not known. “Try again” repeats the same booking: it counts once."));
      }
      if (!isUncertain) key = newKey();
      button.textContent = isUncertain ? "Try again" : "Top up…";
      for (const input of inputs) input.disabled = isUncertain;
      button.disabled = false;
      changed();
    },
  },
  field("Amount", amount), field("Paid by", method), field("Note", note), element("div", {}, button));
  return element("details", { class: "card" }, element("summary", {}, "Top up this account"),
    element("div", { class: "stack" }, form, answer, done));
}

function historyCard() {
  const { currency } = account;
  const kind = element("select", { id: "history-kind" }, option("", "All"), Object.entries(kinds).map(([value, text]) => option(value, text)));
  const from = element("input", { id: "history-from", type: "datetime-local" });
  const to = element("input", { id: "history-to", type: "datetime-local" });
  const table = grid("Entries of the account, newest first", [
    { title: "Time" }, { title: "What" }, { title: "Amount", num: true }, { title: "Balance", num: true }, { title: "Postings", hidden: true },
  ]);
  const newer = element("button", { type: "button", hidden: true, onclick: () => list.reload() }, "There are newer entries: show them");
  const list = new PagedList({
    read: async (cursor) => {
      const page = await api(query(path("/history"), { limit: 50, cursor, from: instant(from), to: instant(to) }));
      return { items: page.entries, next: page.next };
    },
    show: (entries, isFirst) => {
      if (isFirst) {
        fill(table.body);
        newer.hidden = true;
      }
      table.body.append(...entries.flatMap((entry) => lineRows(entry, table, currency)));
    },
    matches: (entry) => kind.value === "" || entry.kind === kind.value,
    empty: "No entries here.",
  });
  const links = ["csv", "json", "hledger"].map((format) => element("a", { class: "button slim", download: true }, format));
  const relink = () => links.forEach((link) => {
    link.href = query(path("/export"), { format: link.textContent, from: instant(from), to: instant(to) });
  });
  relink();
  return {
    list,
    isUntouched: () => list.pages === 1 && !table.node.contains(document.activeElement) && !table.body.querySelector(".detail"),
    tell: () => { newer.hidden = false; },
    node: element("section", { class: "card stack", "aria-labelledby": "history-title" },
      element("div", { class: "spread" }, element("h2", { id: "history-title" }, "History"),
        element("div", { class: "row" }, element("span", { class: "small muted" }, "Download"), links)),
      element("form", {
        class: "filters",
        onsubmit: (event) => {
          event.preventDefault();
          relink();
          list.reload();
        },
        onchange: () => {
          relink();
          list.reload();
        },
      }, field("Kind", kind), field("From", from), field("Before", to)),
      newer, table.node, list.node),
  };
}

function lineRows(entry, table, currency) {
  const id = `entry-${entry.seq}`;
  const what = [kinds[entry.kind] ?? entry.kind, entry.destination && ` to ${entry.destination}`].filter(Boolean).join("");
  const more = [
    entry.duration_ms !== null && entry.duration_ms !== undefined && spoken(entry.duration_ms / 1000),
    entry.detail || entry.note,
  ].filter(Boolean).join(" · ");
  const sign = element("button", {
    type: "button", class: "quiet slim", "aria-expanded": "false", "aria-controls": id,
    onclick: () => {
      const isOpen = sign.getAttribute("aria-expanded") === "true";
      sign.setAttribute("aria-expanded", String(!isOpen));
      sign.firstChild.textContent = isOpen ? "Open" : "Close";
      if (isOpen) line.nextElementSibling.remove();
      else line.after(table.below(id, postings(entry, currency)));
    },
  }, "Open", element("span", { class: "visually-hidden" }, ` the postings of ${what}, ${money(entry.amount, currency)}`));
  const line = table.row([
    moment(entry.time),
    element("div", {}, element("div", {}, entry.call ? element("a", { href: `/calls/${encodeURIComponent(entry.call)}` }, what) : what),
      more && element("div", { class: "small muted break" }, more)),
    element("span", { class: entry.amount_micro < 0 ? "bad" : "good" }, entry.amount_micro > 0 ? "+" : "", money(entry.amount, currency)),
    money(entry.balance, currency), sign,
  ]);
  return [line];
}

function postings(entry, currency) {
  const table = grid(`Postings of transfer ${entry.seq}`, [{ title: "Account" }, { title: "Amount", num: true }, { title: "Balance after", num: true }]);
  table.body.append(...(entry.postings ?? []).map((posting) => table.row([
    element("span", { class: "mono break" }, posting.account),
    `${posting.amount_micro > 0 ? "+" : ""}${money(posting.amount, currency)}`, money(posting.balance, currency),
  ])));
  const facts = [
    ["Transfer", String(entry.seq)], ["Booked by", entry.actor], ["Key", entry.key], ["Note", entry.detail || entry.note],
    ["Billed", entry.billed_seconds !== null && entry.billed_seconds !== undefined ? `${entry.billed_seconds} s` : null],
    ["Rate", entry.rate ? `${entry.rate} ${currency} a minute` : null], ["Reason", entry.reason],
    ["Reverses", entry.reverses ? `transfer ${entry.reverses}` : null],
    ["Call", entry.call && element("a", { href: `/calls/${encodeURIComponent(entry.call)}` }, entry.call)],
  ].filter(([, value]) => value);
  return element("div", { class: "stack tight" }, table.node,
    element("dl", { class: "facts small" }, facts.map(([title, value]) => [element("dt", {}, title), element("dd", {}, value)])));
}

// Which account

async function chooser() {
  const found = [];
  let next = null;
  do {
    const page = await api(query("/v1/accounts", { limit: 500, cursor: next }));
    found.push(...page.accounts);
    next = page.next;
  } while (next && found.length < 2000);
  const wanted = new URLSearchParams(location.search).get("account");
  const select = element("select", { id: "account-name", onchange: () => choose(select.value) },
    found.map((one) => option(one.account, `${one.account} (${one.currency})`)));
  if (wanted && !found.some((one) => one.account === wanted)) select.prepend(option(wanted, wanted));
  chooserBox.append(field("Account", select));
  if (next) {
    const other = element("input", { id: "account-other", autocomplete: "off" });
    chooserBox.append(element("form", { class: "row end", onsubmit: (event) => {
      event.preventDefault();
      if (other.value.trim()) choose(other.value.trim());
    } }, field("Another one", other), element("button", { type: "submit" }, "Show")));
  }
  if (found.length === 0 && !wanted) {
    fill(page, element("p", { class: "empty" }, "There is no account yet. Make one: ", element("code", {}, "landline account create NAME EUR")));
    return;
  }
  select.value = wanted ?? found[0].account;
  await choose(select.value);
}

try {
  if (isOperator) await chooser();
  else if (me.account) await choose(me.account);
  else fill(page, element("p", { class: "empty" }, "No account belongs to this sign-in."));
} catch (error) {
  fill(page, problemBox(error));
}
