// Plots over the seconds of a call, the bar of its phases, and bars over days. Each has its figures as a table too.
import { element, graphic as svg } from "/pages/shell.js";
import { offset, onWidth, shortened, span, ticks } from "/pages/drawing.js";

const left = 44;
const [above, below] = [10, 24];
const height = 170;
/** Lines differ by colour, by dashes and by the shape of their points. */
const shapes = [
  (x, y) => svg("circle", { cx: x, cy: y, r: 3.2 }),
  (x, y) => svg("rect", { x: x - 3, y: y - 3, width: 6, height: 6 }),
  (x, y) => svg("polygon", { points: `${x},${y - 4} ${x + 4},${y + 3} ${x - 4},${y + 3}` }),
  (x, y) => svg("polygon", { points: `${x},${y - 4.5} ${x + 4.5},${y} ${x},${y + 4.5} ${x - 4.5},${y}` }),
];

/** `0:07` on an axis of seconds. */
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, "0")}`;

/** Figures by second, one line for each direction. */
export class Plot {
  /**
   * - title, unit, digits: of its figures
   * - bottom, top: of its axis at least; higher figures make it higher
   * - limit: the figure from which on the gateway warns, with its words
   * - isBetterHigh: whether the worst figure is the lowest
   */
  constructor(options) {
    this.options = options;
    this.canvas = element("div", { class: "canvas" });
    this.legend = element("ul", { class: "keys" });
    this.headRow = element("tr");
    this.tableBody = element("tbody");
    this.tableBox = element("details", {}, element("summary", {}, `${options.title}: the figures`),
      element("div", { class: "table tall", role: "region", "aria-label": `${options.title}: the figures`, tabindex: "0" },
        element("table", {}, element("thead", {}, this.headRow), this.tableBody)));
    this.node = element("figure", { class: "plot" },
      element("figcaption", {}, options.unit ? `${options.title} (${options.unit})` : options.title),
      this.canvas, this.legend, this.tableBox);
    this.tableBox.addEventListener("toggle", () => this.table());
    onWidth(this.canvas, (width) => {
      this.width = width;
      this.draw();
    });
  }

  /** series: [{ name, points: [[seconds, figure or null]] }]; end: seconds of the axis. */
  show(series, end) {
    [this.series, this.end] = [series, Math.max(end, 1)];
    this.draw();
    this.table();
  }

  figure(value) {
    return value === null ? "not known" : value.toFixed(this.options.digits);
  }

  summary({ points }) {
    const known = points.filter(([, value]) => value !== null);
    if (known.length === 0) return "not known";
    const worst = known.reduce((one, other) =>
      (this.options.isBetterHigh ? other[1] < one[1] : other[1] > one[1]) ? other : one);
    const mean = known.reduce((sum, [, value]) => sum + value, 0) / known.length;
    const unit = this.options.unit === "%" ? " %" : this.options.unit ? ` ${this.options.unit}` : "";
    return `mean ${this.figure(mean)}${unit}, worst ${this.figure(worst[1])}${unit} at ${clock(worst[0])}`;
  }

  draw() {
    if (!this.width || !this.series) return;
    const { bottom = 0, limit, title } = this.options;
    const highest = this.series.flatMap(({ points }) => points.map(([, value]) => value ?? 0))
      .reduce((one, other) => Math.max(one, other), this.options.top);
    const steps = ticks(highest - bottom, 4).map((value) => value + bottom);
    const top = steps.at(-1);
    const x = (seconds) => left + ((this.width - left - 10) * seconds) / this.end;
    const y = (value) => above + (height - above - below) * (1 - (value - bottom) / (top - bottom));
    const axis = [
      ...steps.map((value) => svg("g", {},
        svg("line", { class: "grid", x1: left, x2: this.width - 10, y1: y(value), y2: y(value) }),
        svg("text", { class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, Number(value.toFixed(3)).toString()))),
      ...ticks(this.end, this.width < 420 ? 3 : 7).filter((value) => value <= this.end).map((value) => svg("text", {
        class: "tick", x: x(value), y: height - 6, "text-anchor": value === 0 ? "start" : "middle" }, clock(value))),
    ];
    if (limit && limit.value <= top && limit.value >= bottom) {
      axis.push(
        svg("line", { class: "limit", x1: left, x2: this.width - 10, y1: y(limit.value), y2: y(limit.value) }),
        svg("text", { class: "tick", x: this.width - 12, y: y(limit.value) - 4, "text-anchor": "end" }, limit.text));
    }
    const told = this.series.map((one) => `${one.name}: ${this.summary(one)}`);
    this.canvas.replaceChildren(svg("svg", {
      width: this.width, height, role: "img", "aria-label": `${title} over ${clock(this.end)} minutes. ${told.join(". ")}.`,
    }, ...axis, ...this.series.map((one, index) => this.line(one, index, x, y))));
    this.legend.replaceChildren(...this.series.map((one, index) => element("li", {},
      svg("svg", { width: 34, height: 12, "aria-hidden": "true", class: `series series-${index % 4}` },
        svg("line", { class: "path", x1: 1, x2: 33, y1: 6, y2: 6 }), shapes[index % 4](17, 6)),
      element("span", {}, told[index]))));
  }

  line({ points }, index, x, y) {
    let [path, isDown] = ["", false];
    for (const [seconds, value] of points) {
      if (value !== null) path += `${isDown ? "L" : "M"}${x(seconds).toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = value !== null;
    }
    const known = points.filter(([, value]) => value !== null);
    const every = Math.max(1, Math.round(known.length / 8));
    // Lines that lie upon each other show their points at different seconds.
    const shift = Math.floor((every * index) / 4);
    const dots = known.filter((_, place) => place % every === shift % every);
    return svg("g", { class: `series series-${index % 4}` }, svg("path", { class: "path", d: path }),
      ...dots.map(([seconds, value]) => shapes[index % 4](x(seconds), y(value))));
  }

  table() {
    if (!this.tableBox.open || !this.series) return;
    const times = [...new Set(this.series.flatMap(({ points }) => points.map(([seconds]) => seconds)))].sort((a, b) => a - b);
    const byTime = this.series.map(({ points }) => new Map(points));
    this.headRow.replaceChildren(...["Time", ...this.series.map(({ name }) => name)].map((text) =>
      element("th", { scope: "col" }, text)));
    this.tableBody.replaceChildren(...times.map((time) => element("tr", {},
      element("td", { class: "num" }, offset(time * 1000)),
      ...byTime.map((points) => element("td", { class: "num" }, points.has(time) ? this.figure(points.get(time)) : "")))));
  }
}

