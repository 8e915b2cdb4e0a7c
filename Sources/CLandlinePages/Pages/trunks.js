// /trunks: how the trunks do, and a test of each whose steps come as they are made.
import { api, copyButton, fill, lines, moment, onReturn, problemBox, spoken, start } from "/pages/shell.js";
import { dayBars } from "/pages/plots.js";
import {
  action, badge, card, errorBox, errorLink, facts, folded, grid, isKnown, main, repeat, tags,
} from "/pages/lists.js";

const {
  a, code, div, figcaption, figure, h1, input, label, li, ol, p, pre, progress, span, strong,
} = tags;
const standings = { up: "good", down: "bad", resting: "warn", draining: "warn" };
const outcomes = { ok: ["✓ ok", "good"], warning: ["! warning", "warn"], failed: ["✕ failed", "bad"], skipped: ["– skipped", ""] };
const milliseconds = (value) => (isKnown(value) ? `${Number(value.toFixed(1))} ms` : null);

const hourCount = 24;
const hourMilliseconds = 3_600_000;
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
// What a day of hours looks like: [[figure, words]], and a sentence; hours in which nothing was counted have none.
function hoursOf(hours, figure, words) {
  const now = Math.floor(Date.now() / hourMilliseconds) * hourMilliseconds;
  const known = new Map(hours.map((hour) => [Date.parse(hour.starts_at), hour]));
  return Array.from({ length: hourCount }, (_, index) => {
    const at = now - (hourCount - 1 - index) * hourMilliseconds;
    const hour = known.get(at);
    const value = hour && figure(hour);
    return [value ?? 0, `${clock.format(at)}: ${isKnown(value) ? words(hour) : "nothing was counted"}`];
  });
}

const me = await start("trunks");
const cards = new Map();
const box = div("stack");
const problem = errorBox();
fill(main, div("stack", h1("", "Trunks"), problem, box));

const day = () => p("spread small muted", span("", "24 hours ago"), span("", "this hour"));

class TrunkCard {
  constructor(trunk) {
    this.name = trunk.name;
    this.standing = p("break");
    this.figures = div("stack tight");
    this.failures = div("");
    this.answers = dayBars(`Answered calls of ${this.name} by the hour`, 1);
    this.options = dayBars(`OPTIONS time of ${this.name} by the hour`, 10, "second");
    [this.answered, this.pinged] = [p("small"), p("small")];
    this.hours = grid(`${this.name} by the hour`, "Hour", "#Calls", "#Answered", "#OPTIONS answered", "#OPTIONS mean", "#OPTIONS worst");
    this.steps = ol({ class: "steps", "aria-live": "polite", "aria-label": `Steps of the test of ${this.name}` });
    this.result = div({ role: "status" });
    this.button = action(() => (this.abort ? this.abort.abort() : this.test()));
    this.number = input({
      type: "tel", autocomplete: "off", placeholder: "+46 70 123 45 67", size: 18, "aria-label": `Number that the test of ${this.name} calls`,
    });
    const called = label("small", "and call ", this.number, span("muted", " (a real call, ended after two seconds of sound)"));
    this.setAbort(null);
    this.node = card(this.name, div("spread", p("small muted mono break", trunk.uri), this.button), called, this.standing,
      div("columns", this.figures, this.failures),
      div("columns",
        figure("", figcaption("", "Answered by the hour"), this.answers.node, day(), this.answered),
        figure("", figcaption("", "OPTIONS by the hour"), this.options.node, day(), this.pinged)),
      folded("Hour by hour", this.hours.node), this.steps, this.result);
    this.show(trunk);
  }

  setAbort(abort) {
    this.abort = abort;
    fill(this.button, abort ? "Stop the test" : "Test now", span("visually-hidden", ` of ${this.name}`));
  }

  show(trunk) {
    const text = JSON.stringify(trunk);
    if (text === this.shown) return;
    this.shown = text;
    const { live_calls: count, maximum_calls: most, failures = [] } = trunk;
    fill(this.standing, badge(trunk.standing, standings[trunk.standing]), ` ${trunk.explanation}`);
    fill(this.figures,
      p("", most ? `${count} of ${most} channels in use ` : `${count} ${count === 1 ? "channel" : "channels"} in use, no limit`,
        most && progress({ max: most, value: count, "aria-label": `Channels of ${this.name} in use` })),
      facts([
        ["Answered", isKnown(trunk.answer_ratio)
          ? `${Math.round(trunk.answer_ratio * 100)} % (${trunk.answered} of ${trunk.attempts} calls)` : "no calls yet"],
        ["Mean duration", isKnown(trunk.average_duration_seconds) ? spoken(Math.round(trunk.average_duration_seconds)) : "–"],
        ["Counted over", trunk.window_seconds ? spoken(trunk.window_seconds) : null],
        ["OPTIONS answer", milliseconds(trunk.options_ms) ?? "not known"],
      ]));
    this.showHours(trunk.hours ?? []);
    if (failures.length === 0) {
      fill(this.failures, p("muted", "No failures."));
      return;
    }
    const table = grid(`Failures of ${this.name}`, "Failure", "SIP", "#Count", "Last");
    fill(table.body, failures.map((failure) => table.row(errorLink(failure.code), failure.sip_status ? String(failure.sip_status) : "–",
      String(failure.count), failure.last_at ? moment(failure.last_at) : "–")));
    fill(this.failures, table.node);
  }

