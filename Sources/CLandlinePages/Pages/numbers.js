// /numbers: the numbers that trunks bring calls to, and where these lead. An operator makes, changes and removes them.
import { announce, api, confirmed, fill, onReturn, start } from "/pages/shell.js";
import {
  action, asks, badge, card, errorBox, field, grid, input, main, options, query, repeat, tags,
} from "/pages/lists.js";

const { button, code, div, fieldset, h1, label, legend, p, select, span } = tags;
const most = 5;
const kinds = { user: "User", phone: "Phone number", sip: "SIP address", conference: "Conference" };
const endings = { busy: "busy", "no-answer": "no answer", unreachable: "nobody there", declined: "declined" };

const me = await start("numbers");
const isOperator = me.role === "operator";
const problem = errorBox();
const box = div("stack");
fill(main, div("stack", h1("", "Numbers"), problem, box));

const path = (number) => `/v1/numbers/${encodeURIComponent(number)}`;
// What PUT takes of a number as GET told it.
const row = ({ application_key: application, account, active, targets, no_answer, channels, answer_first, refuse_anonymous, blocked, record, record_announced, record_tone }) =>
  ({ application, account, active, targets, no_answer, channels, answer_first, refuse_anonymous, blocked, record, record_announced, record_tone });

const titles = ["Number", "Leads to", "State", "#Calls now", "Account"];
const table = grid("Numbers that trunks bring calls to", ...titles, ...(isOperator ? ["-What can be done"] : []));
const empty = p("empty");
let shown = "";

function leads(targets) {
  if (targets.length === 0) return span("muted", "nobody");
  return targets.map((target, index) => {
    const on = index + 1 < targets.length ? `, then on if ${target.on.map((end) => endings[end] ?? end).join(", ") || "never"}` : "";
    return div("", span("break", target.target), span("small muted", ` (${kinds[target.kind]?.toLowerCase() ?? target.kind}, ${target.ring_seconds} s${on})`));
  });
}

function rules(number) {
  const words = [
    number.answer_first && "answers first", number.channels && `at most ${number.channels} calls`,
    number.refuse_anonymous && "refuses callers without a number", number.blocked.length > 0 && `blocks ${number.blocked.join(", ")}`,
    number.record && `recorded as ${number.record}${number.record_announced ? ", and says so" : ""}`,
    `${number.no_answer} if nobody answers`,
  ];
  return div("small muted break", words.filter(Boolean).join(" · "));
}

function actions(number) {
  if (number.configured_at) return span("small muted break", "Change it in the configuration: ", code("", number.configured_at));
  const hidden = () => span("visually-hidden", ` ${number.number}`);
  return div("row",
    action(() => form.edit(number), "slim", "Change", hidden()),
    action(() => change(number.number, { ...row(number), active: !number.active }, number.active ? "was deactivated" : "was activated"),
      "slim", number.active ? "Deactivate" : "Activate", hidden()),
    action(async () => {
      const text = "Its calls are refused as those of a number that is not ours. Calls that are up go on.";
      if (await confirmed(`Remove ${number.number}?`, text, "Remove")) change(number.number, null, "was removed");
    }, "slim danger", "Remove", hidden()));
}

// Makes the row what `body` says, or takes it away; → whether it was done.
async function change(number, body, word, place = problem) {
  place.clear();
  try {
    await api(path(number), body ? { method: "PUT", body } : { method: "DELETE" });
  } catch (error) {
    place.fail(error);
    return false;
  }
  announce(`${number} ${word}`);
  await refresh();
  return true;
}

async function refresh() {
  const numbers = [];
  let next = null;
  try {
    do {
      const page = await api(query("/v1/numbers", { limit: 1000, cursor: next }));
      numbers.push(...page.numbers);
      next = page.next;
    } while (next);
  } catch (error) {
    // That the gateway is gone is told above the page.
    if (error.status !== 0) problem.fail(error);
    return;
  }
  const text = JSON.stringify(numbers);
  // What has not changed stays: the keyboard may be in it.
  if (text === shown) return;
  shown = text;
  fill(table.body, numbers.map((number) => table.row(
    div("", span("mono", number.number), number.application && div("small muted break", number.application)),
    div("", leads(number.targets), rules(number)),
    [badge(number.active ? "active" : "inactive", number.active ? "good" : "warn"), number.configured_at && [" ", badge("configured")]],
    String(number.live_calls), number.account, ...(isOperator ? [actions(number)] : []))));
  table.node.hidden = numbers.length === 0;
  empty.hidden = numbers.length > 0;
}

