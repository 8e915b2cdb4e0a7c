// What all pages share.
//
//   start(name)            draws the header, signs in, takes the shade from <main>; → me (GET /v1/me). First of all.
//   me()                   who is signed in, as GET /v1/me tells; null before start
//   onSignIn(callback)     called with me after every sign-in, the first too
//   api(path, options)     → parsed JSON, null for 204; throws Problem. options: method, body (made JSON), headers,
//                          signal, as: "text" | "response". An ended session asks for the key and repeats the request.
//   Problem                .status .code .message .fix .retryable .body (problem+json, or the network's failure: status 0)
//   lines(path, options)   async iterator over the objects of one ndjson answer (options as api)
//   follow(path, {item, state, error, idle}) → stop(): the same, connected again and again. state("connecting" | "live" |
//                          "lost"), item(object), error(Problem) ends it
//   element(tag, attributes, …children), graphic(…): nodes without markup; attributes: onclick: function, dataset: {},
//                          true, false and null as one hopes; children: nodes, texts, arrays, null
//   fill(node, …children)  puts these in place of what is there
//   problemBox(error)      an error as a .problem with its fix
//   money(value, currency) exact: a decimal text, or whole micro-units; money("1.500000", "EUR") → "1.50 EUR"
//   when(text), moment(text)     local date and time as text; as a <time> with UTC in its title
//   duration(seconds)      "1:05"; spoken(seconds) "1 min 5 s"
//   announce(text, now)    tells screen readers; now = at once
//   tabs(list, chosen)     makes [role=tab] buttons of a [role=tablist] work; chosen(tab) after each choice; → choose(tab)
//   copyButton(read)       a button that copies read()
//   banner(name, text)     a line above the page; null takes it away

const pages = [
  ["phone", "/", "Phone"],
  ["account", "/account", "Account"],
  ["calls", "/calls", "Calls"],
  ["trunks", "/trunks", "Trunks"],
];
const svgNamespace = "http://www.w3.org/2000/svg";

let person = null;
let signingIn = null;
let here = "";
const listeners = new Set();

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
  build(document.createElementNS(svgNamespace, tag), attributes, children);

export function fill(node, ...children) {
  node.replaceChildren();
  return build(node, null, children);
}

// Texts

