// Drawings with axes; their figures are there as tables too.
import { fill, graphic, spoken } from "/pages/shell.js";
import { facts, folded, grid, tags } from "/pages/lists.js";

// Makers of drawn elements: `line({ x1: 0, … })`. Texts become text nodes: strangers wrote them.
export const shapes = new Proxy({}, { get: (_, tag) => (attributes, ...children) => graphic(tag, attributes, children) });
const { circle, g, line, path, polygon, rect, svg, text, title } = shapes;
const { div, figcaption, figure, li, ul } = tags;

// `12.4 ms`, `304 ms`, `3.204 s`, `1:02.500`: exact.
export function offset(milliseconds) {
  if (milliseconds < 1000) return `${Number(milliseconds.toFixed(milliseconds < 100 ? 1 : 0))} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(3)} s`;
  const minutes = Math.floor(milliseconds / 60_000);
  return `${minutes}:${((milliseconds - minutes * 60_000) / 1000).toFixed(3).padStart(6, "0")}`;
}

// `340 ms`, `3.2 s`, `4 min 5 s`: for people.
export const roughly = (milliseconds) => (milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : spoken(milliseconds / 1000));

// As much of a text as goes into a width, by the width of a letter.
export function shortened(text, width, letter = 7.3) {
  const letters = Array.from(text);
  const room = Math.max(1, Math.floor(width / letter));
  return letters.length <= room ? text : `${letters.slice(0, Math.max(1, room - 1)).join("")}…`;
}

// Drawn to measure, again whenever the width changes: drawings are never scaled.
export class Drawing {
  constructor(draw) {
    this.node = div("canvas");
    this.draw = draw;
    this.width = 0;
    new ResizeObserver(() => {
      if (this.node.clientWidth === this.width) return;
      this.width = this.node.clientWidth;
      this.redraw();
    }).observe(this.node);
  }

  show(...data) {
    this.data = data;
    this.redraw();
  }

  redraw() {
    if (this.data && this.width > 0) this.draw(this.node, this.width, ...this.data);
  }
}