/** What a call spent its time with, as one bar. phases: [{ name, from_milliseconds, to_milliseconds }] */
export class TimingBar {
  constructor(words) {
    this.words = words;
    this.canvas = element("div", { class: "canvas" });
    this.list = element("dl", { class: "facts" });
    this.node = element("div", {}, this.canvas, this.list);
    onWidth(this.canvas, (width) => {
      this.width = width;
      this.draw();
    });
  }

  show(phases) {
    this.phases = phases.filter((phase) => phase.to_milliseconds >= phase.from_milliseconds);
    this.list.replaceChildren(...this.phases.map((phase) => element("div", {},
      element("dt", {}, this.words(phase.name)),
      element("dd", {}, span(phase.to_milliseconds - phase.from_milliseconds)))));
    this.draw();
  }

  draw() {
    if (!this.width || !this.phases) return;
    const end = Math.max(1, ...this.phases.map((phase) => phase.to_milliseconds));
    const x = (time) => (this.width * time) / end;
    this.canvas.replaceChildren(svg("svg", { width: this.width, height: 46, "aria-hidden": "true" },
      ...this.phases.map((phase, index) => {
        const [start, width] = [x(phase.from_milliseconds), x(phase.to_milliseconds) - x(phase.from_milliseconds)];
        const text = this.words(phase.name);
        return svg("g", { class: `phase phase-${index % 3}` },
          svg("title", {}, `${text}: ${offset(phase.from_milliseconds)} to ${offset(phase.to_milliseconds)}`),
          svg("rect", { x: start, y: 2, width: Math.max(2, width - 1), height: 24, rx: 3 }),
          width > 46 ? svg("text", { class: "inside", x: start + 7, y: 18 }, shortened(text, width - 10)) : null);
      }),
      svg("text", { class: "tick", x: 0, y: 42 }, "0"),
      svg("text", { class: "tick", x: this.width, y: 42, "text-anchor": "end" }, span(end))));
  }
}

/** A small bar for each day. days: [{ date, figure, text }] */
export class DayBars {
  constructor(title) {
    this.title = title;
    this.canvas = element("div", { class: "canvas" });
    this.node = element("div", {}, this.canvas);
    onWidth(this.canvas, (width) => {
      this.width = width;
      this.draw();
    });
  }

  show(days, summary) {
    [this.days, this.summary] = [days, summary];
    this.draw();
  }

  draw() {
    if (!this.width || !this.days) return;
    const top = Math.max(1, ...this.days.map((day) => day.figure));
    const room = this.width / Math.max(1, this.days.length);
    this.canvas.replaceChildren(svg("svg", {
      width: this.width, height: 64, role: "img", "aria-label": `${this.title}. ${this.summary}`,
    }, ...this.days.map((day, index) => {
      const tall = day.figure > 0 ? Math.max(2, (day.figure / top) * 56) : 1;
      return svg("g", { class: day.figure > 0 ? "bar" : "day empty" }, svg("title", {}, `${day.date}: ${day.text}`),
        svg("rect", { class: "hit", x: index * room, y: 0, width: room, height: 64 }),
        svg("rect", { class: "fill", x: index * room + 1, y: 62 - tall, width: Math.max(1, room - 2), height: tall }));
    })));
  }
}
