// The ladder of a call: both legs on one axis of time, from top to bottom. A drawing for the eye that the keyboard walks
// through, and the same as a table.
import { copyButton, element, graphic as svg } from "/pages/shell.js";
import { offset, onWidth, shortened, span } from "/pages/drawing.js";

/** Height of a row; a press needs 24 at least. */
const step = 28;
const clockWidth = 66;
/** Of the space between two lanes; with less the drawing is scrolled. */
const narrowest = 92;
/** Quiet from which on the drawing says how long it was, in milliseconds. */
const notable = 500;

/** Where rows stand. Time runs downwards everywhere, but not evenly: a second of ringing is no forty rows. */
export function layout(rows) {
  let [y, before] = [6, 0];
  return rows.map((row) => {
    const gap = Math.max(0, row.microseconds - before) / 1000;
    const stretch = gap < 20 ? 0 : Math.min(44, Math.round(9 * Math.log2(gap / 20)));
    const top = y + stretch;
    before = Math.max(before, row.microseconds);
    y = top + step;
    return { y: top + step - 9, top, gap, stretch };
  });
}

/** The height of any moment between the rows. */
export function heightOf(rows, places, bottom, microseconds) {
  let [time, y] = [0, 6];
  for (let index = 0; index < rows.length; index += 1) {
    const next = Math.max(time, rows[index].microseconds);
    if (microseconds <= next) {
      return next === time ? places[index].y : y + ((places[index].y - y) * (microseconds - time)) / (next - time);
    }
    [time, y] = [next, places[index].y];
  }
  return bottom;
}

/** When sound flowed: stretches of seconds in which packets were counted, of each side and direction. */
export function soundStretches(seconds) {
  const stretches = [];
  for (const side of ["near", "far"]) {
    const own = seconds.filter((second) => second.side === side);
    for (const way of ["received", "sent"]) {
      let [packets, at, open] = [0, 0, null];
      for (const second of own) {
        const count = second[way].packets;
        if (count > packets) {
          // A count is of the second before its time, or of more of them in a long call.
          const from = Math.max(at, at === 0 ? second.at - 1_000_000 : at, 0);
          if (open && from - open.to <= 1) open.to = second.at;
          else stretches.push((open = { side, way, from, to: second.at, packets: 0 }));
          open.packets += count - packets;
        } else {
          open = null;
        }
        [packets, at] = [count, second.at];
      }
    }
  }
  return stretches;
}

/** Which lanes the legs are of: the gateway stands between the nearest and the one that was reached last. */
export function legs(story) {
  const lanes = story.lanes;
  const gateway = Math.max(lanes.findIndex((lane) => lane.id === "gateway"), lanes.length > 1 ? 1 : 0);
  const tried = story.attempts.at(-1)?.trunk;
  const far = lanes.findIndex((lane, index) => index > gateway && (lane.id === tried || lane.title === tried));
  return { near: 0, gateway, far: far < 0 ? lanes.length - 1 : far };
}

function words(row, titles) {
  const marks = [row.is_repeated ? "sent again" : "", row.is_failure ? "failure" : ""].filter(Boolean);
  const way = row.from === row.to ? titles.get(row.from) : `${titles.get(row.from)} to ${titles.get(row.to)}`;
  return { way, marks: marks.join(", ") };
}

/** One message in full, with a way to the next and the one before. */
class MessageDialog {
  constructor() {
    this.title = element("h2", { id: "message-title" });
    this.about = element("p", { class: "muted" });
    this.text = element("pre", { tabindex: "0", "aria-label": "Message", class: "code message" });
    this.earlier = element("button", { type: "button" }, "Earlier");
    this.later = element("button", { type: "button" }, "Later");
    const copy = copyButton(() => this.text.textContent);
    const close = element("button", { type: "button" }, "Close");
    this.node = element(
      "dialog", { "aria-labelledby": "message-title", class: "message-dialog" },
      this.title, this.about, this.text, element("p", { class: "row" }, this.earlier, this.later, copy, close),
    );
    this.earlier.addEventListener("click", () => this.move(-1));
    this.later.addEventListener("click", () => this.move(1));
    close.addEventListener("click", () => this.node.close());
  }

  open(rows, index, titles) {
    [this.rows, this.titles] = [rows, titles];
    this.show(index);
    if (!this.node.open) this.node.showModal();
  }

  move(by) {
    for (let index = this.index + by; index >= 0 && index < this.rows.length; index += by) {
      if (this.rows[index].detail) return this.show(index);
    }
  }

  show(index) {
    this.index = index;
    const row = this.rows[index];
    const { way, marks } = words(row, this.titles);
    this.title.textContent = row.label;
    this.about.textContent = [`${offset(row.microseconds / 1000)} after the start`, way, marks].filter(Boolean).join(" · ");
    this.text.textContent = row.detail || "Nothing more is known of this row.";
    this.earlier.disabled = !this.rows.slice(0, index).some((other) => other.detail);
    this.later.disabled = !this.rows.slice(index + 1).some((other) => other.detail);
  }
}

