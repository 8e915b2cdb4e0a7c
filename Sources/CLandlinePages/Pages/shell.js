// What all pages share.
//
// start(name)          draws the header, signs in; → me (as GET /v1/me). First of all.
// me()                 who is signed in; onSignIn(callback): told after every sign-in, the first too
// api(path, options)   → JSON, null for 204; throws Problem. options: method, body (made JSON), headers, signal,
//                      as: "text" | "response". An ended session asks for the key and repeats the request.
// Problem              .status .code .title .message .fix .retryable .body (problem+json; status 0: the network)
// lines(path, options) async iterator over the objects of one ndjson answer
// follow(path, {item, state, error, idle}) → stop(): the same, connected again and again; state("connecting" | "live" | "lost")
// isGone()             whether the gateway has not answered for 2 s: the page says so and shows its figures in grey
// onReturn(callback)   told when it answers again: what was missed is to be asked for; untilReturn(milliseconds) waits for it
// kindOf(text)         whom a text means: "phone", "sip" or "user"
// element(tag, attributes, …children), graphic(…) for SVG: attributes may be functions (onclick), dataset: {}, booleans,
//                      null; children nodes, texts, arrays, null. fill(node, …children) replaces children.
// problemBox(error)    an error as a .problem with its fix
// money(value, currency) exact, of a decimal text or whole micro-units; all amounts of a page have as many decimals as the
//                      one that needs most. onDecimals(callback): told when these have become more: what stands is drawn again
// price(value, currency) of a minute, with its own decimals
// when(text), moment(text) as a <time>: of this computer's zone, which is told
// duration(seconds) "1:05", spoken(seconds) "1 min 5 s"
// announce(text, now)  tells screen readers; banner(name, text) a line above the page, null takes it away
// charged(id, account) what a call cost, from its record or the ledger; null where it is not known yet
// confirmed(title, text, word, other) asks before something that cannot be undone → Promise of true or false
// showCredit(account)  what is available to whoever pays for this page's calls, in the header; again with every call of it
// tabs(list, chosen)   makes the [role=tab] of a [role=tablist] work; copyButton(read, label)

const pages = [
  ["phone", "/", "Phone"], ["account", "/account", "Account"], ["calls", "/calls", "Calls"], ["conferences", "/conferences", "Conferences"],
  ["numbers", "/numbers", "Numbers"],  ["trunks", "/trunks", "Trunks"], ["docs", "/docs", "Docs"],
];

let person = null;
let signingIn = null;
let here = "";
const listeners = new Set();
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const kindOf = (text) => (/^\+?[0-9 ().-]+$/.test(text) ? "phone" : text.includes("@") ? "sip" : "user");

// Nodes

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const element = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);

