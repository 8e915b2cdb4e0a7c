// /trunks: how the trunks do, and a test of each whose steps come as they are made.
import { api, copyButton, fill, lines, moment, problemBox, spoken, start } from "/pages/shell.js";
import { action, badge, card, errorBox, errorLink, facts, grid, isKnown, main, repeat, tags } from "/pages/lists.js";

const { a, code, div, h1, input, label, li, ol, p, pre, progress, span, strong } = tags;
const standings = { up: "good", down: "bad", resting: "warn", draining: "warn" };
const outcomes = { ok: ["✓ ok", "good"], warning: ["! warning", "warn"], failed: ["✕ failed", "bad"], skipped: ["– skipped", ""] };
const milliseconds = (value) => (isKnown(value) ? `${Number(value.toFixed(1))} ms` : null);

const me = await start("trunks");
const cards = new Map();
const box = div("stack");
const problem = errorBox();
fill(main, div("stack", h1("", "Trunks"), problem, box));

class TrunkCard {
  constructor(trunk) {
    this.name = trunk.name;
    this.standing = p("break");
    this.figures = div("stack tight");
    this.failures = div("");
    this.steps = ol({ class: "steps", "aria-live": "polite", "aria-label": `Steps of the test of ${this.name}` });
    this.result = div({ role: "status" });
    this.button = action(() => (this.abort ? this.abort.abort() : this.test()));
    this.number = input({
      type: "tel", autocomplete: "off", placeholder: "+46 70 123 45 67", size: 18, "aria-label": `Number that the test of ${this.name} calls`,
    });
    const called = label("small", "and call ", this.number, span("muted", " (a real call, ended after two seconds of sound)"));
    this.setAbort(null);
    this.node = card(this.name, div("spread", p("small muted mono break", trunk.uri), this.button), called, this.standing,
      div("columns", this.figures, this.failures), this.steps, this.result);
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
    if (failures.length === 0) {
      fill(this.failures, p("muted", "No failures."));
      return;
    }
    const table = grid(`Failures of ${this.name}`, "Failure", "SIP", "#Count", "Last");
    fill(table.body, failures.map((failure) => table.row(errorLink(failure.code), failure.sip_status ? String(failure.sip_status) : "–",
      String(failure.count), failure.last_at ? moment(failure.last_at) : "–")));
    fill(this.failures, table.node);
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
    problem.fail(error);
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
} else {
  fill(box, p("notice", "Trunks are for operators. Your own calls are at ",
    a({ href: "/calls" }, "Calls"), "."));
}
