// The page of the phone: registers it, and takes a call from the form to its end.
import { announce, api, banner, confirmed, element, fill, onSignIn, problemBox, showCredit, start } from "/pages/shell.js";
import { dialForm } from "/pages/phone-dial.js";
import { showCall, showCode, showResult } from "/pages/phone-call.js";
import { chooseMicrophone, microphone } from "/pages/phone-sound.js";
import { chooseName, doorbell, neighbours } from "/pages/phone-users.js";
import { Landline } from "/landline.js";

const byID = (id) => document.getElementById(id);
const tones = { ready: "good", connecting: "info", reconnecting: "warn", stopped: "bad" };

let landline = null;
let registration = null;
let payer = null;
let isBusy = false;
// The call that is up, and when it is over.
let current = null;
let idle = Promise.resolve();
// Whom a development gateway lets this page be, and what looks who else is there.
let own = null;
let look = null;
// A tab is a device of its own: each of them rings.
const tab = Math.floor(Math.random() * 2 ** 32).toString(16);
// Why this person is not heard, once they chose to listen only.
let accepted = null;

function show(state) {
  const badge = byID("registration");
  badge.className = `badge ${tones[state] ?? ""}`;
  badge.dataset.state = state;
  badge.textContent = state === "ready" ? `ready as ${registration.user}, ${registration.account} pays`
    : { connecting: "registering", reconnecting: "reconnecting" }[state] ?? "not registered";
  banner("connection", state === "reconnecting"
    ? "The connection to the gateway is lost. Reconnecting; a call that is up goes on for half a minute." : null);
}

function stopped(error) {
  show("stopped");
  fill(byID("trouble"), problemBox(error),
    element("div", {}, element("button", { type: "button", class: "slim", onclick: register }, "Register again")));
}

const ask = () => api("/v1/phone-registrations", { method: "POST", body: { ...(payer && { account: payer }), ...(own && { user: own }) } });

async function register() {
  fill(byID("trouble"));
  show("connecting");
  try {
    registration = await ask();
    showCredit(registration.account);
    form.refresh();
    let { token } = registration;
    landline?.stop();
    const mine = (landline = new Landline({
      applicationKey: registration.application_key, user: registration.user, device: `${registration.device}-${tab}`,
      capabilities: ["calling"],
      // Each registration wants a token of its own.
      async credentials() {
        const fresh = token ?? (await ask()).token;
        token = null;
        return { token: fresh };
      },
    }));
    mine.addEventListener("state", () => {
      if (landline !== mine) return;
      show(mine.state);
      if (mine.state === "stopped" && mine.failure) stopped(mine.failure);
    });
    mine.addEventListener("draining", () => banner("draining", "The gateway is about to stop and takes no new calls."));
    mine.on("incoming", bell.ring);
    mine.on("missed", bell.missed);
    await mine.connect();
    await mine.listen();
    if (globalThis.Notification?.permission === "granted") mine.showNotifications();
    byID("notify").hidden = globalThis.Notification?.permission !== "default";
    banner("draining", null);
    show(mine.state);
    await look?.();
  } catch (error) {
    stopped(error);
  }
}

byID("notify").addEventListener("click", async () => {
  const may = await landline.showNotifications();
  byID("notify").hidden = true;
  announce(may ? "Calls are shown while you look elsewhere" : "The browser shows none", true);
});

function explainAbsence({ account, environment }) {
  const name = account ?? "ACCOUNT";
  show("idle");
  byID("dial").hidden = true;
  fill(byID("trouble"), element("div", { class: "card stack" },
    element("h2", {}, "There is no phone here yet"),
    element("p", {}, `This page calls as an application, and none in ${environment} is paid by ${
      account ?? "an account"}. Put one into the gateway's configuration, send SIGHUP, and load this page again:`),
    element("pre", { class: "code", tabindex: "0" },
      `environments:\n  ${environment}:\n    applications:\n      phone:\n        key: ${name.toLowerCase()}-phone\n        secret-file: phone-secret\n        account: ${name}\n`)));
}

// One call at a time: work() ends with it.
function occupied(work) {
  isBusy = true;
  idle = work().finally(() => {
    isBusy = false;
    current = null;
  });
  return idle;
}

const place = (order) => (isBusy ? undefined : occupied(() => placed(order)));
const callParty = (kind, target) => place({ kind, target, headers: {}, callerNumber: null, anonymous: false, hint: null });
const callUser = (user) => callParty("user", user);