  showHours(hours) {
    const percent = (hour) => `${Math.round(hour.answer_ratio * 100)} %`;
    const sum = (key) => hours.reduce((all, hour) => all + hour[key], 0);
    const worst = Math.max(0, ...hours.map((hour) => hour.options_worst_ms ?? 0));
    this.answered.textContent = sum("attempts") > 0
      ? `${sum("answered")} of ${sum("attempts")} calls were answered; a bar of full height is all of an hour.` : "No call went over it.";
    this.pinged.textContent = sum("options_sent") > 0
      ? `${sum("options_answered")} of ${sum("options_sent")} OPTIONS were answered${worst > 0 ? `, the slowest after ${milliseconds(worst)}; a bar is the mean of an hour` : ""}.`
      : "No OPTIONS was sent to it.";
    this.answers.show(hoursOf(hours, (hour) => hour.answer_ratio, (hour) => `${percent(hour)} of ${hour.attempts} answered`), this.answered.textContent);
    this.options.show(hoursOf(hours, (hour) => hour.options_mean_ms, (hour) => `${milliseconds(hour.options_mean_ms)} mean, ${milliseconds(hour.options_worst_ms)} worst`),
      this.pinged.textContent);
    fill(this.hours.body, hours.toReversed().map((hour) => this.hours.row(moment(hour.starts_at), String(hour.attempts),
      isKnown(hour.answer_ratio) ? percent(hour) : "–", `${hour.options_answered} of ${hour.options_sent}`,
      milliseconds(hour.options_mean_ms) ?? "–", milliseconds(hour.options_worst_ms) ?? "–")));
  }

  async test() {
    const abort = new AbortController();
    this.setAbort(abort);
    fill(this.steps);
    fill(this.result, p("muted", "Testing…"));
    try {
      let end = null;
      const number = this.number.value.trim();
      const body = number ? { number } : undefined;
      for await (const step of lines(`/v1/trunks/${encodeURIComponent(this.name)}/test`, { method: "POST", signal: abort.signal, body })) {
        if (step.done) end = step;
        else this.steps.append(stepLine(step));
      }
      if (!end) throw new Error("The connection was lost before the test's result came.");
      const [word, tone] = outcomes[end.outcome] ?? [end.outcome, ""];
      fill(this.result, p(`notice ${tone}`, `The test of ${this.name}: `, strong("", word)));
    } catch (error) {
      fill(this.result, error.name === "AbortError" ? p("notice warn", "The test was stopped.") : problemBox(error));
    }
    this.setAbort(null);
    refresh();
  }
}

function stepLine(step) {
  const [word, tone] = outcomes[step.outcome] ?? [step.outcome, ""];
  return li("", div("spread", span("", badge(word, tone), " ", strong("", step.step)), span("small muted num", milliseconds(step.milliseconds))),
    p("", step.text), step.fix && div("fix", pre("code", step.fix), copyButton(() => step.fix, "Copy the fix")));
}

async function refresh() {
  let trunks;
  try {
    ({ trunks } = await api("/v1/trunks"));
  } catch (error) {
    // That the gateway is gone is told above the page.
    if (error.status !== 0) problem.fail(error);
    return;
  }
  problem.clear();
  for (const [name, old] of cards) {
    if (trunks.some((trunk) => trunk.name === name)) continue;
    old.abort?.abort();
    old.node.remove();
    cards.delete(name);
  }
  for (const trunk of trunks) {
    if (cards.has(trunk.name)) cards.get(trunk.name).show(trunk);
    else box.append(cards.set(trunk.name, new TrunkCard(trunk)).get(trunk.name).node);
  }
  box.querySelector(".empty")?.remove();
  if (trunks.length === 0) {
    box.append(p("empty", "No trunk leads out of this environment yet. Try one before it is configured: ",
      code("", "landline trunk test sip:HOST")));
  }
}

if (me.role === "operator") {
  await refresh();
  repeat(5, refresh);
  onReturn(refresh);
} else {
  fill(box, p("notice", "Trunks are for operators. Your own calls are at ",
    a({ href: "/calls" }, "Calls"), "."));
}