export const graphic = (tag, attributes, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

export function fill(node, ...children) {
  node.replaceChildren();
  return build(node, null, children);
}

// Texts

let decimals = 2;
const widened = new Set();
export const onDecimals = (callback) => widened.add(callback);

// Sign, whole part and fraction without zeros at its end; null for what is no amount.
function partsOf(value) {
  let text = String(value);
  if (typeof value !== "string") {
    const digits = text.replace("-", "").padStart(7, "0");
    text = `${value < 0 ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
  }
  const found = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text);
  return found && [found[1] && "−", found[2].replace(/\B(?=(\d{3})+$)/g, ","), (found[3] ?? "").replace(/0+$/, "")];
}

const written = ([sign, whole, fraction], least, currency) =>
  `${sign}${whole}.${fraction.padEnd(least, "0")}${currency ? ` ${currency}` : ""}`;

export function money(value, currency) {
  if (value === null || value === undefined) return "–";
  const parts = partsOf(value);
  if (!parts) return currency ? `${value} ${currency}` : String(value);
  if (parts[2].length > decimals) {
    decimals = parts[2].length;
    // After whoever draws just now has done so.
    queueMicrotask(() => widened.forEach((callback) => callback()));
  }
  return written(parts, decimals, currency);
}

export function price(value, currency) {
  const parts = partsOf(value);
  return parts ? written(parts, 2, currency) : String(value);
}

const clock = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});

export function when(text) {
  const time = new Date(text ?? NaN);
  return Number.isNaN(time.getTime()) ? "–" : clock.format(time);
}

export const moment = (text) => element("time", { datetime: text, title: `${text} (UTC)` }, when(text));

const whole = (seconds) => Math.max(0, Math.floor(seconds));

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const all = whole(seconds);
  const two = (number) => String(number).padStart(2, "0");
  const minutes = Math.floor(all / 60);
  return minutes < 60 ? `${minutes}:${two(all % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(all % 60)}`;
}

export function spoken(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 10 && seconds % 1) return `${seconds.toFixed(1)} s`;
  const all = whole(seconds);
  const minutes = Math.floor(all / 60);
  const pair = (many, unit, few, rest) => `${many.toLocaleString("en")} ${unit}${few ? ` ${few} ${rest}` : ""}`;
  if (!minutes) return `${all} s`;
  return minutes < 60 ? pair(minutes, "min", all % 60, "s") : pair(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

// Requests

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `The gateway answered ${status}`);
    const { code = null, title = null, fix = null, retryable = false } = body;
    Object.assign(this, { name: "Problem", status, code, title, fix, retryable, body });
  }
}

async function request(path, { method = "GET", body, headers, signal } = {}) {
  const all = { Accept: "application/json, application/x-ndjson, application/problem+json", ...headers };
  if (body !== undefined) all["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers: all, signal, body: JSON.stringify(body), cache: "no-store", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, {
      code: "network.unreachable", title: "The gateway does not answer", retryable: true,
      fix: "Check that it runs and that this computer is connected",
    });
  }
  if (response.ok) {
    heard();
    return response;
  }
  // A proxy in between may answer with something else, and does where the gateway is gone.
  const problem = await response.json().catch(() => null);
  if (problem) heard();
  throw new Problem(response.status, problem ?? {});
}

async function asked(path, options) {
  try {
    return await request(path, options);
  } catch (error) {
    if (error.status !== 401) throw error;
    // Nothing was carried out: after a sign-in the same request may be made again.
    await signIn(error);
    return request(path, options);
  }
}

async function parsed(response, as) {
  if (as === "response") return response;
  if (as === "text") return response.text();
  return response.status === 204 ? null : response.json();
}

export const api = async (path, options = {}) => parsed(await asked(path, options), options.as);

const longestLine = 1 << 20;

export async function* lines(path, options = {}) {
  const response = await asked(path, options);
  options.opened?.();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      options.heard?.();
      const all = (rest + (done ? "\n" : value)).split("\n");
      rest = all.pop();
      if (rest.length > longestLine) throw new Error("a line of the stream is too long");
      for (const line of all) if (line.trim()) yield JSON.parse(line);
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

export function follow(path, { item, state, error, idle = 40 }) {
  let stopped = false;
  let attempt = 0;
  let current;
  // What was open before may be dead without an end.
  const again = () => current?.abort();
  returns.add(again);
  (async () => {
    while (!stopped) {
      state?.("connecting");
      const connection = (current = new AbortController());
      let timer;
      // A connection can be dead without an end: the stream promises a sign of life.
      const heard = () => {
        clearTimeout(timer);
        timer = setTimeout(() => connection.abort(), idle * 1000);
      };
      const opened = () => {
        attempt = 0;
        heard();
        state?.("live");
      };
      try {
        for await (const one of lines(path, { signal: connection.signal, opened, heard })) {
          if (stopped) return;
          item(one);
        }
      } catch (problem) {
        if (!stopped && problem.status >= 400 && problem.status < 500 && problem.status !== 429) {
          stopped = true;
          state?.("lost");
          error?.(problem);
        }
      } finally {
        clearTimeout(timer);
      }
      if (stopped) return;
      state?.("lost");
      attempt += 1;
      await untilReturn(Math.min(10_000, 400 * 2 ** attempt) * (0.5 + Math.random() / 2));
    }
  })();
  return () => {
    stopped = true;
    returns.delete(again);
    current?.abort();
  };
}

// Whether the gateway answers

const beat = 1000;
const longestSilence = 2000;
let [heardAt, gone, isAsking] = [performance.now(), false, false];
const returns = new Set();
export const onReturn = (callback) => returns.add(callback);
export const isGone = () => gone;

function heard() {
  heardAt = performance.now();
  if (!gone) return;
  gone = false;
  document.body.classList.remove("stale");
  banner("gateway", null);
  announce("The gateway answers again");
  for (const callback of returns) callback();
}

async function ask() {
  isAsking = true;
  try {
    const response = await fetch("/livez", { cache: "no-store", redirect: "error", signal: AbortSignal.timeout(longestSilence) });
    // Read to its end: a body that nobody reads keeps its connection.
    await response.text();
    if (response.ok) heard();
  } catch {
    // Not there: it is told after a while.
  }
  isAsking = false;
}

// A while, or until the gateway is back.
export function untilReturn(milliseconds) {
  return new Promise((resolve) => {
    const done = () => {
      returns.delete(done);
      resolve();
    };
    returns.add(done);
    setTimeout(done, milliseconds);
  });
}

function watchGateway() {
  let before = performance.now();
  setInterval(() => {
    const now = performance.now();
    // A tab in the background, or a computer that slept, heard nothing because it did not listen.
    if (document.hidden || now - before > beat) heardAt = Math.max(heardAt, now - beat);
    before = now;
    if (document.hidden) return;
    if (!gone && now - heardAt > longestSilence) {
      gone = true;
      document.body.classList.add("stale");
      const at = new Date(Date.now() - (now - heardAt)).toLocaleTimeString("en-GB");
      banner("gateway", `The gateway does not answer. What stands here is from ${at}; trying again.`);
    }
    if (!isAsking && now - heardAt >= beat) ask();
  }, 200);
}

// Who is here

export const me = () => person;

export function onSignIn(callback) {
  listeners.add(callback);
  if (person) callback(person);
}

function entered(found) {
  person = found;
  if (payer === null) showCredit(found.account ?? found.payer ?? null);
  header();
  for (const listener of listeners) listener(found);
  return found;
}

// One sign-in at a time, however many requests wait for it.
function signIn(problem) {
  signingIn ??= enter(problem).finally(() => (signingIn = null));
  return signingIn;
}

async function enter(problem) {
  if (problem.body?.development) {
    try {
      return entered(await parsed(await request("/v1/sign-in", { method: "POST" })));
    } catch {
      // The gateway changed its mind: then a key is asked for.
    }
  }
  const wasHere = person !== null;
  person = null;
  header();
  return entered(await askForKey(wasHere));
}

function askForKey(wasHere) {
  return new Promise((resolve) => {
    const key = element("input", { id: "sign-in-key", type: "password", autocomplete: "current-password", "aria-describedby": "sign-in-hint" });
    const answer = element("div", { role: "alert" });
    const button = element("button", { class: "primary", type: "submit" }, "Sign in");
    async function submit(event) {
      event.preventDefault();
      button.disabled = true;
      try {
        const value = key.value.trim();
        // Other characters cannot stand in a header, and no key has them.
        if (!/^[!-~]+$/.test(value)) throw new Problem(401, {});
        const found = await parsed(await request("/v1/sign-in", { method: "POST", headers: { Authorization: `Bearer ${value}` } }));
        panel.remove();
        document.body.classList.remove("signed-out");
        announce("Signed in");
        resolve(found);
      } catch (error) {
        fill(answer, problemBox(error.status !== 401 ? error : new Problem(401, {
          title: "The gateway does not know this key", fix: "Paste the whole key of an operator or of an account's owner",
        })));
        button.disabled = false;
        key.select();
      }
    }
    const panel = element("section", { class: "card stack sign-in", "aria-labelledby": "sign-in-title" },
      element("h1", { id: "sign-in-title" }, wasHere ? "Your session has ended" : "Sign in"),
      element("form", { class: "stack", onsubmit: submit },
        element("div", { class: "field" },
          element("label", { for: "sign-in-key" }, "Key"), key,
          element("p", { class: "hint", id: "sign-in-hint" }, wasHere
            ? "Enter the key again to go on; what you were doing is kept."
            : "Of an operator or of an account's owner, from the gateway's configuration. It becomes a cookie; this page keeps it nowhere.")),
        answer, element("div", {}, button)));
    // Before the first sign-in the page has nothing to show.
    if (!wasHere) document.body.classList.add("signed-out");
    document.querySelector("main").prepend(panel);
    key.focus();
  });
}

async function signOut() {
  try {
    await request("/v1/sign-in", { method: "DELETE" });
  } catch (error) {
    if (error.status !== 401) return banner("sign-out", error.title ?? error.message);
  }
  location.assign("/");
}

export async function start(name) {
  here = name;
  header();
  watchGateway();
  for (let attempt = 0; ; attempt++) {
    try {
      // Unlike GET /v1/me this is no error where nobody is signed in, and the browser's console stays empty.
      const visitor = await parsed(await request("/v1/sign-in"));
      banner("start", null);
      return visitor.me ? entered(visitor.me) : signIn({ body: visitor });
    } catch (error) {
      if (!gone) banner("start", `${error.title ?? error.message}. Trying again…`);
      await pause(Math.min(8000, 500 * 2 ** attempt));
    }
  }
}

// The header

const creditNode = element("a", { class: "credit small num", href: "/account", hidden: true });
let [payer, credit] = [null, null];

function drawCredit() {
  creditNode.hidden = credit === null;
  if (credit === null) return;
  fill(creditNode, element("span", { class: "muted wide-only" }, "Credit "), element("strong", {}, money(credit.available, credit.currency)));
  creditNode.title = `Available to ${payer}: what is booked without what is held for calls`;
}

async function readCredit() {
  if (payer === null || document.hidden || gone) return;
  const asked = payer;
  const found = await api(`/v1/accounts/${encodeURIComponent(asked)}`).catch(() => null);
  // Meanwhile somebody else may pay.
  if (!found || asked !== payer) return;
  credit = found;
  drawCredit();
}

export function showCredit(account) {
  if (account !== payer) credit = null;
  payer = account;
  return readCredit();
}

onDecimals(drawCredit);
onReturn(readCredit);
setInterval(readCredit, 3000);

const themes = ["auto", "light", "dark"];

function themeButton() {
  const { dataset } = document.documentElement;
  const label = element("span", {}, dataset.theme ?? "auto");
  function change() {
    const theme = themes[(themes.indexOf(label.textContent) + 1) % themes.length];
    if (theme === "auto") delete dataset.theme;
    else dataset.theme = theme;
    try {
      localStorage.setItem("landline.theme", theme);
    } catch {
      // Not kept, but it holds for this page.
    }
    label.textContent = theme;
  }
  return element("button", { class: "quiet slim", type: "button", onclick: change }, element("span", { class: "wide-only" }, "Theme: "), label);
}

function header() {
  let top = document.querySelector(".top");
  if (!top) {
    top = element("header", { class: "top" });
    document.querySelector("main").before(element("a", { class: "skip", href: "#main" }, "Skip to the page"), top);
  }
  const known = person ? pages.filter(([name]) => name !== "trunks" || person.role === "operator") : [];
  const isKnown = person && !person.development;
  fill(top, element("div", {},
    element("a", { class: "brand", href: "/" }, element("img", { src: "/pages/icon.svg", alt: "", width: "28", height: "28" }), "Landline"),
    element("nav", { "aria-label": "Pages" }, known.map(([name, path, title]) =>
      element("a", { href: path, "aria-current": name === here && "page" }, title))),
    element("div", { class: "who" },
      person && creditNode,
      person && element("span", { class: "badge info" }, person.environment),
      isKnown && element("span", { class: "small muted break" }, `${person.account ?? person.actor} (${person.role})`),
      themeButton(),
      isKnown && element("button", { class: "quiet slim", type: "button", onclick: signOut }, "Sign out"))));
}

export function banner(name, text) {
  const id = `banner-${name}`;
  let node = document.getElementById(id);
  if (text === null) return node?.remove();
  if (!node) {
    node = element("div", { class: "banner", id, role: "status" });
    document.querySelector("main").before(node);
  }
  // A live region speaks of what changes after it is there.
  if (node.textContent !== text) node.textContent = text;
}

// What was charged for a call whose end nobody told: in its record, or of a gateway that was killed in the ledger alone.
// → { cost_micro, billed_seconds, currency }, null where it is not known yet
export async function charged(id, account) {
  const record = await api(`/v1/calls/${encodeURIComponent(id)}`).catch((error) => {
    if (error.status !== 404) throw error;
  });
  if (record?.ended_at) return Number.isFinite(record.cost_micro) ? record : null;
  const path = `/v1/accounts/${encodeURIComponent(account)}`;
  const [{ entries }, { open_calls: open, currency }] = await Promise.all([api(`${path}/history?limit=50`), api(path)]);
  const charge = entries.find((entry) => entry.call === id && entry.kind === "call");
  if (charge) return { cost_micro: -charge.amount_micro, billed_seconds: charge.billed_seconds, currency };
  // A hold that was given back leaves no entry.
  return open === 0 ? { cost_micro: 0, currency } : null;
}

// Parts

export function confirmed(title, text, word, other = "Cancel") {
  return new Promise((resolve) => {
    const action = (answer, name, label) =>
      element("button", { type: "button", class: name, onclick: () => dialog.close(answer) }, label);
    const dialog = element("dialog", { "aria-labelledby": "confirm-title" }, element("h2", { id: "confirm-title" }, title),
      element("p", {}, text), element("div", { class: "row" }, action("yes", "primary", word), action("", null, other)));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.querySelector("main").append(dialog);
    dialog.showModal();
  });
}

export function problemBox(error) {
  return element("div", { class: "problem" },
    element("p", {}, element("strong", {}, error.title ?? error.message)),
    error.title && error.message !== error.title && element("p", {}, error.message),
    error.fix && element("p", {}, "What to do: ", error.fix),
    error.code && error.status !== 0 && element("p", { class: "small" }, element("a", { href: `/errors/${encodeURIComponent(error.code)}` }, error.code)));
}

const regions = {};

export function announce(text, now = false) {
  const kind = now ? "assertive" : "polite";
  if (!regions[kind]) document.body.append(regions[kind] = element("div", { class: "visually-hidden", "aria-live": kind }));
  regions[kind].textContent = "";
  // The same text twice is two announcements.
  setTimeout(() => (regions[kind].textContent = text), 50);
}

export function tabs(list, chosen) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  function choose(tab) {
    for (const one of all) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
    }
    chosen(tab);
  }
  list.addEventListener("click", (event) => {
    const tab = event.target.closest('[role="tab"]');
    if (tab) choose(tab);
  });
  list.addEventListener("keydown", (event) => {
    const index = all.indexOf(document.activeElement);
    const next = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[event.key];
    if (index < 0 || next === undefined) return;
    event.preventDefault();
    const tab = all.at(next % all.length);
    tab.focus();
    choose(tab);
  });
  choose(all.find((tab) => tab.getAttribute("aria-selected") === "true") ?? all[0]);
}

export function copyButton(read, label = "Copy") {
  const button = element("button", { class: "slim", type: "button", onclick: copy }, label);
  async function copy() {
    try {
      await navigator.clipboard.writeText(read());
      button.textContent = "Copied";
    } catch {
      // Without a secure context there is no clipboard.
      button.textContent = "Select and copy by hand";
    }
    announce(button.textContent);
    setTimeout(() => (button.textContent = label), 2000);
  }
  return button;
}
