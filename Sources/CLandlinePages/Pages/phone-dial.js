// The form of a call: what to call, what is known of it, who calls, and with which headers.
import { announce, api, element, fill, money, tabs } from "/pages/shell.js";

const byID = (id) => document.getElementById(id);

const kinds = {
  phone: ["Phone number", "With its country code, as people write it: +46 70 123 45 67, 0046…, tel:+46…", "gw.number"],
  sip: ["SIP address", "user@domain, such as alice@example.com or sip:alice@192.0.2.1:5060", "gw.address", /^(sips?:)?[^\s@]+@[^\s@]+$/i],
  user: ["User", "The id of another user of this application: printable characters without spaces", "gw.address", /^[!-~]+$/],
  conference: ["Conference", "The id of a room: at most 64 printable characters without spaces", "gw.address", /^[!-~]{1,64}$/],
};

const sandbox = [
  [202, "echo"], [203, "echo, 2 % lost"], [200, "answers, hangs up"], [201, "answers, then silent"], [180, "rings and rings"],
  [183, "speaks, then busy"], [486, "busy"], [603, "declined"], [404, "no such number"], [408, "no answer"],
  [480, "not reachable"], [488, "no common codec"], [503, "congestion"], [402, "too dear"],
];

// The rules of the gateway, so that a mistake is seen while it is made.
const maximumHeaderBytes = 1024;

