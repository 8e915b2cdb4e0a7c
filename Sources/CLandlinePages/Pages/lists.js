// What /account, /calls and /trunks share: tables, masks, dialogs, words.
import { element, fill, problemBox } from "/pages/shell.js";

/**
 * A table whose rows become cards on a narrow screen. The roles stand there because some browsers forget them with the
 * cards' display. columns: [{ title, num, hidden }]
 */
export function grid(caption, columns) {
  const body = element("tbody", { role: "rowgroup" });
  const node = element("div", { class: "table" },
    element("table", { class: "cards", role: "table" },
      element("caption", { class: "visually-hidden" }, caption),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, columns.map((column) =>
        element("th", { scope: "col", role: "columnheader", class: column.num ? "num" : null },
          column.hidden ? element("span", { class: "visually-hidden" }, column.title) : column.title)))),
      body));
  const row = (cells, attributes) => element("tr", { role: "row", ...attributes }, cells.map((cell, index) => {
    const { title, num, hidden } = columns[index];
    return element("td", { role: "cell", class: num ? "num" : null, dataset: hidden ? {} : { label: title } }, cell);
  }));
  /** A row under another that is as wide as the table. */
  const below = (id, ...children) => element("tr", { role: "row", class: "detail", id },
    element("td", { role: "cell", colspan: columns.length }, children));
  return { node, body, row, below };
}

/** Digits of numbers hidden as in the gateway's logs: of a long one the first four and the last two stay. */
export function masked(text) {
  return text.replace(/\d[\d ().-]{5,}\d/g, (run) => {
    const count = run.replace(/\D/g, "").length;
    if (count < 7) return run;
    const [head, tail] = count < 10 ? [2, 0] : [4, 2];
    let index = 0;
    return run.replace(/\d/g, (digit) => {
      index += 1;
      return index <= head || index > count - tail ? digit : "•";
    });
  });
}

const storedMask = "landline.masked";

export function readMask() {
  try {
    return localStorage.getItem(storedMask) === "true";
  } catch {
    return false;
  }
}

export function keepMask(isMasked) {
  try {
    localStorage.setItem(storedMask, String(isMasked));
  } catch {
    // Not kept, but it holds for this page.
  }
}

export function badge(text, tone) {
  return element("span", { class: `badge ${tone ?? ""}` }, text);
}

export const states = {
  initiating: "starting", progressing: "reaching", ringing: "ringing", answered: "answered", established: "talking", ended: "ended",
};
export const causes = {
  timeout: "timed out", denied: "declined", noAnswer: "no answer", error: "failed", hungUp: "hung up", canceled: "cancelled",
  otherDeviceAnswered: "answered elsewhere",
};

/** A field with its label; the control needs an id. */
export function field(label, control, hint) {
  if (hint) control.setAttribute("aria-describedby", `${control.id}-hint`);
  return element("div", { class: "field" }, element("label", { for: control.id }, label), control,
    hint && element("p", { class: "hint", id: `${control.id}-hint` }, hint));
}

export const option = (value, text) => element("option", { value }, text);

/** What a datetime-local field says, as RFC 3339. */
export function instant(input) {
  const time = new Date(input.value || NaN);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** A path with the parameters that have a value. */
export function query(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** A random text for Idempotency-Key; randomUUID is missing where the page came without TLS. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Asks before something that cannot be undone. → Promise of true or false */
export function confirmed(title, text, action) {
  return new Promise((resolve) => {
    const dialog = element("dialog", { "aria-labelledby": "confirm-title" },
      element("h2", { id: "confirm-title" }, title), element("p", {}, text),
      element("p", { class: "row" },
        element("button", { type: "button", class: "primary", onclick: () => dialog.close("yes") }, action),
        element("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.querySelector("main").append(dialog);
    dialog.showModal();
  });
}

/** Something again and again while the page is looked at; → stop(). */
export function repeat(seconds, work) {
  let [stopped, timer] = [false, null];
  const round = async () => {
    if (!document.hidden) await work();
    if (!stopped) timer = setTimeout(round, seconds * 1000);
  };
  timer = setTimeout(round, seconds * 1000);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/**
 * A list that is read page by page. read(cursor) → { items, next }; show(items, isFirst) appends; matches: whether an item
 * is wanted, for filters that the gateway does not have: pages are read until there is something to show.
 */
export class PagedList {
  static fewest = 20;
  static mostPages = 10;

  constructor({ read, show, matches = () => true, empty }) {
    Object.assign(this, { read, show, matches });
    this.button = element("button", { type: "button", onclick: () => this.more() }, "Show older");
    this.problem = element("div", { role: "alert" });
    this.text = element("p", { class: "empty", hidden: true }, empty);
    this.count = element("p", { class: "small muted", role: "status" });
    this.node = element("div", { class: "stack tight" }, this.text, this.problem,
      element("div", { class: "spread" }, this.count, this.button));
    this.generation = 0;
  }

  async reload() {
    this.generation += 1;
    [this.cursor, this.pages, this.shown] = [null, 0, 0];
    await this.load(true);
  }

  more() {
    return this.load(false);
  }

  async load(isFirst) {
    const { generation } = this;
    this.button.disabled = true;
    fill(this.problem);
    const found = [];
    let [cursor, scanned] = [this.cursor, 0];
    try {
      do {
        const page = await this.read(cursor);
        if (generation !== this.generation) return;
        found.push(...page.items.filter(this.matches));
        cursor = page.next ?? null;
        scanned += 1;
      } while (cursor !== null && found.length < PagedList.fewest && scanned < PagedList.mostPages);
    } catch (error) {
      if (generation !== this.generation) return;
      fill(this.problem, problemBox(error));
      this.button.disabled = false;
      this.button.textContent = "Try again";
      this.button.hidden = false;
      return;
    }
    this.cursor = cursor;
    this.pages += 1;
    this.shown += found.length;
    this.show(found, isFirst);
    this.button.textContent = "Show older";
    this.button.disabled = false;
    this.button.hidden = cursor === null;
    this.text.hidden = this.shown > 0 || cursor !== null;
    this.count.textContent = this.shown > 0 || cursor !== null
      ? `${this.shown} shown${cursor === null ? ", that is all" : ", there are older ones"}` : "";
  }
}
