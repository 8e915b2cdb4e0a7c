// Drawings with axes; their figures are there as tables too.
import { fill, graphic, spoken } from "/pages/shell.js";
import { facts, folded, grid, isKnown, tags } from "/pages/lists.js";

// Makers of drawn elements: `line({ x1: 0, … })`. Texts become text nodes: strangers wrote them.
export const shapes = new Proxy({}, { get: (_, tag) => (attributes, ...children) => graphic(tag, attributes, children) });
const { circle, g, line, path, polygon, rect, svg, text, title } = shapes;
const { button, div, figcaption, figure, li, span, ul } = tags;

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

// Figures over time in one drawing, with switches: which figure, and which lines.
export class Plot {
  // figures: [{ key, title, unit, digits or format(value); of the axis bottom, top; isBetterHigh; limit: { value, text } of a warning }]
  // more: words(x) of a place on the axis (`0:05`), spread(end, count) → where it has marks, isSteps: values hold until the next
  constructor(figures, more = {}) {
    this.figures = figures.map((figure) => ({ bottom: 0, unit: "", ...figure }));
    Object.assign(this, {
      words: clock, isSteps: false, start: 0, spread: (end, count) => ticks(end, count).filter((value) => value <= end && value % 1 === 0), ...more,
    });
    [this.figure, this.off] = [this.figures[0], new Set()];
    this.canvas = new Drawing((node, width) => this.draw(node, width));
    this.choices = div({ class: "switches", role: "group", "aria-label": "What is shown" }, this.figures.map((one) =>
      button({ type: "button", class: "slim", "aria-pressed": String(one === this.figure), dataset: { key: one.key }, onclick: () => this.choose(one) }, one.title)));
    this.choices.hidden = figures.length < 2;
    this.caption = figcaption("");
    this.keys = div({ class: "switches", role: "group", "aria-label": "Lines" });
    this.told = ul("small muted bare");
    this.table = folded("The figures as a table", div(""));
    this.node = figure("stack tight", this.choices, this.caption, this.canvas.node, this.keys, this.told, this.table);
    this.table.addEventListener("toggle", () => this.write());
  }

  // all: by key the series [{ name, points: [[place, figure or null]] }]; end: of the axis
  show(all, end) {
    [this.all, this.end] = [all, end];
    const [first] = this.figures.filter(({ key }) => this.hasFigures(key));
    if (first && !this.hasFigures(this.figure.key)) this.figure = first;
    for (const one of this.choices.children) one.disabled = !this.hasFigures(one.dataset.key);
    this.choose(this.figure);
  }

  hasFigures(key) {
    return (this.all[key] ?? []).some(({ points }) => points.some(([, value]) => value !== null));
  }

  choose(chosen) {
    this.figure = chosen;
    for (const one of this.choices.children) one.setAttribute("aria-pressed", String(one.dataset.key === chosen.key));
    const { title, unit, note } = chosen;
    fill(this.caption, title, unit && ` (${unit})`, note && span("small muted", ` ${note}`));
    this.series = this.all[chosen.key] ?? [];
    this.drawKeys();
    this.canvas.show();
    this.write();
  }

  // Each line is switched off and on by what names it.
  drawKeys() {
    const names = this.series.map(({ name }) => name).join();
    if (names !== this.named) {
      fill(this.keys, this.series.map(({ name }, index) => button({
        type: "button", class: "slim", "aria-pressed": String(!this.off.has(name)),
        onclick: ({ currentTarget }) => {
          if (!this.off.delete(name)) this.off.add(name);
          currentTarget.setAttribute("aria-pressed", String(!this.off.has(name)));
          this.canvas.show();
        },
      }, svg({ width: 34, height: 12, "aria-hidden": "true", class: `series series-${index}` },
        line({ class: "path", x1: 1, x2: 33, y1: 6, y2: 6 }), points[index](17, 6)), name)));
    }
    this.named = names;
    fill(this.told, this.series.map((one) => li("", this.summary(one))));
  }

  format(value) {
    const { digits, format, unit } = this.figure;
    return format?.(value) ?? `${value.toFixed(digits)}${unit && ` ${unit}`}`;
  }

