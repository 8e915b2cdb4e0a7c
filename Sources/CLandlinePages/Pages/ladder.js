// The ladder of a call: both legs on one axis of time.
import { copyButton, fill } from "/pages/shell.js";
import { action, folded, grid, tags } from "/pages/lists.js";
import { Drawing, offset, roughly, shapes, shortened } from "/pages/plots.js";

const { dialog, div, h2, li, ol, p, pre, span } = tags;
const { g, line, polygon, rect, svg, text, title } = shapes;
// Height of a row: a press needs 24.
const step = 28;
const clockWidth = 66;
// Of the space between two lanes; with less the drawing is scrolled.
const narrowest = 92;
// Rows from which on the titles of the lanes stand below as well.
const long = 24;
// Of a drawing with words in it; with less the rows are written.
const drawable = 520;
// Milliseconds of quiet from which on the drawing says how long it was.
const notable = 500;
const first = 6;

// Where rows stand. Time runs downwards, but not evenly: a second of ringing is no forty rows.
function layout(rows) {
  let [y, before] = [first, 0];
  return rows.map((row) => {
    const gap = Math.max(0, row.microseconds - before) / 1000;
    const stretch = gap < 20 ? 0 : Math.min(44, Math.round(9 * Math.log2(gap / 20)));
    before = Math.max(before, row.microseconds);
    y += stretch + step;
    return { y: y - 9, gap, stretch };
  });
}

// The height of a moment between the rows.
function heightOf(rows, places, bottom, microseconds) {
  let [time, y] = [0, first];
  for (const [index, row] of rows.entries()) {
    const next = Math.max(time, row.microseconds);
    if (microseconds <= next) return next === time ? places[index].y : y + ((places[index].y - y) * (microseconds - time)) / (next - time);
    [time, y] = [next, places[index].y];
  }
  return bottom;
}

// When sound flowed: the stretches in which packets were counted, of each side and direction.
function stretchesOf(seconds) {
  return ["near", "far"].flatMap((side) => ["received", "sent"].flatMap((way) => {
    const stretches = [];
    let [packets, at, open] = [0, null, null];
    for (const second of seconds.filter((one) => one.side === side)) {
      const count = second[way].packets;
      if (count > packets) {
        // A count is of all since the one before.
        if (!open) stretches.push((open = { side, way, packets: 0, from: at ?? Math.max(0, second.at - 1_000_000) }));
        open.to = second.at;
        open.packets += count - packets;
      } else open = null;
      [packets, at] = [count, second.at];
    }
    return stretches;
  }));
}

// The lanes that sound goes between: whoever calls, the gateway, the last one tried.
export function legs({ lanes }) {
  const gateway = lanes.findIndex((lane) => lane.id === "gateway");
  return { near: Math.max(0, gateway - 1), gateway, far: lanes.length - 1 };
}

export class Ladder {
  constructor() {
    this.head = div("ladder-head");
    this.foot = div("ladder-head");
    this.canvas = new Drawing((node, width) => this.draw(node, width));
    this.canvas.node.className = "";
    this.sound = p("small muted");
    this.table = folded("The ladder as a table");
    this.dialog = dialog({ "aria-labelledby": "message-title" });
    this.node = div("stack tight",
      p("small muted", "↻ and a dashed line: sent again. ✕ and a thick line: a failure. A bar beside a lane: sound that it sent. "
        + "Arrow keys move between rows, Enter shows the whole message."),
      div({ class: "ladder-frame", role: "region", "aria-label": "Ladder of the call", tabindex: "0" }, this.head, this.canvas.node, this.foot),
      this.sound, this.table, this.dialog);
    this.current = 0;
    const body = this.canvas.node;
    body.addEventListener("click", (event) => this.open(event));
    body.addEventListener("keydown", (event) => this.key(event));
    body.addEventListener("focusin", (event) => this.choose(event.target));
    this.table.addEventListener("toggle", () => this.write());
  }

  show(story) {
    this.story = story;
    this.columns = new Map(story.lanes.map((lane, index) => [lane.id, index]));
    this.rows = story.ladder.filter((row) => this.columns.has(row.from) && this.columns.has(row.to));
    this.current = Math.min(this.current, Math.max(0, this.rows.length - 1));
    this.canvas.show();
    this.write();
  }

  titleOf(lane) {
    return this.story.lanes[this.columns.get(lane)].title;
  }