export class Ladder {
  constructor() {
    this.head = element("div", { class: "ladder-head" });
    this.body = element("div", {});
    this.frame = element(
      "div", { class: "ladder-frame", role: "region", "aria-label": "Ladder of the call", tabindex: "0" },
      this.head, this.body,
    );
    this.dialog = new MessageDialog();
    this.tableBody = element("tbody");
    this.tableBox = element(
      "details", {}, element("summary", {}, "The ladder as a table"),
      element(
        "div", { class: "table tall", role: "region", "aria-label": "The ladder as a table", tabindex: "0" },
        element(
          "table", {},
          element("thead", {}, element("tr", {}, ...["Time", "From", "To", "What", "Remarks"].map((text) =>
            element("th", { scope: "col" }, text)))),
          this.tableBody,
        ),
      ),
    );
    this.sound = element("p", { class: "muted" });
    this.node = element(
      "div", { class: "ladder" },
      element("p", { class: "muted" },
        "Time runs downwards from the start of the call. ↻ and a dashed line: sent again. ✕ and a thick line: a failure. ",
        "A bar beside a lane: sound that it sent. Arrow keys move between rows, Enter shows the whole message."),
      this.frame, this.sound, this.tableBox, this.dialog.node,
    );
    this.current = 0;
    this.body.addEventListener("click", (event) => this.openAt(event.target));
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("focusin", (event) => {
      const row = event.target.closest("[data-index]");
      if (row) this.current = Number(row.dataset.index);
    });
    this.tableBox.addEventListener("toggle", () => this.table());
    onWidth(this.frame, (width) => {
      this.width = width;
      this.draw();
    });
  }

  show(story) {
    this.story = story;
    this.titles = new Map(story.lanes.map((lane) => [lane.id, lane.title]));
    const columns = new Map(story.lanes.map((lane, index) => [lane.id, index]));
    this.rows = story.ladder.filter((row) => columns.has(row.from) && columns.has(row.to));
    this.columns = columns;
    this.stretches = soundStretches(story.quality);
    this.draw();
    this.table();
  }

  openAt(target) {
    const index = Number(target.closest("[data-index]")?.dataset.index ?? -1);
    if (index >= 0) this.dialog.open(this.rows, index, this.titles);
  }