// Round figures from 0 to at least `top` in about `count` steps.
function ticks(top, count) {
  const power = 10 ** Math.floor(Math.log10(top / count));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power * count >= top * 0.999);
  return Array.from({ length: Math.ceil(top / step - 0.001) + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

const [left, right, above, below, height] = [44, 10, 10, 24, 170];
// Lines differ by colour, by dashes, and by the shape of their points.
const points = [
  (x, y) => circle({ cx: x, cy: y, r: 3.2 }),
  (x, y) => rect({ x: x - 3, y: y - 3, width: 6, height: 6 }),
  (x, y) => polygon({ points: `${x},${y - 4} ${x + 4},${y + 3} ${x - 4},${y + 3}` }),
  (x, y) => polygon({ points: `${x},${y - 4.5} ${x + 4.5},${y} ${x},${y + 4.5} ${x - 4.5},${y}` }),
];
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

// Figures by second, one line for each direction.
export class Plot {
  // Of its figures: title, unit, digits; of its axis: bottom, top; isBetterHigh; limit: { value, text } of a warning
  constructor(options) {
    Object.assign(this, { bottom: 0, unit: "", ...options });
    this.canvas = new Drawing((node, width) => this.draw(node, width));
    this.keys = ul("keys");
    this.table = folded(`${this.title}: the figures`, div(""));
    this.node = figure("", figcaption("", this.title, this.unit && ` (${this.unit})`), this.canvas.node, this.keys, this.table);
    this.table.addEventListener("toggle", () => this.write());
  }

  // series: [{ name, points: [[seconds, figure or null]] }]; end: seconds of the axis
  show(series, end) {
    [this.series, this.end] = [series, end];
    this.canvas.show();
    this.write();
  }

  summary({ name, points }) {
    const known = points.filter(([, value]) => value !== null);
    if (known.length === 0) return `${name}: not known`;
    const worst = known.reduce((one, other) => ((this.isBetterHigh ? other[1] < one[1] : other[1] > one[1]) ? other : one));
    const figure = (value) => `${value.toFixed(this.digits)}${this.unit && ` ${this.unit}`}`;
    return `${name}: mean ${figure(known.reduce((sum, [, value]) => sum + value, 0) / known.length)}, worst ${figure(worst[1])} at ${clock(worst[0])}`;
  }

  draw(node, width) {
    const { bottom, limit, end } = this;
    const highest = Math.max(this.top, ...this.series.flatMap(({ points }) => points.map(([, value]) => value ?? 0)));
    const steps = ticks(highest - bottom, 4).map((value) => value + bottom);
    const x = (seconds) => left + ((width - left - right) * seconds) / end;
    const y = (value) => above + (height - above - below) * (1 - (value - bottom) / (steps.at(-1) - bottom));
    const level = (value, name) => line({ class: name, x1: left, x2: width - right, y1: y(value), y2: y(value) });
    const told = this.series.map((one) => this.summary(one));
    fill(node, svg({ width, height, role: "img", "aria-label": `${this.title} over ${clock(end)} minutes. ${told.join(". ")}.` },
      steps.map((value) => [level(value, "grid"), text({ class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(value))]),
      ticks(end, width < 420 ? 3 : 7).filter((value) => value <= end && value % 1 === 0).map((value) =>
        text({ class: "tick", x: x(value), y: height - 6, "text-anchor": x(value) > width - 26 ? "end" : "middle" }, clock(value))),
      limit.value <= steps.at(-1) && [level(limit.value, "limit"),
        text({ class: "tick", x: width - right - 2, y: y(limit.value) - 4, "text-anchor": "end" }, limit.text)],
      this.series.map((one, index) => this.line(one.points, index, x, y))));
    fill(this.keys, told.map((words, index) => li("",
      svg({ width: 34, height: 12, "aria-hidden": "true", class: `series series-${index}` },
        line({ class: "path", x1: 1, x2: 33, y1: 6, y2: 6 }), points[index](17, 6)), words)));
  }

  line(series, index, x, y) {
    let [d, isDown] = ["", false];
    for (const [seconds, value] of series) {
      if (value !== null) d += `${isDown ? "L" : "M"}${x(seconds).toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = value !== null;
    }
    const known = series.filter(([, value]) => value !== null);
    const every = Math.max(1, Math.round(known.length / 8));
    // Lines that lie upon each other show their points at different seconds.
    const first = Math.floor((every * index) / 4);
    return g({ class: `series series-${index}` }, path({ class: "path", d }),
      known.filter((_, place) => place % every === first).map(([seconds, value]) => points[index](x(seconds), y(value))));
  }

  write() {
    if (!this.table.open) return;
    const maps = this.series.map(({ points }) => new Map(points));
    const times = [...new Set(maps.flatMap((map) => [...map.keys()]))].sort((one, other) => one - other);
    const table = grid(this.title, "#Time", ...this.series.map(({ name }) => `#${name}`));
    fill(table.body, times.map((time) => table.row(offset(time * 1000), ...maps.map((map) => map.get(time)?.toFixed(this.digits) ?? "–"))));
    fill(this.table.lastChild, table.node);
  }
}

// What a call spent its time with, as one bar.
export function timingBar(words) {
  const list = div("");
  const bar = new Drawing((node, width, phases) => {
    const end = Math.max(1, ...phases.map((phase) => phase.to_milliseconds));
    fill(node, svg({ width, height: 46, "aria-hidden": "true" },
      phases.map(({ name, from_milliseconds: from, to_milliseconds: to }, index) => {
        const [x, room] = [(width * from) / end, (width * (to - from)) / end];
        return g({ class: `phase phase-${index % 3}` }, title({}, `${words(name)}: ${offset(from)} to ${offset(to)}`),
          rect({ x, y: 2, width: Math.max(2, room - 1), height: 24, rx: 3 }),
          room > 46 && text({ class: "inside", x: x + 7, y: 18 }, shortened(words(name), room - 10)));
      }),
      text({ class: "tick", y: 42 }, "0"), text({ class: "tick", x: width, y: 42, "text-anchor": "end" }, roughly(end))));
    fill(list, facts(phases.map((phase) => [words(phase.name), roughly(phase.to_milliseconds - phase.from_milliseconds)])));
  });
  return { node: div("stack tight", bar.node, list), show: (phases) => bar.show(phases) };
}

// A small bar for each day. show(days: [[figure, words]], summary)
export const dayBars = (name) => new Drawing((node, width, days, summary) => {
  const top = Math.max(1, ...days.map(([figure]) => figure));
  const room = width / Math.max(1, days.length);
  fill(node, svg({ width, height: 64, role: "img", "aria-label": `${name}. ${summary}` }, days.map(([figure, words], index) => {
    const tall = figure > 0 ? Math.max(2, (figure / top) * 56) : 1;
    return g({ class: "day" }, title({}, words),
      rect({ class: "hit", x: index * room, width: room, height: 64 }),
      rect({ class: "fill", x: index * room + 1, y: 62 - tall, width: Math.max(1, room - 2), height: tall }));
  })));
});