  words(row) {
    const way = row.from === row.to ? this.titleOf(row.from) : `${this.titleOf(row.from)} to ${this.titleOf(row.to)}`;
    return [way, [row.is_repeated && "sent again", row.is_failure && "failure"].filter(Boolean).join(", ")];
  }

  // One message in full.
  tell(row) {
    fill(this.dialog, h2({ id: "message-title" }, row.label),
      p("small muted", [`${offset(row.microseconds / 1000)} after the start`, ...this.words(row)].filter(Boolean).join(" · ")),
      pre({ tabindex: "0", role: "region", "aria-label": "Message", class: "code message" }, row.detail || "There is no more behind this row."),
      div("row", copyButton(() => row.detail), action(() => this.dialog.close(), "slim", "Close")));
    this.dialog.showModal();
  }

  choose(target) {
    const index = target.closest("[data-index]")?.dataset.index;
    if (index === undefined) return false;
    this.canvas.node.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    this.current = Number(index);
    this.drawnRow()?.setAttribute("tabindex", "0");
    return true;
  }

  drawnRow() {
    return this.canvas.node.querySelector(`[data-index="${this.current}"]`);
  }

  focus(index) {
    this.current = Math.min(this.rows.length - 1, Math.max(0, index));
    this.drawnRow()?.focus();
  }

  open(event) {
    if (!this.choose(event.target)) return;
    event.preventDefault();
    this.tell(this.rows[this.current]);
  }

  key(event) {
    if (event.key === "Enter" || event.key === " ") {
      this.open(event);
      return;
    }
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.focus(this.current + by);
  }

  draw(node, room) {
    const { lanes } = this.story;
    const isDrawn = room >= drawable;
    for (const node of [this.head, this.foot]) node.hidden = !isDrawn;
    this.foot.hidden ||= this.rows.length < long;
    if (!isDrawn) return this.writeRows(node);
    const gaps = Math.max(1, lanes.length - 1);
    const edge = Math.min(56, Math.max(40, room * 0.09));
    const gap = Math.max(narrowest, (room - clockWidth - 2 * edge) / gaps);
    const width = Math.floor(clockWidth + 2 * edge + gap * gaps);
    const x = (column) => Math.round(clockWidth + edge + column * gap) + 0.5;
    const places = layout(this.rows);
    const height = (places.at(-1)?.y ?? 20) + 26;
    const hadFocus = node.contains(document.activeElement);
    // The outer lanes have their words inwards: beyond them the drawing ends.
    const letters = (lane, name, y, words, letter) => {
      const [at, anchor, room] = lane === 0 ? [clockWidth + 4, "start", edge + gap / 2 - 8]
        : lane === gaps ? [width - 4, "end", edge + gap / 2 - 8] : [x(lane), "middle", gap - 8];
      return text({ class: name, x: at, y, "text-anchor": anchor }, shortened(words, room, letter));
    };
    for (const node of [this.head, this.foot]) {
      fill(node, svg({ width, height: 42, "aria-hidden": "true" }, text({ class: "tick", x: 4, y: 16 }, "after start"),
        lanes.map((lane, index) => g({}, title({}, `${lane.title} ${lane.detail}`),
          letters(index, "title", 16, lane.title, 8), letters(index, "tick", 33, lane.detail, 6.6)))));
    }
    fill(node, svg({ width, height, role: "group", "aria-label": `${this.rows.length} rows in order of time` },
      lanes.map((_, index) => line({ class: "lane", x1: x(index), x2: x(index), y1: 0, y2: height })),
      this.drawSound(places, height - 4, x),
      this.rows.map((row, index) => this.drawRow(row, index, places[index], x, width))));
    if (hadFocus) this.drawnRow()?.focus({ preventScroll: true });
  }

  // The rows as lines of text, on a narrow screen.
  writeRows(node) {
    const hadFocus = node.contains(document.activeElement);
    let before = 0;
    fill(node, ol("ladder-rows", this.rows.map((row, index) => {
      const gap = (row.microseconds - before) / 1000;
      before = Math.max(before, row.microseconds);
      const [way, remarks] = this.words(row);
      return li("", gap >= notable && div({ class: "quiet", "aria-hidden": "true" }, `⋮ ${roughly(gap)}`), div({
        class: `step ${row.kind} ${row.is_failure ? "failure" : ""}`, role: "button", tabindex: index === this.current ? "0" : "-1",
        dataset: { index },
      }, span("tick", offset(row.microseconds / 1000)),
      span("what", row.is_failure && "✕ ", row.is_repeated && "↻ ", row.label),
      span("way", way.replace(" to ", " → "), remarks && `, ${remarks}`)));
    })));
    this.tellSound();
    if (hadFocus) this.drawnRow()?.focus({ preventScroll: true });
  }