function headerProblem(name, value, taken, total) {
  if (!/^x-/i.test(name)) return "The name must begin with x-";
  if (name.length > 64) return "The name has more than 64 characters";
  if (name.length < 3) return "Something must follow x-";
  const bad = /[^A-Za-z0-9\-.!%*_+`'~]/.exec(name)?.[0];
  if (bad) return `${bad === " " ? "A space" : bad} cannot stand in a name`;
  if (taken.has(name.toLowerCase())) return "The name is there already; upper and lower case are the same";
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) return "A value has no control characters";
  if (/^ | $/.test(value)) return "The value begins or ends with a space";
  return total > maximumHeaderBytes ? `With this header all take ${total} bytes; ${maximumHeaderBytes} are allowed` : null;
}

function describe(hint) {
  if (hint.is_test) return `Test number: ${hint.test}`;
  const { price, seconds_available: seconds } = hint;
  const parts = [hint.description ?? price?.destination];
  if (price) {
    const isFree = price.per_minute_nano === 0 && price.fee_micro === 0;
    parts.push(isFree ? "free" : `${money(price.per_minute, price.currency)}/min`);
    if (price.fee_micro) parts.push(`${money(price.fee_micro, price.currency)} a call`);
    if (!isFree && !hint.refusal && Number.isFinite(seconds)) {
      parts.push(seconds < 60 ? `${seconds} s left` : `${Math.floor(seconds / 60).toLocaleString("en")} min left`);
    }
  }
  return parts.filter(Boolean).join(" · ");
}

export function dialForm({ account, place }) {
  const target = byID("target");
  const caller = byID("caller");
  const anonymous = byID("anonymous");
  const texts = {};
  let kind = "phone";
  let hint = null;
  let asking;
  let timer;
  let number = 0;

  function tell(text, tone = "", code = null) {
    byID("hint").className = `hint ${tone}`;
    fill(byID("hint"), text, code && [" ", element("a", { href: `/errors/${code}` }, "Why?")]);
    target.setAttribute("aria-invalid", String(tone === "bad"));
  }

  function show(found, isFinal) {
    const { problem, refusal } = found;
    if (problem) {
      const text = `${problem.message[0].toUpperCase()}${problem.message.slice(1)}.`;
      return tell(problem.accepted ? `${text} Accepted: ${problem.accepted}.` : text, isFinal && "bad", isFinal && kinds.phone[2]);
    }
    const canonical = found.canonical !== target.value.trim() && found.canonical;
    const parts = [canonical, describe(found), refusal?.message].filter(Boolean);
    tell(parts.join(" · "), (refusal || !found.is_valid) && "warn", refusal?.code);
  }

  function ask(text) {
    // A space as %20: the gateway takes a + for a +.
    let query = `target=${encodeURIComponent(text)}`;
    if (account()) query += `&account=${encodeURIComponent(account())}`;
    asking?.abort();
    asking = new AbortController();
    return api(`/v1/number-hints?${query}`, { signal: asking.signal });
  }

  async function look(text) {
    try {
      const found = await ask(text);
      hint = { text, found };
      return found;
    } catch (error) {
      // The call itself is refused with more words than a hint has.
      if (error.name !== "AbortError") tell(`Nothing is known of this number now: ${error.title ?? error.message}`);
      return null;
    }
  }

  function changed() {
    const text = target.value.trim();
    texts[kind] = target.value;
    hint = null;
    clearTimeout(timer);
    asking?.abort();
    if (!text || kind !== "phone") return tell(kinds[kind][1]);
    timer = setTimeout(async () => {
      const found = await look(text);
      if (found && target.value.trim() === text) show(found);
    }, 120);
  }

  // Headers

  const rows = () => [...byID("headers").children].map((row) => {
    const [name, value] = row.querySelectorAll("input");
    return { name, value, key: name.value.trim(), note: row.querySelector(".hint") };
  }).map((row) => ({ ...row, isEmpty: !row.value.value && "x-".startsWith(row.key.toLowerCase()) }));

  // → the headers, and the first field with a mistake
  function readHeaders() {
    const headers = {};
    const taken = new Set();
    let total = 0;
    let wrong = null;
    for (const { name, value, key, note, isEmpty } of rows()) {
      total += new TextEncoder().encode(key + value.value).length;
      const problem = isEmpty ? null : headerProblem(key, value.value, taken, total);
      note.textContent = problem ?? "";
      name.setAttribute("aria-invalid", String(problem !== null));
      if (problem) wrong ??= name;
      else if (!isEmpty) headers[key] = value.value;
      taken.add(key.toLowerCase());
    }
    return { headers, wrong };
  }

  function addHeader() {
    const id = `header-${++number}`;
    const field = (label, value) => element("input", {
      "aria-label": label, "aria-describedby": id, value, maxlength: "1100", spellcheck: "false", autocapitalize: "none", oninput: used,
    });
    const name = field("Header name", "x-");
    function remove() {
      row.remove();
      used();
      announce("Header removed");
      byID("add-header").focus();
    }
    const row = element("li", { class: "header-row" }, name, field("Header value", ""),
      element("button", { type: "button", "aria-label": "Remove this header", onclick: remove }, "×"),
      element("p", { class: "hint bad", id, role: "status" }));
    byID("headers").append(row);
    name.focus();
    name.setSelectionRange(2, 2);
  }

  // → E.164, null for none, undefined for a mistake
  function readCaller() {
    const text = kind === "phone" ? caller.value.trim() : "";
    const plain = text.replace(/^tel:/i, "").replace(/[\s().\/-]/g, "").replace(/^00/, "+");
    const isBad = text !== "" && !/^\+[1-9]\d{4,14}$/.test(plain);
    byID("caller-hint").textContent = isBad ? "A number with + and its country code is wanted, such as +46701234567." : "";
    caller.setAttribute("aria-invalid", String(isBad));
    return isBad ? undefined : plain || null;
  }

  // What stands in closed options must not be forgotten.
  function used() {
    readHeaders();
    const count = rows().filter(({ isEmpty }) => !isEmpty).length;
    const parts = [];
    if (kind === "phone" && anonymous.checked) parts.push("number withheld");
    else if (kind === "phone" && caller.value.trim()) parts.push("number set");
    if (count) parts.push(`${count} header${count > 1 ? "s" : ""}`);
    byID("options-used").hidden = !parts.length;
    byID("options-used").textContent = parts.join(", ");
  }

  // → an order, or null with the mistake shown
  async function read() {
    const text = target.value.trim();
    const [, example, code, form] = kinds[kind];
    let found = null;
    clearTimeout(timer);
    if (text && kind === "phone") {
      const late = new Promise((resolve) => setTimeout(resolve, 1500, null));
      found = hint?.text === text ? hint.found : await Promise.race([look(text), late]);
    }
    if (!text || found?.problem || (form && !form.test(text))) {
      if (found) show(found, true);
      else tell(`Wanted: ${example}`, "bad", text && code);
      target.focus();
      return null;
    }
    const callerNumber = readCaller();
    const { headers, wrong } = readHeaders();
    if (callerNumber === undefined || wrong) {
      byID("options").open = true;
      (wrong ?? caller).focus();
      return null;
    }
    return { kind, target: found?.canonical ?? text, headers, callerNumber, anonymous: kind === "phone" && anonymous.checked, hint: found };
  }

  function chip(text, label) {
    function choose() {
      target.value = text;
      changed();
      target.focus();
    }
    byID("numbers").append(element("li", {},
      element("button", { type: "button", title: text, onclick: choose }, element("span", { class: "mono" }, `…${text.slice(-3)}`), ` ${label}`)));
  }

  byID("add-header").addEventListener("click", addHeader);
  caller.addEventListener("change", readCaller);
  caller.addEventListener("input", used);
  anonymous.addEventListener("change", used);
  target.addEventListener("input", changed);
  byID("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const order = await read();
    if (order) place(order);
  });
  tabs(byID("kinds"), (tab) => {
    kind = tab.dataset.kind;
    byID("dial-panel").setAttribute("aria-labelledby", tab.id);
    byID("target-label").textContent = kinds[kind][0];
    target.type = kind === "phone" ? "tel" : "text";
    target.inputMode = target.type;
    target.value = texts[kind] ?? "";
    for (const id of ["chips", "caller-field"]) byID(id).hidden = kind !== "phone";
    used();
    changed();
  });
  chip("+46000000000", "says that it is connected");

  return {
    // What a call costs depends on who pays.
    refresh: changed,
    async offerSandbox() {
      const found = await ask("+46000000486").catch(() => null);
      if (found?.is_test) for (const [digits, label] of sandbox) chip(`+46000000${digits}`, label);
    },
  };
}