  summary({ name, points }) {
    const { isBetterHigh } = this.figure;
    const known = points.filter(([, value]) => value !== null);
    if (known.length === 0) return `${name}: not known`;
    const figure = (value) => this.format(value);
    const extreme = (isLow) => known.reduce((one, other) => ((isLow ? other[1] < one[1] : other[1] > one[1]) ? other : one));
    const at = (place) => `${figure(place[1])} at ${this.words(place[0])}`;
    if (this.isSteps) return `${name}: ${figure(known.at(-1)[1])} at the end; least ${at(extreme(true))}, most ${at(extreme(false))}`;
    return `${name}: mean ${figure(known.reduce((sum, [, value]) => sum + value, 0) / known.length)}, worst ${at(extreme(isBetterHigh))}`;
  }

  draw(node, width) {
    const { end, start, series } = this;
    const { bottom, limit, top, title: name } = this.figure;
    const shown = series.filter((one) => !this.off.has(one.name));
    const highest = Math.max(top, ...shown.flatMap(({ points }) => points.map(([, value]) => value ?? 0)));
    const steps = ticks(highest - bottom, 4).map((value) => value + bottom);
    const x = (place) => left + ((width - left - right) * (place - start)) / (end - start);
    const y = (value) => above + (height - above - below) * (1 - (value - bottom) / (steps.at(-1) - bottom));
    const level = (value, kind) => line({ class: kind, x1: left, x2: width - right, y1: y(value), y2: y(value) });
    const told = shown.map((one) => this.summary(one));
    fill(node, svg({ width, height, role: "img", "aria-label": `${name} from ${this.words(start)} to ${this.words(end)}. ${told.join(". ")}.` },
      steps.map((value) => [level(value, "grid"), text({ class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(value))]),
      this.spread(end, width < 420 ? 3 : 7, start).map((value) =>
        text({ class: "tick", x: x(value), y: height - 6, "text-anchor": x(value) > width - 40 ? "end" : x(value) < left + 30 ? "start" : "middle" }, this.words(value, true))),
      limit && limit.value <= steps.at(-1) && [level(limit.value, "limit"),
        text({ class: "tick", x: width - right - 2, y: y(limit.value) - 4, "text-anchor": "end" }, limit.text)],
      series.map((one, index) => !this.off.has(one.name) && this.line(one.points, index, x, y))));
  }

  line(series, index, x, y) {
    let [d, before] = ["", null];
    for (const [place, value] of series) {
      const at = x(place).toFixed(1);
      if (value !== null) {
        if (before !== null && this.isSteps) d += `H${at}`;
        d += `${before === null ? "M" : "L"}${at} ${y(value).toFixed(1)}`;
      }
      before = value;
    }
    const known = series.filter(([, value]) => value !== null);
    const every = Math.max(1, Math.round(known.length / 8));
    // Lines that lie upon each other show their points at different places.
    const first = Math.floor((every * index) / 4);
    return g({ class: `series series-${index}` }, path({ class: "path", d }),
      known.filter((_, place) => place % every === first).map(([place, value]) => points[index](x(place), y(value))));
  }

  write() {
    if (!this.table.open) return;
    const { title } = this.figure;
    const maps = this.series.map(({ points }) => new Map(points));
    const places = [...new Set(maps.flatMap((map) => [...map.keys()]))].sort((one, other) => one - other);
    const table = grid(title, "#Time", ...this.series.map(({ name }) => `#${name}`));
    fill(table.body, places.map((place) => table.row(this.words(place), ...maps.map((map) => (isKnown(map.get(place)) ? this.format(map.get(place)) : "–")))));
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

// A small bar for each day, or hour. show(days: [[figure, words]], summary); most: what a whole bar stands for
export const dayBars = (name, most = 1, kind = "") => new Drawing((node, width, days, summary) => {
  const top = Math.max(most, ...days.map(([figure]) => figure));
  const room = width / Math.max(1, days.length);
  fill(node, svg({ width, height: 64, role: "img", "aria-label": `${name}. ${summary}` }, days.map(([figure, words], index) => {
    const tall = figure > 0 ? Math.max(2, (figure / top) * 56) : 1;
    return g({ class: "day" }, title({}, words),
      rect({ class: "hit", x: index * room, width: room, height: 64 }),
      rect({ class: `fill ${kind}`, x: index * room + 1, y: 62 - tall, width: Math.max(1, room - 2), height: tall }));
  })));
});