class TargetFields {
  constructor(index) {
    const name = (word) => `target-${index}-${word}`;
    this.kind = select({ id: name("kind") }, options(kinds));
    this.text = input(name("text"), { size: 24 });
    this.ring = input(name("ring"), { type: "number", min: 5, max: 120, value: 45 });
    this.node = fieldset("filters", legend("small muted", index === 0 ? "Calls go to" : `then to (${index + 1})`),
      field("Kind", this.kind), field("Name, number or address", this.text), field("Rings (s)", this.ring));
  }

  show(target) {
    this.on = target?.on;
    this.kind.value = target?.kind ?? "user";
    this.text.value = target?.target ?? "";
    this.ring.value = target?.ring_seconds ?? 45;
  }

  get value() {
    const target = this.text.value.trim();
    return target ? { kind: this.kind.value, target, ring_seconds: Number(this.ring.value), ...(this.on && { on: this.on }) } : null;
  }
}

class NumberForm {
  constructor() {
    this.number = input("number", { type: "tel", required: true, placeholder: "+46850000536", size: 18 });
    this.targets = Array.from({ length: most }, (_, index) => new TargetFields(index));
    this.more = action(() => this.open(this.count + 1), "slim", "Another target");
    this.channels = input("number-channels", { type: "number", min: 1, max: 10000, placeholder: "any" });
    this.blocked = input("number-blocked", { placeholder: "+4670, +1900", size: 24 });
    this.status = select({ id: "number-status" }, options({ 480: "480", 408: "408", 486: "486", 503: "503" }));
    this.record = select({ id: "number-record" }, options({ "": "no", opus: "as opus", wav: "as wav" }));
    const check = (id, text) => {
      const box = tags.input({ type: "checkbox", id });
      return [box, label({ class: "check", for: id }, box, ` ${text}`)];
    };
    [this.first, this.firstLabel] = check("number-first", "Answer, and bill, before anybody takes the call");
    [this.anonymous, this.anonymousLabel] = check("number-anonymous", "Refuse callers that withhold their number");
    this.answer = errorBox();
    this.title = span("", "Set a number");
    this.node = card(this.title, asks(() => this.send(), { class: "stack" }, field("Number", this.number),
      this.targets.map((target) => target.node), div("", this.more),
      div("filters", field("Calls at a time", this.channels), field("Blocked callers", this.blocked),
        field("If nobody answers, the trunk is told", this.status), field("Record calls", this.record)),
      div("stack tight", this.firstLabel, this.anonymousLabel),
      div("row", button({ type: "submit", class: "primary" }, "Set the number"), action(() => this.clear(), "", "Clear"))), this.answer);
    this.clear();
  }

  open(count) {
    this.count = Math.min(Math.max(count, 1), most);
    this.targets.forEach((target, index) => (target.node.hidden = index >= this.count));
    this.more.hidden = this.count === most;
  }

  show(number) {
    this.known = number;
    this.answer.clear();
    this.number.value = number?.number ?? "";
    this.targets.forEach((target, index) => target.show(number?.targets[index]));
    this.open(number?.targets.length ?? 1);
    this.channels.value = number?.channels ?? "";
    this.blocked.value = number?.blocked.join(", ") ?? "";
    this.status.value = number?.no_answer ?? 480;
    this.record.value = number?.record ?? "";
    this.first.checked = number?.answer_first ?? false;
    this.anonymous.checked = number?.refuse_anonymous ?? false;
    this.title.textContent = number ? `Change ${number.number}` : "Set a number";
  }

  clear() { this.show(null); }

  edit(number) {
    this.show(number);
    this.node.scrollIntoView({ block: "nearest" });
    this.targets[0].text.focus();
  }

  async send() {
    const number = this.number.value.replace(/[^+\d]/g, "");
    const known = this.known?.number === number ? row(this.known) : {};
    const targets = this.targets.slice(0, this.count).map((target) => target.value).filter(Boolean);
    const blocked = this.blocked.value.split(/[\s,]+/).filter(Boolean);
    const body = {
      ...known, targets, blocked, channels: this.channels.value ? Number(this.channels.value) : null,
      no_answer: Number(this.status.value), answer_first: this.first.checked, refuse_anonymous: this.anonymous.checked,
      record: this.record.value || null,
    };
    if (await change(number, body, "was set", this.answer)) this.clear();
  }
}

const form = isOperator ? new NumberForm() : null;
fill(empty, "No number yet: calls that trunks bring are refused.", isOperator && [" Set one below, or: ", code("", "landline number set NUMBER --user NAME")]);
fill(box, table.node, empty, form?.node);
await refresh();
repeat(5, refresh);
onReturn(refresh);