  // What sound flowed, in words. → the stretches with their words
  tellSound() {
    const { near, gateway, far } = legs(this.story);
    const name = (lane) => this.story.lanes[lane]?.title;
    const all = stretchesOf(this.story.quality).filter(({ side }) => side === "near" || far > gateway).map((stretch) => {
      const other = stretch.side === "near" ? near : far;
      const [source, target] = stretch.way === "received" ? [other, gateway] : [gateway, other];
      const { packets, from, to } = stretch;
      return { ...stretch, source, target, words:
        `${name(source)} to ${name(target)}: ${packets} packets from ${offset(from / 1000)} to ${offset(to / 1000)}` };
    });
    // The interruptions of a bad line would fill the page.
    const more = all.length > 12 ? `; and ${all.length - 12} stretches more` : "";
    this.sound.textContent = all.length > 0 ? `Sound: ${all.slice(0, 12).map(({ words }) => words).join("; ")}${more}.` : "No sound was counted.";
    return all;
  }

  drawSound(places, bottom, x) {
    const bars = this.tellSound().map(({ way, from, to, source, target, words }) => {
      const [y, end] = [from, to].map((time) => heightOf(this.rows, places, bottom, time));
      // On the side of its lane that the sound leaves to.
      return rect({ class: `sound ${way}`, x: x(source) + (target > source ? 4 : -11), y, width: 7, height: Math.max(3, end - y), rx: 2 },
        title({}, words));
    });
    return g({ "aria-hidden": "true" }, bars);
  }

  drawRow(row, index, { y, gap, stretch }, x, width) {
    const [from, to] = [this.columns.get(row.from), this.columns.get(row.to)];
    const time = offset(row.microseconds / 1000);
    const label = `${row.is_failure ? "✕ " : ""}${row.is_repeated ? "↻ " : ""}${row.label}`;
    return g({
      class: `step ${row.kind} ${row.is_repeated ? "repeated" : ""} ${row.is_failure ? "failure" : ""}`, role: "button",
      tabindex: index === this.current ? "0" : "-1", "data-index": index,
      "aria-label": [time, ...this.words(row), row.label].filter(Boolean).join(", "),
    }, title({}, row.label), rect({ class: "hit", x: 1, y: y - 18.5, width: width - 2, height: step - 1, rx: 4 }),
    text({ class: "tick", x: 4, y: y - 1 }, time),
    gap >= notable && text({ class: "tick", x: 4, y: y - 16 - stretch / 2, "aria-hidden": "true" }, `⋮ ${roughly(gap)}`),
    from === to ? this.drawNote(label, from, y, x, width) : this.drawArrow(label, x(from), x(to), y));
  }

  drawArrow(label, from, to, y) {
    const way = Math.sign(to - from);
    const [end, at] = [to - way * 2, y + 2.5];
    return [
      line({ class: "shaft", x1: from + way * 2, x2: end - way * 6, y1: at, y2: at }),
      polygon({ class: "head", points: `${end},${at} ${end - way * 9},${at - 4.5} ${end - way * 9},${at + 4.5}` }),
      text({ class: "label", x: (from + to) / 2, y: y - 3, "text-anchor": "middle" }, shortened(label, Math.abs(to - from) - 16)),
    ];
  }

  drawNote(label, lane, y, x, width) {
    // Beside the last lane there is no room on the right.
    const way = lane > 0 && lane === this.columns.size - 1 ? -1 : 1;
    const at = x(lane);
    return [
      polygon({ class: "head", points: `${at},${y - 8} ${at + 5},${y - 3} ${at},${y + 2} ${at - 5},${y - 3}` }),
      text({ class: "label", x: at + way * 14, y: y + 1, "text-anchor": way < 0 ? "end" : "start" },
        shortened(label, (way < 0 ? at - clockWidth : width - at) - 20)),
    ];
  }

  // Written only while somebody looks: there may be hundreds of rows.
  write() {
    if (!this.table.open) return;
    const table = grid("The ladder", "#Time", "From", "To", "What", "Remarks");
    fill(table.body, this.rows.map((row) => table.row(offset(row.microseconds / 1000), this.titleOf(row.from),
      row.from === row.to ? "" : this.titleOf(row.to),
      row.detail ? action(() => this.tell(row), "quiet slim", row.label) : row.label,
      this.words(row)[1])));
    fill(this.table.lastChild, table.node);
  }
}
