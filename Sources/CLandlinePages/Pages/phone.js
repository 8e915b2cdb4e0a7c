// The page of the phone: registers it, and takes a call from the form to its end.
import { api, announce, banner, element, fill, onSignIn, problemBox, start } from "/pages/shell.js";
import { dialForm } from "/pages/phone-dial.js";
import { showCall, showCode, showMistake, showResult } from "/pages/phone-call.js";
import { chooseMicrophone, closeMicrophone, openMicrophone, wakeSound } from "/pages/phone-sound.js";
import { Landline } from "/landline.js";

const byID = (id) => document.getElementById(id);
const badges = {
  idle: ["", "not registered"], connecting: ["info", "registering"], ready: ["good", "ready"],
  reconnecting: ["warn", "reconnecting"], stopped: ["bad", "not registered"],
};

let landline = null;
let registration = null;
let payer = null;
let isBusy = false;

function show(state) {
  const [tone, words] = badges[state] ?? badges.idle;
  const badge = byID("registration");
  badge.className = `badge ${tone}`;
  badge.dataset.state = state;
  badge.textContent = state === "ready" ? `ready as ${registration.user}, ${registration.account} pays` : words;
  banner("connection", state === "reconnecting"
    ? "The connection to the gateway is lost. Reconnecting; a call that is up goes on for half a minute." : null);
}

function showTrouble(error, repeat) {
  fill(byID("trouble"), element("div", { class: "stack tight" }, problemBox(error),
    repeat && element("div", {}, element("button", { type: "button", class: "slim", onclick: repeat }, "Try again"))));
}

// The telephone of this page

const askRegistration = () => api("/v1/phone-registrations", { method: "POST", body: payer ? { account: payer } : {} });

async function register() {
  fill(byID("trouble"));
  show("connecting");
  try {
    registration = await askRegistration();
    let token = registration.token;
    landline?.stop();
    const mine = new Landline({
      applicationKey: registration.application_key, user: registration.user, device: registration.device,
      // Each registration wants a token of its own.
      credentials: async () => {
        const fresh = token ?? (await askRegistration()).token;
        token = null;
        return { token: fresh };
      },
    });
    landline = mine;
    mine.addEventListener("state", () => {
      if (landline !== mine) return;
      show(mine.state);
      if (mine.state === "stopped" && mine.failure) showTrouble(mine.failure, register);
    });
    await mine.connect();
    show(mine.state);
  } catch (error) {
    show("stopped");
    showTrouble(error, register);
  }
}

function explainAbsence(person) {
  const account = person.account ?? "ACCOUNT";
  show("idle");
  byID("dial").hidden = true;
  fill(byID("trouble"), element("div", { class: "card stack" },
    element("h2", {}, "There is no phone here yet"),
    element("p", {}, `This page calls as an application, and environment ${person.environment} has none ${
      person.account ? `whose calls account ${person.account} pays` : "with an account"}. Put one into the gateway's configuration, load it with SIGHUP, and come back:`),
    element("pre", { class: "code", tabindex: "0" }, `environments:
  ${person.environment}:
    applications:
      phone:
        key: ${account.toLowerCase()}-phone
        secret-file: phone-secret
        account: ${account}
`),
    element("p", {}, element("a", { href: "/account" }, "See the account instead"))));
}

// Calls

async function place(order) {
  if (isBusy) return;
  isBusy = true;
  performance.mark("landline.click");
  wakeSound();
  byID("result").hidden = true;
  byID("call").disabled = true;
  let stream = null;
  try {
    if (landline?.state !== "ready") await landline?.connect();
    const opened = await openMicrophone(byID("microphone").value);
    stream = opened.stream ?? null;
    byID("microphone-hint").textContent = opened.trouble ?? "";
    order.listens = !stream;
    const options = { headers: order.headers, anonymous: order.anonymous, microphone: stream ?? false };
    if (order.callerNumber) options.callerNumber = order.callerNumber;
    const call = landline.call(order.kind, order.target, options);
    byID("dial").hidden = true;
    showCode(order, registration);
    const { endedHere } = await showCall(call, order, opened);
    byID("dial").hidden = false;
    showResult(call, order, { endedHere, again: () => place(order) });
    // Names of devices are known once the microphone was allowed, and the credit has changed.
    listMicrophones();
    form.refresh();
  } catch (error) {
    byID("dial").hidden = false;
    showMistake(error);
  } finally {
    closeMicrophone(stream);
    byID("call").disabled = false;
    isBusy = false;
  }
}

const form = dialForm({ account: () => payer ?? registration?.account ?? null, place });
const listMicrophones = chooseMicrophone(byID("microphone"), (text) => {
  byID("microphone-hint").textContent = text;
});

const person = await start("phone");

onSignIn((now) => {
  // Somebody else's session: nothing on this page is theirs.
  if (now.actor !== person.actor || now.environment !== person.environment) location.reload();
});

async function offerPayers() {
  try {
    const { accounts } = await api("/v1/accounts");
    if (accounts.length < 2) return;
    const select = byID("payer");
    select.replaceChildren(...accounts.map(({ name }) => new Option(name, name)));
    select.value = registration.account;
    byID("payer-field").hidden = false;
    select.addEventListener("change", async () => {
      payer = select.value;
      announce(`${payer} pays`);
      await register();
      form.refresh();
    });
  } catch {
    // The account of the registration pays.
  }
}

if (person.phone) {
  form.focus();
  await register();
  form.offerSandbox();
  if (person.role === "operator" && registration) offerPayers();
} else {
  explainAbsence(person);
}
