// What /account, /calls, /conferences, /numbers and /trunks share: tables, fields, lists by page, words.
import { api, confirmed, element, fill, money, problemBox } from "/pages/shell.js";

// Makers of elements: `p("small muted", …)`, `button({ type: "submit" }, …)`: a class or attributes, then children.
export const tags = new Proxy({}, {
  get: (_, tag) => (first, ...rest) => element(tag, typeof first === "string" ? { class: first || null } : first, rest),
});
const { button, dd, div, dt, form, h2, p, span } = tags;

export const isKnown = (value) => value !== null && value !== undefined;
export const main = document.querySelector("main");
export const callPath = (id) => `/calls/${encodeURIComponent(id)}`;
export const badge = (text, tone = "") => span(`badge ${tone}`, text);
export const action = (onclick, name, ...children) => button({ type: "button", class: name || null, onclick }, children);
// A place for errors: `.fail(error)`, `.clear()`
export const errorBox = () => Object.assign(div({ role: "alert" }), {
  clear() { fill(this); },
  fail(error, ...more) { fill(this, problemBox(error), more); },
});
export const asks = (work, attributes, ...children) => form({
  ...attributes,
  onsubmit(event) {
    event.preventDefault();
    work();
  },
}, children);
export const errorLink = (code) => tags.a({ href: `/errors/${encodeURIComponent(code)}` }, code);
export const option = (value, text) => tags.option({ value }, text);
export const options = (words) => Object.entries(words).map(([value, text]) => option(value, text));

export const states = {
  initiating: "starting", progressing: "reaching", ringing: "ringing", answered: "answered", established: "talking", ended: "ended",
};
export const causes = {
  timeout: "timed out", denied: "declined", noAnswer: "no answer", error: "failed", hungUp: "hung up", canceled: "cancelled",
  otherDeviceAnswered: "answered elsewhere", transferred: "transferred",
};
// How a call ended, in a word or two: its cause alone calls a busy line declined.
const ends = {
  "sip.busy": "busy", "sip.declined": "declined", "sip.blocked": "blocked", "sip.unallocated": "no such number",
  "sip.unreachable": "not reachable", "sip.noAnswer": "no answer", "sip.cancelled": "cancelled", "sip.trunkAuth": "refused by the trunk",
  "sip.identity": "caller refused", "sip.media": "no common codec", "sip.negotiation": "no agreement", "sip.congestion": "congestion",
  "sip.transport": "trunk not reached", "sip.redirect": "moved", "network.unreachable": "network failed", "network.timeout": "network timed out",
  "network.security": "no secure connection", "network.lost": "connection lost", "capability.remote": "not possible there",
  "capability.local": "not possible here", "gw.userBusy": "busy", "gw.userDeclined": "declined",
  "gw.userNoAnswer": "no answer", "gw.userUnreachable": "not reachable", "gw.userUnknown": "no such user", "gw.tooLate": "too late",
  "gw.numberUnknown": "number not ours", "gw.numberUnserved": "number leads nowhere", "gw.callerRefused": "caller turned away",
  "gw.roomFull": "conference full", "gw.roomLocked": "conference locked", "gw.kicked": "taken out of the conference",
  "gw.forwardLoop": "forwarded in a loop", "gw.transfer": "no transfer now",
  "gw.recording": "no recording now", "gw.saying": "nothing said now",
  "gw.crossed": "calls crossed", "gw.funds": "no credit", "gw.rate": "no price", "gw.policy": "not allowed",
  "gw.limit": "limit reached", "gw.noRoute": "no trunk", "gw.billing": "no ledger", "gw.number": "no valid number",
  "gw.address": "no valid address", "gw.header": "bad header", "gw.mediaLost": "sound lost", "gw.registration": "not registered",
};
export const ending = (cause, failure) => ends[failure?.code] ?? causes[cause] ?? cause;

let cards = 0;
export function card(title, ...children) {
  const id = `card-${++cards}`;
  return tags.section({ class: "card stack", "aria-labelledby": id }, h2({ id }, title), children);
}

// Pairs of a term and what is known of it; those without a value are left out.
export const facts = (rows, more = "") => tags.dl(`facts ${more}`,
  rows.filter(([, value]) => isKnown(value) && value !== "").map(([term, value]) => [dt("", term), dd("", value)]));

