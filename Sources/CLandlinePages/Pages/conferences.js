// /conferences: who is in which, who speaks, and what an operator can do about it.
import { api, confirmed, fill, kindOf, moment, onReturn, start } from "/pages/shell.js";
import {
  action, asks, badge, callPath, card, errorBox, field, grid, input, main, query, repeat, tags,
} from "/pages/lists.js";

const { a, button, code, div, h1, p, span } = tags;

await start("conferences");
const cards = new Map();
const box = div("stack");
const problem = errorBox();
fill(main, div("stack", h1("", "Conferences"), problem, box));

class ConferenceCard {
  constructor(conference) {
    this.conference = conference;
    const { id } = conference;
    this.facts = p({ class: "small muted", role: "status" });
    this.table = grid(`Who takes part in ${id}`, "#No.", "Who", "Since", "State", "-Actions");
    this.lock = action(() => this.change("", { locked: !this.conference.locked }));
    this.record = action(() => this.changeRecording());
    this.recording = span("");
    this.end = action(() => this.endAll(), "", "End", span("visually-hidden", ` ${id}`));
    this.target = input(`add-${cards.size}`, { placeholder: "+46 70 123 45 67, alice@example.com or bob" });
    this.add = asks(() => this.call(), { class: "row" },
      field(`Call somebody into ${id}`, this.target), button("slim", "Call"));
    this.node = card(id, div("spread", this.facts, div("row", this.recording, this.record, this.lock, this.end)), this.table.node, this.add);
    this.node.dataset.conference = id;
    this.show(conference);
  }

  path(rest = "") {
    const { id, application_key: application } = this.conference;
    return query(`/v1/conferences/${encodeURIComponent(id)}${rest}`, { application });
  }

  show(conference) {
    this.conference = conference;
    const text = JSON.stringify(conference);
    if (text === this.shown) return;
    this.shown = text;
    const { participants, locked, application, since } = conference;
    fill(this.facts, `${application} · since `, moment(since), locked && [" · ", badge("locked", "warn")],
      participants.length === 0 && " · nobody has answered yet");
    this.lock.textContent = locked ? "Unlock" : "Lock";
    const { recording } = conference;
    fill(this.recording, recording && badge(recording.paused ? "recording paused" : "recording", recording.paused ? "warn" : "bad"));
    this.record.textContent = recording ? "Stop recording" : "Record";
    this.record.hidden = participants.length === 0;
    const focused = document.activeElement?.dataset?.act;
    fill(this.table.body, participants.map((one) => this.row(one)));
    this.table.node.hidden = participants.length === 0;
    if (focused) this.table.node.querySelector(`[data-act="${focused}"]`)?.focus();
  }

  row(one) {
    const { participant, from, muted, self_muted: isSelfMuted, deaf, speaking, leads, call, since, quality } = one;
    const name = from.value || from.kind;
    const change = (act, word, body) => {
      const node = action(() => this.change(`/${participant}`, body), "slim", word, span("visually-hidden", ` ${name}`));
      node.dataset.act = `${act}-${participant}`;
      return node;
    };
    const remove = action(() => this.kick(participant, name), "slim", "Remove", span("visually-hidden", ` ${name}`));
    remove.dataset.act = `remove-${participant}`;
    const states = [
      speaking && badge("speaks", "good"), leads && badge("leads", "good"), muted && badge("muted", "warn"),
      isSelfMuted && badge("muted itself"), deaf && badge("hears nothing", "warn"),
      quality?.loss > 0.03 && badge(`loses ${Math.round(quality.loss * 100)} %`, "warn"),
    ].filter(Boolean);
    return this.table.row(String(participant),
      [a({ href: callPath(call), class: "break" }, name), from.name && ` (${from.name})`].filter(Boolean), moment(since),
      states.length > 0 ? states.map((state) => [state, " "]) : "listens",
      [change("mute", muted ? "Unmute" : "Mute", { muted: !muted }), " ",
        change("deafen", deaf ? "Let hear" : "Deafen", { deaf: !deaf }), " ", remove]);
  }

  change(rest, body) { return this.ask(() => api(this.path(rest), { method: "PATCH", body })); }

  async kick(participant, name) {
    if (!await confirmed("Take out?", `The call of ${name} ends; the conference goes on.`, "Take out")) return;
    await this.ask(() => api(this.path(`/${participant}`), { method: "DELETE" }));
  }

  // All are told by a voice that they are recorded.
  async changeRecording() {
    const options = this.conference.recording
      ? { method: "DELETE" } : { method: "POST", headers: { "Idempotency-Key": crypto.randomUUID() }, body: { announce: true } };
    await this.ask(() => api(this.path("/recording"), options));
  }

  async endAll() {
    if (!await confirmed("End the conference?", "The calls of all who take part end.", "End")) return;
    await this.ask(() => api(this.path(), { method: "DELETE" }));
  }

  async call() {
    const target = this.target.value.trim();
    if (!target) return this.target.focus();
    const kind = kindOf(target);
    const number = kind === "phone" ? target.replace(/[ ().-]/g, "") : target;
    await this.ask(() => api(this.path("/participants"), {
      method: "POST", headers: { "Idempotency-Key": crypto.randomUUID() }, body: { kind, target: number },
    }));
    if (!problem.failed) this.target.value = "";
  }

  async ask(work) {
    problem.clear();
    problem.failed = false;
    try {
      await work();
    } catch (error) {
      problem.failed = true;
      problem.fail(error);
    }
    await refresh();
  }
}

async function refresh() {
  let conferences;
  try {
    ({ conferences } = await api("/v1/conferences"));
  } catch (error) {
    // What the page itself says of a gateway that is away is enough.
    if (error.status !== 0) problem.fail(error);
    return;
  }
  const key = ({ application_key: application, id }) => `${application} ${id}`;
  const there = new Set(conferences.map(key));
  for (const [name, old] of cards) {
    if (there.has(name)) continue;
    old.node.remove();
    cards.delete(name);
  }
  for (const conference of conferences) {
    const known = cards.get(key(conference));
    if (known) {
      known.show(conference);
      continue;
    }
    const fresh = new ConferenceCard(conference);
    cards.set(key(conference), fresh);
    box.append(fresh.node);
  }
  box.querySelector(".empty")?.remove();
  if (conferences.length === 0) {
    box.append(p("empty", "Nobody is in a conference. One begins with the first who calls it: on ",
      a({ href: "/" }, "the phone"), ", or with ", code("", "landline call conf:weekly")));
  }
}

await refresh();
repeat(1, refresh);
onReturn(refresh);