  key(event) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return this.openAt(event.target);
    }
    const last = this.rows.length - 1;
    const next = { ArrowDown: this.current + 1, ArrowUp: this.current - 1, Home: 0, End: last,
      PageDown: this.current + 10, PageUp: this.current - 10 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.focus(Math.min(last, Math.max(0, next)));
  }

  focus(index) {
    const rows = this.body.querySelectorAll("[data-index]");
    rows[this.current]?.setAttribute("tabindex", "-1");
    this.current = index;
    rows[index]?.setAttribute("tabindex", "0");
    rows[index]?.focus();
  }

  // MARK: Drawing

  draw() {
    if (!this.story || !this.width) return;
    const { lanes } = this.story;
    const gaps = Math.max(1, lanes.length - 1);
    const edge = Math.min(56, Math.max(40, this.width * 0.09));
    const gap = Math.max(narrowest, (this.width - clockWidth - 2 * edge) / gaps);
    const width = Math.round(clockWidth + 2 * edge + gap * gaps);
    const x = (column) => Math.round(clockWidth + edge + column * gap) + 0.5;
    const places = layout(this.rows);
    const bottom = (places.at(-1)?.y ?? 20) + 26;
    const hadFocus = this.body.contains(document.activeElement);
    this.current = Math.min(this.current, Math.max(0, this.rows.length - 1));
    this.head.replaceChildren(this.headDrawing(width, gap, x));
    const children = lanes.map((lane, column) =>
      svg("line", { class: "lane", x1: x(column), y1: 0, x2: x(column), y2: bottom }));
    children.push(this.soundDrawing(places, bottom, x));
    this.rows.forEach((row, index) => children.push(this.rowDrawing(row, index, places[index], x, width)));
    this.body.replaceChildren(
      svg("svg", { width, height: bottom, role: "group", "aria-label": `${this.rows.length} rows in order of time` },
        ...children));
    if (hadFocus) this.body.querySelector(`[data-index="${this.current}"]`)?.focus({ preventScroll: true });
  }

  headDrawing(width, gap, x) {
    const room = gap - 6;
    return svg("svg", { width, height: 42, "aria-hidden": "true" },
      svg("text", { class: "clock", x: 4, y: 16 }, "after start"),
      this.story.lanes.map((lane, column) => svg("g", {},
        svg("title", {}, `${lane.title} ${lane.detail}`),
        svg("text", { class: "lane-title", x: x(column), y: 16, "text-anchor": "middle" },
          shortened(lane.title, room, 7.6)),
        svg("text", { class: "lane-detail", x: x(column), y: 33, "text-anchor": "middle" },
          shortened(lane.detail, room, 6)))));
  }

  soundDrawing(places, bottom, x) {
    const { near, gateway, far } = legs(this.story);
    const bars = svg("g", { "aria-hidden": "true" });
    this.sound.textContent = "";
    const told = [];
    if (this.story.lanes.length < 2) return bars;
    for (const { side, way, from, to, packets } of this.stretches) {
      const other = side === "near" ? near : far;
      if (other === gateway) continue;
      const source = way === "received" ? other : gateway;
      const inward = (source === gateway) === (side === "near") ? -11 : 4;
      const [y1, y2] = [from, to].map((time) => heightOf(this.rows, places, bottom - 4, time));
      const text = `${this.story.lanes[source].title} to ${this.story.lanes[way === "received" ? gateway : other].title}`
        + `: ${packets} packets from ${offset(from / 1000)} to ${offset(to / 1000)}`;
      told.push(text);
      bars.append(svg("rect", { class: `sound ${way}`, x: x(source) + inward, y: y1, width: 7, height: Math.max(3, y2 - y1), rx: 2 },
        svg("title", {}, `Sound, ${text}`)));
    }
    // Interruptions of bad lines would fill the page.
    this.sound.textContent = told.length === 0 ? "No sound was counted." : `Sound: ${told.slice(0, 12).join("; ")}`
      + (told.length > 12 ? `; and ${told.length - 12} more stretches.` : ".");
    return bars;
  }

  rowDrawing(row, index, place, x, width) {
    const { way, marks } = words(row, this.titles);
    const [from, to] = [this.columns.get(row.from), this.columns.get(row.to)];
    const time = offset(row.microseconds / 1000);
    const parts = [
      svg("rect", { class: "hit", x: 1, y: place.y - 18.5, width: width - 2, height: step - 1, rx: 4 }),
      svg("text", { class: "clock", x: 4, y: place.y - 1 }, time),
    ];
    if (place.gap >= notable && place.stretch >= 14) {
      parts.push(svg("text", { class: "clock pause", x: 4, y: place.top - place.stretch / 2 + 6, "aria-hidden": "true" },
        `⋮ ${span(place.gap)}`));
    }
    const label = `${row.is_failure ? "✕ " : ""}${row.is_repeated ? "↻ " : ""}${row.label}`;
    parts.push(...(from === to ? this.note(row, label, from, place.y, x, width) : this.arrow(label, from, to, place.y, x)));
    const classes = ["step", row.kind, row.is_repeated ? "repeated" : "", row.is_failure ? "failure" : ""];
    return svg("g", {
      class: classes.filter(Boolean).join(" "), role: "button", tabindex: index === this.current ? "0" : "-1",
      "data-index": index, "aria-label": [time, way, row.label, marks].filter(Boolean).join(", "),
    }, svg("title", {}, row.label), ...parts);
  }

  arrow(label, from, to, y, x) {
    const direction = to > from ? 1 : -1;
    const [start, end] = [x(from) + direction * 2, x(to) - direction * 2];
    const room = Math.abs(end - start) - 16;
    return [
      svg("line", { class: "shaft", x1: start, y1: y + 2.5, x2: end - direction * 6, y2: y + 2.5 }),
      svg("polygon", { class: "head", points: `${end},${y + 2.5} ${end - direction * 9},${y - 2} ${end - direction * 9},${y + 7}` }),
      svg("text", { class: "label", x: (start + end) / 2, y: y - 3, "text-anchor": "middle" }, shortened(label, room)),
    ];
  }

  note(row, label, column, y, x, width) {
    const isLast = column === this.story.lanes.length - 1 && column > 0;
    const room = (isLast ? x(column) - clockWidth : width - x(column)) - 20;
    const side = isLast ? -1 : 1;
    return [
      svg("polygon", { class: "mark", points: `${x(column)},${y - 8} ${x(column) + 5},${y - 3} ${x(column)},${y + 2} ${x(column) - 5},${y - 3}` }),
      svg("text", { class: "label", x: x(column) + side * 14, y: y + 1, "text-anchor": isLast ? "end" : "start" },
        shortened(label, room)),
    ];
  }

  /** Written only while somebody looks: a ladder may have hundreds of rows and a live one changes each second. */
  table() {
    if (!this.tableBox.open || !this.rows) return;
    const written = this.tableBody.rows.length;
    if (written === this.rows.length && this.written === this.rows.at(-1)?.label) return;
    this.written = this.rows.at(-1)?.label;
    this.tableBody.replaceChildren(...this.rows.map((row, index) => {
      let what = row.label;
      if (row.detail) {
        what = element("button", { type: "button", class: "quiet slim" }, row.label);
        what.addEventListener("click", () => this.dialog.open(this.rows, index, this.titles));
      }
      return element("tr", {},
        element("td", { class: "num" }, offset(row.microseconds / 1000)),
        element("td", {}, this.titles.get(row.from)),
        element("td", {}, row.from === row.to ? "" : this.titles.get(row.to)),
        element("td", {}, what),
        element("td", {}, words(row, this.titles).marks));
    }));
  }
}