// Somebody answers: what is up is hung up for it.
async function answer(call) {
  landline.stopPlayingSoundFile();
  if (isBusy) {
    current?.hangUp();
    await idle;
  }
  await occupied(() => answered(call));
}

async function answered(call) {
  const sound = await microphone(byID("microphone").value);
  byID("result").hidden = true;
  call.answer({ microphone: sound.microphone }).catch(() => {});
  const order = { kind: call.from.kind, target: call.from.value || "An anonymous caller", headers: {}, callerNumber: null, anonymous: false, hint: null, isIncoming: true,
    listens: !sound.microphone };
  await shown(call, order, sound);
}

async function shown(call, order, sound) {
  current = call;
  byID("dial").hidden = true;
  const endedHere = await showCall(call, order, sound.trouble);
  byID("dial").hidden = false;
  showCredit(registration.account);
  if (!call.instead) {
    const again = () => place({ ...order, isIncoming: false });
    showResult(call, order, endedHere, registration.account, again);
  }
  // Names of devices are known once the microphone was allowed, and the credit has changed.
  listMicrophones();
  form.refresh();
  if (sound.microphone instanceof MediaStream) for (const track of sound.microphone.getTracks()) track.stop();
  // Both called each other: whoever wanted to speak to somebody speaks to them.
  if (call.instead && call.instead.state !== "ended") await answered(call.instead);
}

async function placed(order) {
  performance.mark("landline.click");
  const sound = await microphone(byID("microphone").value);
  order.listens = !sound.microphone;
  if (order.listens && accepted !== sound.trouble) {
    if (!await confirmed("Nobody will hear you", `${sound.trouble} You can listen to the other side without being heard.`, "Listen only")) {
      return byID("target").focus();
    }
    accepted = sound.trouble;
  }
  byID("result").hidden = true;
  // Not before the call needs it: a phone that was told to stop registers anew.
  if (!landline || landline.state === "stopped") await register();
  if (landline && landline.state !== "stopped") {
    const { headers, callerNumber, anonymous } = order;
    const call = landline.call(order.kind, order.target, { headers, anonymous, ...(callerNumber && { callerNumber }), microphone: sound.microphone });
    showCode(order, registration);
    await shown(call, order, sound);
  } else if (sound.microphone instanceof MediaStream) for (const track of sound.microphone.getTracks()) track.stop();
}

async function offerPayers() {
  const { accounts } = await api("/v1/accounts");
  if (accounts.length < 2) return;
  const select = byID("payer");
  select.replaceChildren(...accounts.map(({ name }) => new Option(name)));
  select.value = registration.account;
  byID("payer-field").hidden = false;
  select.addEventListener("change", async () => {
    payer = select.value;
    await register();
    announce(`${payer} pays`);
    form.refresh();
  });
}

// A call ends with its page: leaving asks, and links open beside.
const leaves = (event) => {
  if (!isBusy) return;
  event.preventDefault();
  // For browsers that look at nothing else.
  event.returnValue = "";
};
addEventListener("beforeunload", leaves);
document.addEventListener("click", ({ target }) => {
  const link = target.closest?.("a[href]");
  if (!isBusy || !link || link.target || link.getAttribute("href").startsWith("#")) return;
  link.target = "_blank";
  link.rel = "noopener";
  setTimeout(() => link.removeAttribute("target"));
}, true);

const bell = doorbell({
  answer, callBack: ({ kind, value }) => callParty(kind, value), play: () => !current && landline.startPlayingTone("ringtone").catch(() => {}),
  stop: () => landline.stopPlayingSoundFile(),
});
const form = dialForm({
  account: () => payer ?? registration?.account, place,
  planned: (order) => registration && !isBusy && showCode(order, registration),
});
const listMicrophones = chooseMicrophone(byID("microphone"), (text) => (byID("microphone-hint").textContent = text));
const person = await start("phone");

onSignIn((now) => {
  // Somebody else's session: nothing on this page is theirs.
  if (now.actor !== person.actor || now.environment !== person.environment) location.reload();
});

if (person.phone) {
  byID("target").focus();
  byID("target").select();
  if (person.development && person.role === "operator") {
    own = await chooseName();
    if (own) look = neighbours(own, callUser);
  }
  await register();
  form.offerSandbox(person.development);
  // Without an answer the account of the registration pays.
  if (person.role === "operator" && registration) offerPayers().catch(() => {});
} else {
  explainAbsence(person);
}
