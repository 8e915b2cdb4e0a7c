// Calls between users on the phone page: who this page is, who else is there, who calls, and whom one missed.
import { announce, api, element, fill, moment } from "/pages/shell.js";

const byID = (id) => document.getElementById(id);
const title = document.title;
// Who somebody is that tries things out alone: each tab another one.
const names = ["alice", "bob", "carol", "dave", "erin", "frank"];
// Most missed calls that are shown.
const mostMissed = 20;

export const caller = ({ from }) => (from?.name && from.name !== from.value ? `${from.name} (${from.value})` : from?.value || (from?.kind === "anonymous" ? "an anonymous caller" : "somebody"));

// Who stands for a caller over a trunk, in words; nothing where nobody does.
const standing = {
  network: "The carrier says who it is.", A: "Signed: the caller has a right to this number (A).",
  B: "Signed: the carrier knows the caller, and not its right to this number (B).",
  C: "Signed: the carrier knows where the call came in, and no more (C).", failed: "The signature of this caller does not hold",
};
const vouched = ({ from }) => (standing[from?.verified] ?? "") + (from?.verified === "failed" ? `${from.why ? `: ${from.why}` : ""}.` : "");

// Who this tab is

// Whether no other tab of this browser has the name: it is this one's until it is closed. What a page had that was reloaded is
// free in a moment.
const reserve = (name, patience) => new Promise((settle) => {
  if (!navigator.locks) return settle(true);
  const how = patience ? { signal: AbortSignal.timeout(patience) } : { ifAvailable: true };
  navigator.locks.request(`landline phone ${name}`, how, (lock) => {
    settle(lock !== null);
    return lock && new Promise(() => {});
  }).catch(() => settle(false));
});

const isThere = async (name) => (await api(`/v1/users/${encodeURIComponent(name)}`)).presence === "reachable";

// → a name that neither another tab nor another browser has; after a reload it is the same
export async function chooseName() {
  const kept = sessionStorage.getItem("phone-user");
  if (kept && await reserve(kept, 500)) return kept;
  for (const name of [...names, `guest-${Math.floor(Math.random() * 1e6)}`]) {
    if (await isThere(name).catch(() => false) || !await reserve(name)) continue;
    sessionStorage.setItem("phone-user", name);
    return name;
  }
  return null;
}

// Says who this is and whom one could call. call(user) → look(), to be called when somebody may have come or gone
export function neighbours(own, call) {
  const news = new BroadcastChannel("landline phone");
  let round = 0;

  async function look() {
    const mine = ++round;
    const there = await Promise.all(names.map((name) => name !== own && isThere(name).catch(() => false)));
    if (mine !== round) return;
    const found = names.filter((_, index) => there[index]);
    fill(byID("neighbours"),
      element("p", {}, "You are ", element("strong", { id: "own-name" }, own), ". Open ",
        element("a", { href: "/", target: "_blank", rel: "noopener" }, "this address"),
        ` in another tab or browser, where you are somebody else, and call ${own} from there.`),
      found.length > 0 && element("ul", { class: "chips", "aria-label": "Users who are there" }, found.map((name) =>
        element("li", {}, element("button", { type: "button", onclick: () => call(name) }, `Call ${name}`)))));
    byID("neighbours").hidden = false;
  }

  news.onmessage = look;
  addEventListener("focus", look);
  return async () => {
    news.postMessage("look");
    await look();
  };
}

// Who calls

// The calls that ring, and the ones that nobody took. answer(call), callBack({kind, value}) → ring(call), missed(call)
export function doorbell({ answer, callBack, play, stop }) {
  const rows = new Map();

  function changed() {
    byID("incoming").hidden = rows.size === 0;
    const [call] = rows.keys();
    document.title = call ? `${caller(call)} calls – Landline` : title;
    if (call) play();
    else stop();
  }

  function ring(call) {
    const gone = () => {
      const row = rows.get(call);
      if (!row) return;
      rows.delete(call);
      const had = row.contains(document.activeElement);
      row.remove();
      changed();
      // Whoever stood on a button that is gone goes on where the page begins.
      if (had && rows.size === 0) byID("main").focus();
    };
    const name = caller(call);
    const entries = Object.entries(call.headers);
    const row = element("li", { class: "stack tight", dataset: { call: call.id } },
      element("p", { class: "big break" }, `${name} calls${call.videoOffered ? " with video, which this page has not" : ""}`),
      vouched(call) && element("p", { class: "small break" }, vouched(call)),
      entries.length > 0 && element("p", { class: "small mono break" }, entries.map(([key, value]) => `${key}: ${value}`).join(", ")),
      element("div", { class: "row" },
        element("button", { type: "button", class: "primary", "aria-label": `Answer ${name}`, onclick: () => { gone(); answer(call); } }, "Answer"),
        element("button", { type: "button", class: "danger", "aria-label": `Decline ${name}`, onclick: () => { gone(); call.decline(); } }, "Decline"),
        element("button", { type: "button", class: "quiet", onclick: () => { gone(); call.decline({ scope: "device" }); } }, "Not here")));
    rows.set(call, row);
    byID("ringing").append(row);
    changed();
    announce(`${name} calls. The buttons to answer and to decline are at the top of the page.`, true);
    // What somebody types must not answer: the focus stays where it is in use.
    if (document.activeElement === document.body) byID("incoming").focus();
    call.on("accepted", gone);
    call.on("ended", ({ cause }) => {
      if (rows.has(call)) announce(cause === "otherDeviceAnswered" ? "Answered on another device" : `${name} calls no more`);
      gone();
    });
    return gone;
  }

  function missed({ call, from, startedAt }) {
    const list = byID("missed-calls");
    list.prepend(element("li", { class: "spread", dataset: { call } },
      element("span", { class: "break" }, `${caller({ from })}, `, moment(startedAt)),
      from?.value && element("button", { type: "button", class: "slim", "aria-label": `Call ${from.value} back`, onclick: () => callBack(from) }, "Call back")));
    while (list.children.length > mostMissed) list.lastElementChild.remove();
    byID("missed").hidden = false;
    announce(`A call from ${caller({ from })} was missed`);
  }

  return { ring, missed };
}
