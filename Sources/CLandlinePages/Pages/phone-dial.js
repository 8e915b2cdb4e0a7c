// The form of a call: what to call, what is known of it, who calls, and with which headers.
import { announce, api, element, fill, money, spoken, tabs } from "/pages/shell.js";

const byID = (id) => document.getElementById(id);

const kinds = {
  phone: { label: "Phone number", type: "tel", example: "With its country code, as people write it: +46 70 123 45 67, 0046…, tel:+46…" },
  sip: { label: "SIP address", type: "text", example: "user@domain, such as alice@example.com or sip:alice@192.0.2.1:5060" },
  user: { label: "User", type: "text", example: "The id of another user of this application, at most 40 characters" },
  conference: { label: "Conference", type: "text", example: "The id of a room, at most 64 printable characters without spaces" },
};

const always = [["+46000000000", "says that it is connected"]];
const sandbox = [
  ["+46000000202", "echo"], ["+46000000203", "echo, 2 % lost"], ["+46000000200", "answers, hangs up"],
  ["+46000000201", "answers, then silent"], ["+46000000180", "rings and rings"], ["+46000000183", "speaks, then busy"],
  ["+46000000486", "busy"], ["+46000000603", "declined"], ["+46000000404", "no such number"],
  ["+46000000408", "no answer"], ["+46000000480", "not reachable"], ["+46000000488", "no common codec"],
  ["+46000000503", "congestion"], ["+46000000402", "too dear"],
];

// The rules of the gateway, so that a mistake is seen while it is made.
const maximumHeaderBytes = 1024;
const bytes = (text) => new TextEncoder().encode(text).length;