// A table whose rows become cards on a narrow screen; some browsers forget roles then. Titles: `#` before one of figures,
// `-` before a hidden one.
export function grid(caption, ...titles) {
  const columns = titles.map((title) => ({ title: title.replace(/^[#-]/, ""), num: title[0] === "#" ? "num" : null, isHidden: title[0] === "-" }));
  const body = element("tbody", null);
  const node = div("table", element("table", { class: "cards", role: "table" },
    tags.caption("visually-hidden", caption),
    element("thead", null, element("tr", { role: "row" }, columns.map(({ title, num, isHidden }) =>
      element("th", { scope: "col", role: "columnheader", class: num }, isHidden ? span("visually-hidden", title) : title)))),
    body));
  const row = (...cells) => element("tr", { role: "row" }, cells.map((cell, index) => {
    const { title, num, isHidden } = columns[index];
    return element("td", { role: "cell", class: num, dataset: isHidden ? {} : { label: title } }, Array.isArray(cell) ? span("", cell) : cell);
  }));
  const below = (id, ...children) => element("tr", { role: "row", class: "detail", id },
    element("td", { role: "cell", colspan: columns.length }, children));
  return { node, body, row, below };
}

// A table that scrolls by itself, folded until somebody wants figures.
export const folded = (title, ...children) => tags.details("", tags.summary("", title),
  div({ class: "tall", role: "region", "aria-label": title, tabindex: "0" }, children));

// Both entries of a transfer: [{ account, amount_micro, balance_micro }]
export function postings(number, entries, currency) {
  const table = grid(`Postings of transfer ${number}`, "Account", "#Amount", "#Balance after");
  fill(table.body, entries.map((entry) => table.row(span("mono break", entry.account),
    [entry.amount_micro > 0 && "+", money(entry.amount_micro, currency)], money(entry.balance_micro, currency))));
  return table.node;
}

// Digits of numbers hidden as in the gateway's logs: of a long one the first four and the last two stay.
export function masked(text) {
  return text.replace(/\d[\d ().-]{5,}\d/g, (run) => {
    const count = run.replace(/\D/g, "").length;
    const [head, tail] = count < 10 ? [2, 0] : [4, 2];
    let index = 0;
    return count < 7 ? run : run.replace(/\d/g, (digit) => (++index <= head || index > count - tail ? digit : "•"));
  });
}

// A field with its label; the control needs an id.
export const field = (label, control) => div("field", element("label", { for: control.id }, label), control);

export const input = (id, attributes) => element("input", { id, autocomplete: "off", spellcheck: "false", ...attributes });
export const timeInput = (id) => input(id, { type: "datetime-local" });
// What it says, as RFC 3339.
export const instant = ({ value }) => (value ? new Date(value).toISOString() : null);

// A path with the parameters that have a value.
export function query(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => isKnown(value) && value !== "");
  return given.length === 0 ? path : `${path}?${`${new URLSearchParams(given)}`.replaceAll("+", "%20")}`;
}

export async function hangUp(id, box) {
  if (!await confirmed("Hang up?", "The call ends for both sides.", "Hang up")) return;
  box.clear();
  try {
    await api(`/v1/live-calls/${encodeURIComponent(id)}`, { method: "DELETE" });
  } catch (error) {
    // Somebody was quicker.
    if (error.status !== 404) box.fail(error);
  }
}

// Something again and again while the page is looked at; → stop().
export function repeat(seconds, work) {
  let isBusy = false;
  const timer = setInterval(async () => {
    if (document.hidden || isBusy) return;
    isBusy = true;
    await work();
    isBusy = false;
  }, seconds * 1000);
  return () => clearInterval(timer);
}

// A list that is read page by page. read(cursor) → a page of the gateway; key: of its items; table, row(item): how they
// are shown; matches(item): a filter that the gateway does not have.
export class PagedList {
  static fewest = 20;
  static mostPages = 10;

  constructor(parts) {
    Object.assign(this, { matches: () => true, generation: 0, ...parts });
    this.newer = action(() => this.reload(), "", "There are newer ones: show them");
    this.older = action(() => this.load(), "", "Show older");
    this.problem = errorBox();
    this.count = p({ class: "small muted", role: "status" });
    this.node = div("stack tight", this.newer, this.table.node, this.problem, div("spread", this.count, this.older));
  }

  reload() {
    this.generation += 1;
    [this.cursor, this.items] = [null, []];
    this.newer.hidden = true;
    return this.load();
  }

  // There is something new: what somebody is reading is not pulled away.
  changed() {
    const { node, body } = this.table;
    if (this.items.length > this.first || node.contains(document.activeElement) || body.querySelector(".detail")) this.newer.hidden = false;
    else this.reload();
  }

  async load() {
    const { generation } = this;
    const found = [];
    let [cursor, scanned] = [this.cursor, 0];
    this.older.disabled = true;
    this.problem.clear();
    try {
      do {
        const page = await this.read(cursor);
        // Meanwhile the filters may have been changed.
        if (generation !== this.generation) return;
        found.push(...page[this.key].filter(this.matches));
        cursor = page.next;
        scanned += 1;
      } while (cursor && found.length < PagedList.fewest && scanned < PagedList.mostPages);
      if (this.items.length === 0) this.first = found.length;
      this.cursor = cursor;
      this.items.push(...found);
      this.draw();
      this.older.hidden = !cursor;
      this.count.textContent = cursor ? `${this.items.length} shown, there are older ones` : this.items.length > 0
        ? `${this.items.length} shown, that is all` : "Nothing was found.";
    } catch (error) {
      if (generation !== this.generation) return;
      this.problem.fail(error);
      this.older.hidden = false;
    }
    this.older.disabled = false;
  }

  // Rows that are there stay: the keyboard may be in one of them.
  draw(isAll = this.items.length <= this.first) {
    if (isAll) fill(this.table.body);
    const shown = this.table.body.querySelectorAll("tr:not(.detail)").length;
    this.table.body.append(...this.items.slice(shown).map(this.row));
  }
}