export function money(value, currency) {
  if (value === null || value === undefined) return "–";
  let text = String(value);
  if (typeof value !== "string") {
    const micro = BigInt(value);
    const digits = (micro < 0n ? -micro : micro).toString().padStart(7, "0");
    text = `${micro < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
  }
  const parts = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text);
  if (!parts) return currency ? `${text} ${currency}` : text;
  const whole = parts[2].replace(/\B(?=(\d{3})+$)/g, ",");
  const fraction = (parts[3] ?? "").replace(/0+$/, "").padEnd(2, "0");
  return `${parts[1] ? "−" : ""}${whole}.${fraction}${currency ? ` ${currency}` : ""}`;
}

const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function when(text) {
  const time = new Date(text ?? NaN);
  return Number.isNaN(time.getTime()) ? "–" : clock.format(time);
}

export const moment = (text) => element("time", { datetime: text, title: `${text} (UTC)` }, when(text));

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const all = Math.max(0, Math.floor(seconds));
  const two = (number) => String(number).padStart(2, "0");
  const minutes = Math.floor(all / 60);
  if (minutes < 60) return `${minutes}:${two(all % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(all % 60)}`;
}

export function spoken(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 10 && seconds % 1) return `${seconds.toFixed(1)} s`;
  const all = Math.max(0, Math.floor(seconds));
  if (all < 60) return `${all} s`;
  const minutes = Math.floor(all / 60);
  if (minutes < 60) return all % 60 ? `${minutes} min ${all % 60} s` : `${minutes} min`;
  const hours = `${Math.floor(minutes / 60).toLocaleString("en")} h`;
  return minutes % 60 ? `${hours} ${minutes % 60} min` : hours;
}

// Requests

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `The gateway answered ${status}`);
    this.name = "Problem";
    this.status = status;
    this.code = body.code ?? null;
    this.title = body.title ?? null;
    this.fix = body.fix ?? null;
    this.retryable = body.retryable ?? false;
    this.body = body;
  }
}

async function request(path, { method = "GET", body, headers, signal } = {}) {
  const all = { Accept: "application/json, application/x-ndjson, application/problem+json", ...headers };
  if (body !== undefined) all["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method, headers: all, signal, body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin", cache: "no-store", redirect: "error",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, {
      code: "network.unreachable", title: "The gateway does not answer", retryable: true,
      fix: "Check that it runs and that this computer is connected",
    });
  }
  if (response.ok) return response;
  let problem = {};
  try {
    problem = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
  }
  throw new Problem(response.status, problem);
}

async function asked(path, options) {
  try {
    return await request(path, options);
  } catch (error) {
    // Nothing was carried out: after a sign-in the same request may be made again.
    if (error.status !== 401) throw error;
    await signIn(error);
    return request(path, options);
  }
}

async function parsed(response, as) {
  if (as === "response") return response;
  if (as === "text") return response.text();
  return response.status === 204 ? null : response.json();
}

export async function api(path, options = {}) {
  return parsed(await asked(path, options), options.as);
}

const longestLine = 1 << 20;

export async function* lines(path, options = {}) {
  const response = await asked(path, options);
  options.opened?.();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      options.heard?.();
      rest += value;
      if (rest.length > longestLine) throw new Error("a line of the stream is too long");
      const whole = rest.split("\n");
      rest = whole.pop();
      for (const line of whole) if (line.trim()) yield JSON.parse(line);
    }
    if (rest.trim()) yield JSON.parse(rest);
  } finally {
    reader.cancel().catch(() => {});
  }
}

export function follow(path, { item, state, error, idle = 40 }) {
  let stopped = false;
  let attempt = 0;
  let current = null;
  const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  (async () => {
    while (!stopped) {
      state?.("connecting");
      current = new AbortController();
      const { signal } = current;
      let timer;
      // A connection can be dead without an end: the stream promises a sign of life.
      const heard = () => {
        clearTimeout(timer);
        timer = setTimeout(() => current.abort(), idle * 1000);
      };
      try {
        const opened = () => {
          attempt = 0;
          heard();
          state?.("live");
        };
        for await (const one of lines(path, { signal, opened, heard })) {
          if (stopped) return;
          item(one);
        }
      } catch (problem) {
        if (stopped) return;
        const isFinal = problem instanceof Problem && problem.status >= 400 && problem.status < 500 && problem.status !== 429;
        if (isFinal) {
          state?.("lost");
          error?.(problem);
          return;
        }
      } finally {
        clearTimeout(timer);
      }
      if (stopped) return;
      state?.("lost");
      attempt += 1;
      await wait(Math.min(10_000, 400 * 2 ** Math.min(attempt, 5)) * (0.5 + Math.random() / 2));
    }
  })();
  return () => {
    stopped = true;
    current?.abort();
  };
}

// Who is here

export const me = () => person;

export function onSignIn(callback) {
  listeners.add(callback);
  if (person) callback(person);
}

function entered(found) {
  person = found;
  header();
  for (const listener of listeners) listener(found);
  return found;
}

// One sign-in at a time, however many requests wait for it.
function signIn(problem) {
  signingIn ??= enter(problem).finally(() => {
    signingIn = null;
  });
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
    const key = element("input", {
      id: "sign-in-key", type: "password", autocomplete: "current-password", required: true, spellcheck: "false",
      "aria-describedby": "sign-in-hint",
    });
    const answer = element("div", { role: "alert" });
    const button = element("button", { class: "primary", type: "submit" }, "Sign in");
    const panel = element(
      "section", { class: "card stack sign-in", "aria-labelledby": "sign-in-title" },
      element("h1", { id: "sign-in-title" }, wasHere ? "Your session has ended" : "Sign in"),
      element("form", {
        class: "stack",
        onsubmit: async (event) => {
          event.preventDefault();
          button.disabled = true;
          try {
            const value = key.value.trim();
            if (!/^[\x21-\x7e]+$/.test(value)) {
              throw new Problem(400, { title: "This is no key", fix: "A key has letters, digits and signs, and no spaces" });
            }
            const headers = { Authorization: `Bearer ${value}` };
            const found = await parsed(await request("/v1/sign-in", { method: "POST", headers }));
            panel.remove();
            document.body.classList.remove("signed-out");
            announce("Signed in");
            resolve(found);
          } catch (error) {
            if (error.status === 401) {
              error = new Problem(401, { title: "The gateway does not know this key", fix: "Paste the whole key of an operator or of an account's owner" });
            }
            fill(answer, problemBox(error));
            button.disabled = false;
            key.select();
          }
        },
      },
      element("input", { type: "text", autocomplete: "username", value: "landline", hidden: true, tabindex: "-1", "aria-label": "user" }),
      element("div", { class: "field" },
        element("label", { for: "sign-in-key" }, "Key"), key,
        element("p", { class: "hint", id: "sign-in-hint" },
          wasHere ? "Enter the key again to go on; what you were doing is kept." :
            "Of an operator or of the owner of an account, from the gateway's configuration. It is exchanged for a cookie and kept nowhere in this browser.")),
      answer, element("div", {}, button)));
    const main = document.querySelector("main");
    // Before the first sign-in the page has nothing to show.
    if (!wasHere) document.body.classList.add("signed-out");
    main.prepend(panel);
    if (wasHere) announce("Your session has ended. Enter the key again to go on.", true);
    key.focus();
  });
}

async function signOut() {
  try {
    await request("/v1/sign-in", { method: "DELETE" });
  } catch (error) {
    if (error.status !== 401) {
      announce(error.message, true);
      return;
    }
  }
  location.assign("/");
}

export async function start(name) {
  here = name;
  header();
  for (let attempt = 0; ; attempt++) {
    try {
      const found = await parsed(await request("/v1/me"));
      banner("gateway", null);
      return entered(found);
    } catch (error) {
      if (error.status === 401) {
        banner("gateway", null);
        return signIn(error);
      }
      banner("gateway", `${error.title ?? error.message}. Trying again…`);
      await new Promise((resolve) => setTimeout(resolve, Math.min(8000, 500 * 2 ** attempt)));
    }
  }
}

// The header

const themes = ["auto", "light", "dark"];

function themeButton() {
  let theme = document.documentElement.dataset.theme ?? "auto";
  const label = element("span", {}, theme);
  return element("button", {
    class: "quiet slim", type: "button",
    onclick: () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      if (theme === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = theme;
      try {
        if (theme === "auto") localStorage.removeItem("landline.theme");
        else localStorage.setItem("landline.theme", theme);
      } catch {
        // Not kept, but it holds for this page.
      }
      label.textContent = theme;
    },
  }, element("span", { class: "visually-hidden" }, "Theme: "), label);
}

function header() {
  let top = document.querySelector(".top");
  if (!top) {
    top = element("header", { class: "top" });
    document.querySelector("main").before(element("a", { class: "skip", href: "#main" }, "Skip to the page"), top);
  }
  const known = person ? pages.filter(([name]) => name !== "trunks" || person.role === "operator") : [];
  const label = person && (person.role === "owner" ? person.account : person.actor);
  fill(top, element("div", {},
    element("a", { class: "brand", href: "/" },
      element("img", { src: "/pages/icon.svg", alt: "", width: "28", height: "28" }), "Landline"),
    element("nav", { "aria-label": "Pages" }, known.map(([name, path, title]) =>
      element("a", { href: path, "aria-current": name === here ? "page" : null }, title))),
    element("div", { class: "who" },
      person && element("span", { class: "badge info", title: "environment" }, person.environment),
      person && !person.development && element("span", { class: "small muted break" }, `${label} (${person.role})`),
      themeButton(),
      person && !person.development && element("button", { class: "quiet slim", type: "button", onclick: signOut }, "Sign out"))));
}

export function banner(name, text) {
  const id = `banner-${name}`;
  const old = document.getElementById(id);
  if (text === null) {
    old?.remove();
    return;
  }
  if (old) {
    if (old.textContent !== text) old.textContent = text;
    return;
  }
  const node = element("div", { class: "banner", id, role: "status" });
  document.querySelector("main").before(node);
  // A live region speaks of what changes after it is there.
  node.textContent = text;
}

// Parts

export function problemBox(error) {
  const code = error instanceof Problem ? error.code : null;
  return element("div", { class: "problem" },
    element("p", {}, element("strong", {}, error.title ?? error.message)),
    error.title && error.message !== error.title && element("p", {}, error.message),
    error.fix && element("p", {}, "What to do: ", error.fix),
    code && error.status > 0 && element("p", { class: "small" }, element("a", { href: `/errors/${encodeURIComponent(code)}` }, code)));
}

const regions = {};

export function announce(text, now = false) {
  const kind = now ? "assertive" : "polite";
  if (!regions[kind]) {
    regions[kind] = element("div", { class: "visually-hidden", "aria-live": kind, "aria-atomic": "true" });
    document.body.append(regions[kind]);
  }
  const region = regions[kind];
  region.textContent = "";
  // The same text twice is two announcements.
  setTimeout(() => {
    region.textContent = text;
  }, 50);
}

export function tabs(list, chosen) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  function choose(tab, focus = false) {
    for (const one of all) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
    }
    if (focus) tab.focus();
    chosen(tab);
  }
  list.addEventListener("click", (event) => {
    const tab = event.target.closest('[role="tab"]');
    if (tab) choose(tab);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const index = all.indexOf(document.activeElement);
    if (index < 0) return;
    let next = null;
    if (step) next = all[(index + step + all.length) % all.length];
    else if (event.key === "Home") next = all[0];
    else if (event.key === "End") next = all[all.length - 1];
    if (!next) return;
    event.preventDefault();
    choose(next, true);
  });
  choose(all.find((tab) => tab.getAttribute("aria-selected") === "true") ?? all[0]);
  return choose;
}

export function copyButton(read, label = "Copy") {
  const button = element("button", {
    class: "slim", type: "button",
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(read());
        button.textContent = "Copied";
      } catch {
        // Without a secure context there is no clipboard.
        button.textContent = "Select and copy by hand";
      }
      announce(button.textContent);
      setTimeout(() => {
        button.textContent = label;
      }, 2000);
    },
  }, label);
  return button;
}