function headerProblem(name, value, taken) {
  if (!/^x-/i.test(name)) return "The name must begin with x-";
  if (name.length > 64) return "The name has more than 64 characters";
  if (name.length < 3) return "Something must follow x-";
  const bad = /[^A-Za-z0-9\-.!%*_+`'~]/.exec(name);
  if (bad) return `“${bad[0]}” cannot stand in a name`;
  if (taken.has(name.toLowerCase())) return "The name is there already; upper and lower case are the same";
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) return "A value has no control characters";
  if (/^ | $/.test(value)) return "The value begins or ends with a space";
  return null;
}

// A number to show: E.164 as people write it.
function readCaller(text) {
  const plain = text.trim().replace(/^tel:/i, "").replace(/[\s().\/-]/g, "").replace(/^00/, "+");
  return /^\+[1-9]\d{4,14}$/.test(plain) ? plain : null;
}

function describe(hint) {
  const parts = [];
  const isFree = hint.price && hint.price.per_minute_nano === 0 && hint.price.fee_micro === 0;
  if (hint.is_test) parts.push(`Test number: ${hint.test ?? "answered by the gateway"}`, "free");
  else {
    const place = hint.description ?? hint.price?.destination;
    if (place) parts.push(place);
    if (isFree) parts.push("free");
    else if (hint.price) {
      parts.push(`${money(hint.price.per_minute, hint.price.currency)}/min`);
      if (hint.price.fee_micro) parts.push(`${money(hint.price.fee_micro, hint.price.currency)} a call`);
    }
  }
  if (!isFree && !hint.is_test && Number.isFinite(hint.seconds_available) && !hint.refusal) {
    const seconds = hint.seconds_available;
    parts.push(seconds >= 60 ? `${Math.floor(seconds / 60).toLocaleString("en")} min left` : `${seconds} s left`);
  }
  return parts.join(" · ");
}

export function dialForm({ account, place }) {
  const target = byID("target");
  const line = byID("hint");
  const list = byID("headers");
  const caller = byID("caller");
  const anonymous = byID("anonymous");
  let kind = "phone";
  const texts = { phone: "", sip: "", user: "", conference: "" };
  let hint = null;
  let asking = null;
  let timer;
  let rowNumber = 0;

  function tell(text, tone = "", link = null) {
    line.className = `hint ${tone}`;
    fill(line, text, link && [" ", element("a", { href: `/errors/${link}` }, "Why?")]);
    if (tone === "bad") target.setAttribute("aria-invalid", "true");
    else target.removeAttribute("aria-invalid");
  }

  function show(found, isFinal) {
    if (found.problem) {
      const accepted = found.problem.accepted ? ` Accepted: ${found.problem.accepted}.` : "";
      const text = found.problem.message;
      tell(`${text[0].toUpperCase()}${text.slice(1)}.${accepted}`, isFinal ? "bad" : "", isFinal ? "gw.number" : null);
      return;
    }
    const typed = target.value.trim();
    const canonical = found.canonical && found.canonical !== typed ? `${found.canonical} · ` : "";
    if (found.refusal) tell(`${canonical}${describe(found) || "This call"} · ${found.refusal.message}`, "warn", found.refusal.code);
    else tell(`${canonical}${describe(found)}`);
  }

  async function ask() {
    clearTimeout(timer);
    asking?.abort();
    const text = target.value.trim();
    if (kind !== "phone" || !text) return null;
    asking = new AbortController();
    const query = new URLSearchParams({ target: text });
    if (account()) query.set("account", account());
    try {
      const found = await api(`/v1/number-hints?${query}`, { signal: asking.signal });
      hint = { text, found };
      return found;
    } catch (error) {
      if (error.name === "AbortError") return null;
      // The call itself is refused with more words than a hint has.
      tell(error.status === 400 ? error.message : `Nothing is known of this number now: ${error.title ?? error.message}`);
      return null;
    }
  }

  function changed() {
    texts[kind] = target.value;
    hint = null;
    clearTimeout(timer);
    asking?.abort();
    const text = target.value.trim();
    if (!text || kind !== "phone") {
      tell(kinds[kind].example);
      return;
    }
    timer = setTimeout(async () => {
      const found = await ask();
      if (found && target.value.trim() === text) show(found, false);
    }, 120);
  }

  const choose = tabs(byID("kinds"), (tab) => {
    kind = tab.dataset.kind;
    byID("dial-panel").setAttribute("aria-labelledby", tab.id);
    byID("target-label").textContent = kinds[kind].label;
    target.type = kinds[kind].type;
    target.inputMode = kind === "phone" ? "tel" : "text";
    target.value = texts[kind];
    byID("chips").hidden = kind !== "phone";
    byID("caller-field").hidden = kind !== "phone";
    used();
    changed();
  });

  // Headers

  function rows() {
    return [...list.children].map((row) => {
      const [name, value] = row.querySelectorAll("input");
      return { row, name, value };
    });
  }

  // → the headers, or null with the mistakes shown
  function readHeaders(isFinal) {
    const headers = {};
    const taken = new Set();
    let total = 0;
    let first = null;
    for (const { row, name, value } of rows()) {
      const note = row.querySelector(".hint");
      note.textContent = "";
      name.removeAttribute("aria-invalid");
      const key = name.value.trim();
      if (!key && !value.value) continue;
      // A name that is being typed is not wrong yet.
      if (!isFinal && document.activeElement === name) {
        if ("x-".startsWith(key.toLowerCase())) continue;
      }
      total += bytes(key) + bytes(value.value);
      const problem = headerProblem(key, value.value, taken)
        ?? (total > maximumHeaderBytes ? `With this header all take ${total} bytes; ${maximumHeaderBytes} are allowed` : null);
      taken.add(key.toLowerCase());
      if (problem) {
        note.textContent = problem;
        name.setAttribute("aria-invalid", "true");
        first ??= name;
      } else {
        headers[key] = value.value;
      }
    }
    if (first && isFinal) {
      byID("options").open = true;
      first.focus();
    }
    return first ? null : headers;
  }

  function addHeader(name = "x-", value = "") {
    const id = `header-${++rowNumber}`;
    const row = element("li", { class: "header-row" },
      element("input", { "aria-label": "Header name", value: name, maxlength: "80", spellcheck: "false", autocapitalize: "none", "aria-describedby": id, oninput: () => { readHeaders(false); used(); } }),
      element("input", { "aria-label": "Header value", value, maxlength: "1100", spellcheck: "false", autocapitalize: "none", "aria-describedby": id, oninput: () => { readHeaders(false); used(); } }),
      element("button", {
        type: "button", "aria-label": "Remove this header", title: "Remove",
        onclick: () => {
          row.remove();
          readHeaders(false);
          used();
          announce("Header removed");
          byID("add-header").focus();
        },
      }, "×"),
      element("p", { class: "hint bad", id, role: "status" }));
    list.append(row);
    used();
    return row.querySelector("input");
  }

  byID("add-header").addEventListener("click", () => {
    const input = addHeader();
    input.focus();
    input.setSelectionRange(2, 2);
  });

  // What stands in closed options must not be forgotten.
  function used() {
    const count = rows().filter(({ name, value }) => value.value || name.value.trim().length > 2).length;
    const parts = [];
    if (!byID("caller-field").hidden) {
      if (anonymous.checked) parts.push("number withheld");
      else if (caller.value.trim()) parts.push("number set");
    }
    if (count) parts.push(count === 1 ? "1 header" : `${count} headers`);
    byID("options-used").hidden = parts.length === 0;
    byID("options-used").textContent = parts.join(", ");
  }

  function readCallerNumber() {
    const note = byID("caller-hint");
    const isHidden = byID("caller-field").hidden;
    const text = caller.value.trim();
    const number = isHidden || !text ? null : readCaller(text);
    const isBad = !isHidden && text && !number;
    note.textContent = isBad ? "A number with + and its country code is wanted, such as +46701234567." : "";
    note.className = isBad ? "hint bad" : "hint";
    if (isBad) caller.setAttribute("aria-invalid", "true");
    else caller.removeAttribute("aria-invalid");
    return isBad ? undefined : number;
  }

  caller.addEventListener("change", readCallerNumber);
  caller.addEventListener("input", used);
  anonymous.addEventListener("change", used);
  target.addEventListener("input", changed);

  // → an order, or null with what is missing shown
  async function read() {
    const text = target.value.trim();
    if (!text) {
      tell(kinds[kind].example, "bad");
      target.focus();
      return null;
    }
    let number = text;
    if (kind === "phone") {
      const found = hint?.text === text ? hint.found : await Promise.race([ask(), new Promise((resolve) => setTimeout(resolve, 1500, null))]);
      if (found?.problem) {
        show(found, true);
        target.focus();
        return null;
      }
      number = found?.canonical ?? text;
    } else if (kind === "conference" && !/^[\x21-\x7e]{1,64}$/.test(text) || kind === "user" && !/^[\x21-\x7e]+$/.test(text)) {
      tell(`${kinds[kind].example}.`, "bad");
      target.focus();
      return null;
    } else if (kind === "sip" && !/^(sips?:)?[^\s@]+@[^\s@]+$/i.test(text)) {
      tell(`Wanted is ${kinds.sip.example}.`, "bad", "gw.address");
      target.focus();
      return null;
    }
    const callerNumber = readCallerNumber();
    if (callerNumber === undefined) {
      byID("options").open = true;
      caller.focus();
      return null;
    }
    const headers = readHeaders(true);
    if (!headers) return null;
    return {
      kind, target: number, headers, callerNumber, anonymous: anonymous.checked && !byID("caller-field").hidden,
      hint: kind === "phone" && hint?.text === text ? hint.found : null,
    };
  }

  byID("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const order = await read();
    if (order) place(order);
  });

  function chips(numbers) {
    for (const [number, label] of numbers) {
      byID("numbers").append(element("li", {}, element("button", {
        type: "button", title: number,
        onclick: () => {
          target.value = number;
          changed();
          target.focus();
        },
      }, element("span", { class: "mono" }, `…${number.slice(-3)}`), ` ${label}`)));
    }
  }
  chips(always);

  return {
    // What the number on the page costs depends on who pays.
    refresh: changed,
    focus: () => target.focus(),
    async offerSandbox() {
      try {
        const query = new URLSearchParams({ target: "+46000000486" });
        if (account()) query.set("account", account());
        if (byID("numbers").children.length === always.length && (await api(`/v1/number-hints?${query}`)).is_test) chips(sandbox);
      } catch {
        // Without an answer only the numbers that are everywhere are offered.
      }
    },
    choose: (name) => choose(byID(`kind-${name}`)),
  };
}
