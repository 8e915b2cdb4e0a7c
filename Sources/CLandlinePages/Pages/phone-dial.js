// The form of a call: what to call, what is known of it, who calls, and with which headers.
import { announce, api, element, fill, me, money, price as priceText, tabs } from "/pages/shell.js";

const byID = (id) => document.getElementById(id);

const kinds = {
  phone: ["Phone number", "With its country code, as people write it: +46 70 123 45 67, 0046…, tel:+46…", "gw.number"],
  sip: ["SIP address", "user@domain, such as alice@example.com or sip:alice@192.0.2.1:5060", "gw.address", /^(sips?:)?[^\s@]+@[^\s@]+$/i],
  user: ["User", "The id of another user of this application: printable characters without spaces", "gw.address", /^[!-~]+$/],
  conference: ["Conference", "The id of a room: at most 64 printable characters without spaces", "gw.address", /^[!-~]{1,64}$/],
};

const prompt = ["+46000000000", "Says that it works"];
// Free everywhere.
const family = [
  ["+4600000000010", "Plays for 2 min"], ["+4600000000020", "Until you press 0"], ["+4600000000030", "Declined"], ["+4600000000040", "Rings and rings"],
];
const familyRest = [["+460000000003", "Says it 3 times"], ["+4600000000031", "Declined after a while"], ["+4600000000050", "Congestion"]];
// Where numbers of the sandbox are known: the first with the prompt are five.
const sandbox = [["+46000000202", "Echo"], ["+46000000486", "Busy"], ["+46000000408", "No answer"], ["+46000000402", "Too dear"]];
const sandboxRest = [
  ["+46000000203", "Echo, 2 % lost"], ["+46000000200", "Answers, hangs up"], ["+46000000201", "Answers, then silent"],
  ["+46000000180", "Rings and rings"], ["+46000000183", "Speaks, then busy"], ["+46000000603", "Declined"], ["+46000000404", "No such number"],
  ["+46000000480", "Not reachable"], ["+46000000488", "No common codec"], ["+46000000503", "Congestion"],
];
// Of a development gateway, whose far end answers for every number and takes play credit.
const priced = ["+46701234567", "Costs play credit"];

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
    parts.push(isFree ? "free" : `${priceText(price.per_minute, price.currency)}/min`);
    if (price.fee_micro) parts.push(`${money(price.fee_micro, price.currency)} a call`);
    if (!isFree && !hint.refusal && Number.isFinite(seconds)) {
      parts.push(seconds < 60 ? `${seconds} s left` : `${Math.floor(seconds / 60).toLocaleString("en")} min left`);
    }
  }
  return parts.filter(Boolean).join(" · ");
}

// planned(order): what a call from the form would be, as far as it is filled in.
export function dialForm({ account, place, planned }) {
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
    plan();
    clearTimeout(timer);
    asking?.abort();
    // Before the sign-in nothing is known of any number.
    if (!text || kind !== "phone" || !me()) return tell(kinds[kind][1]);
    timer = setTimeout(async () => {
      const found = await look(text);
      if (found && target.value.trim() === text) show(found);
    }, 120);
  }

  function plan() {
    planned({
      kind, target: target.value.trim() || (kind === "phone" ? prompt[0] : ""), headers: readHeaders().headers, callerNumber: null,
      anonymous: kind === "phone" && anonymous.checked,
    });
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
    plan();
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

  async function submit() {
    const order = await read();
    if (order) place(order);
  }

  function chip([text, label]) {
    function dial() {
      target.value = text;
      changed();
      submit();
    }
    return element("li", {}, element("button", { type: "button", title: `Call ${text}`, onclick: dial },
      label, element("span", { class: "mono muted" }, `…${text.slice(-3)}`)));
  }

  function offer(first, rest) {
    fill(byID("numbers"), [prompt, ...first].map(chip));
    fill(byID("rest"), rest.map(chip));
    byID("more-numbers").hidden = !rest.length;
  }

  byID("add-header").addEventListener("click", addHeader);
  caller.addEventListener("change", readCaller);
  caller.addEventListener("input", used);
  anonymous.addEventListener("change", used);
  target.addEventListener("input", changed);
  byID("form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  // Whoever only presses Call hears that everything works.
  texts.phone = prompt[0];
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
  offer([], []);

  return {
    // What a call costs depends on who pays.
    refresh: changed,
    async offerSandbox(isDevelopment) {
      const found = await api("/v1/number-hints?target=%2B46000000486").catch(() => null);
      if (!found?.is_test) return offer(family, familyRest);
      const first = isDevelopment ? [priced, ...sandbox.filter((one) => one[1] !== "No answer")] : sandbox;
      offer(first, [...sandbox.filter((one) => !first.includes(one)), ...sandboxRest]);
    },
  };
}
