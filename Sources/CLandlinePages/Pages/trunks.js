// /trunks: how the trunks do, and a test of each whose steps come as they are made.
import { announce, api, copyButton, element, fill, lines, moment, problemBox, spoken, start } from "/pages/shell.js";
import { badge, grid, repeat } from "/pages/lists.js";

const standings = { up: "good", down: "bad", resting: "warn", draining: "warn" };
const outcomes = { ok: ["✓ ok", "good"], warning: ["! warning", "warn"], failed: ["✕ failed", "bad"], skipped: ["– skipped", ""] };

const me = await start("trunks");
const cards = new Map();
const box = element("div", { class: "stack" });
const problem = element("div", { role: "alert" });
fill(document.querySelector("main"), element("div", { class: "stack" }, element("h1", {}, "Trunks"), problem, box));

class TrunkCard {
  constructor(trunk) {
    this.name = trunk.name;
    this.id = `trunk-${cards.size}`;
    this.standing = element("p", {});
    this.facts = element("dl", { class: "facts" });
    this.use = element("p", {});
    this.failures = element("div", { class: "stack tight" });
    this.steps = element("ol", { class: "steps", "aria-live": "polite", "aria-label": `Steps of the test of ${trunk.name}` });
    this.result = element("div", { role: "status" });
    this.button = element("button", { type: "button", onclick: () => (this.abort ? this.abort.abort() : this.test()) });
    this.label();
    this.node = element("section", { class: "card stack", "aria-labelledby": this.id },
      element("div", { class: "spread" },
        element("div", {}, element("h2", { id: this.id }, trunk.name), element("p", { class: "small muted mono break" }, trunk.uri)),
        this.button),
      this.standing, element("div", { class: "columns" }, element("div", { class: "stack tight" }, this.use, this.facts), this.failures),
      this.steps, this.result);
    this.show(trunk);
  }

  label() {
    fill(this.button, this.abort ? "Stop the test" : "Test now", element("span", { class: "visually-hidden" }, ` of ${this.name}`));
  }

  show(trunk) {
    const text = JSON.stringify(trunk);
    if (text === this.shown) return;
    this.shown = text;
    fill(this.standing, badge(trunk.standing, standings[trunk.standing]), ` ${trunk.explanation}`);
    const { live_calls: count, maximum_calls: most } = trunk;
    fill(this.use, most ? `${count} of ${most} channels in use` : `${count} ${count === 1 ? "channel" : "channels"} in use, no limit`,
      most && element("progress", { max: most, value: count, "aria-label": `Channels of ${trunk.name} in use` }));
    const ratio = trunk.answer_ratio === null || trunk.answer_ratio === undefined ? null : `${Math.round(trunk.answer_ratio * 100)} %`;
    const facts = [
      ["Calls answered", ratio ? `${ratio} (${trunk.answered} of ${trunk.attempts})` : "no calls yet"],
      ["Mean duration", trunk.average_duration_seconds === null || trunk.average_duration_seconds === undefined
        ? "–" : spoken(Math.round(trunk.average_duration_seconds))],
      ["Counted over", trunk.window_seconds ? spoken(trunk.window_seconds) : "–"],
      ["OPTIONS answer", trunk.options_ms === null || trunk.options_ms === undefined
        ? "not known" : `${Number(trunk.options_ms.toFixed(1))} ms`],
    ];
    fill(this.facts, facts.map(([title, value]) => [element("dt", {}, title), element("dd", {}, value)]));
    const failures = trunk.failures ?? [];
    if (failures.length === 0) {
      fill(this.failures, element("p", { class: "muted" }, "No failures."));
      return;
    }
    const table = grid(`Failures of ${trunk.name}`, [{ title: "Failure" }, { title: "SIP" }, { title: "Count", num: true }, { title: "Last" }]);
    table.body.append(...failures.map((failure) => table.row([
      element("a", { href: `/errors/${encodeURIComponent(failure.code)}` }, failure.code),
      failure.sip_status ? String(failure.sip_status) : "–", String(failure.count), failure.last_at ? moment(failure.last_at) : "–",
    ])));
    fill(this.failures, table.node);
  }

  async test() {
    this.abort = new AbortController();
    this.label();
    fill(this.steps);
    fill(this.result, element("p", { class: "muted" }, "Testing…"));
    let end = null;
    try {
      const path = `/v1/trunks/${encodeURIComponent(this.name)}/test`;
      for await (const step of lines(path, { method: "POST", signal: this.abort.signal })) {
        if (step.done) end = step;
        else this.steps.append(stepLine(step));
      }
      if (!end) throw new Error("The test ended without a result: the connection was lost.");
      const [word, tone] = outcomes[end.outcome] ?? [end.outcome, ""];
      fill(this.result, element("p", { class: `notice ${tone}` }, `The test of ${this.name}: `, element("strong", {}, word)));
      announce(`The test of ${this.name} is done: ${end.outcome}`);
    } catch (error) {
      fill(this.result, error.name === "AbortError" ? element("p", { class: "notice warn" }, "The test was stopped.") : problemBox(error));
    }
    this.abort = null;
    this.label();
    refresh();
  }
}

function stepLine(step) {
  const [word, tone] = outcomes[step.outcome] ?? [step.outcome, ""];
  return element("li", {},
    element("div", { class: "spread" }, element("span", {}, badge(word, tone), " ", element("strong", {}, step.step)),
      typeof step.milliseconds === "number" ? element("span", { class: "small muted num" }, `${Number(step.milliseconds.toFixed(1))} ms`) : null),
    element("p", { class: "break" }, step.text),
    step.fix && element("div", { class: "fix" }, element("pre", { class: "code" }, step.fix), copyButton(() => step.fix, "Copy the fix")));
}

async function refresh() {
  let trunks;
  try {
    ({ trunks } = await api("/v1/trunks"));
  } catch (error) {
    fill(problem, problemBox(error));
    return;
  }
  fill(problem);
  const names = new Set(trunks.map((trunk) => trunk.name));
  for (const [name, card] of cards) {
    if (names.has(name)) continue;
    card.node.remove();
    cards.delete(name);
  }
  for (const trunk of trunks) {
    const card = cards.get(trunk.name);
    if (card) card.show(trunk);
    else {
      const made = new TrunkCard(trunk);
      cards.set(trunk.name, made);
      box.append(made.node);
    }
  }
  box.querySelector(".empty")?.remove();
  if (trunks.length === 0) {
    box.append(element("p", { class: "empty" }, "No trunk leads out of this environment yet: add one to the configuration, or ",
      element("code", {}, "landline trunk test sip:HOST"), " first."));
  }
}

if (me.role === "operator") {
  await refresh();
  repeat(5, refresh);
} else {
  fill(box, element("p", { class: "notice" }, "Trunks are for operators: they show what the gateway's carriers do for all accounts. Your calls are at ",
    element("a", { href: "/calls" }, "Calls"), "."));
}
