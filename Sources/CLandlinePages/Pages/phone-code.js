// The call just made as a program: Swift, JavaScript, and REST with curl. Secrets are placeholders.

const secret = "YOUR-APPLICATION-SECRET";

// JSON's escapes are JavaScript's as well; a line separator would end a line in an older reader.
const quoted = (text) => JSON.stringify(text).replace(/[\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);

// Swift writes \u{…}; header values hold no control characters, so quotes and backslashes are all there is.
const swiftQuoted = (text) => `"${text.replace(/[\\"]/g, "\\$&")}"`;

const shellQuoted = (text) => `'${text.replace(/'/g, "'\\''")}'`;

function swift({ kind, target, headers, callerNumber, anonymous }, { application_key: key, user }, address) {
  const method = { phone: "callPhoneNumber", sip: "callSIP", user: "callUser", conference: "callConference" }[kind];
  const parts = [swiftQuoted(target)];
  const pairs = Object.entries(headers).map(([name, value]) => `${swiftQuoted(name)}: ${swiftQuoted(value)}`);
  if (pairs.length) parts.push(`headers: [${pairs.join(", ")}]`);
  if (callerNumber) parts.push(`callerNumber: ${swiftQuoted(callerNumber)}`);
  if (anonymous) parts.push("isAnonymous: true");
  return `import LandlineClient

let client = try Client(
  applicationKey: ${swiftQuoted(key)}, credentials: .secret("${secret}"),
  environmentHost: ${swiftQuoted(address)}, userID: ${swiftQuoted(user)}, device: "example")
try await client.started()
let call = try client.calls.${method}(${parts.join(", ")})
for await event in call.events {
  print("+\\(event.milliseconds) ms", event.kind)
}
print(call.details.endCause, call.details.cost?.description ?? "without a price")
await client.stop()
`;
}

function javaScript({ kind, target, headers, callerNumber, anonymous, listens }, { application_key: key, user }, origin) {
  const method = { phone: "callPhone", sip: "callSIP", user: "callUser", conference: "callConference" }[kind];
  const options = [];
  if (Object.keys(headers).length) {
    const pairs = Object.entries(headers).map(([name, value]) => `${quoted(name)}: ${quoted(value)}`);
    options.push(`headers: { ${pairs.join(", ")} }`);
  }
  if (callerNumber) options.push(`callerNumber: ${quoted(callerNumber)}`);
  if (anonymous) options.push("anonymous: true");
  options.push(`microphone: ${!listens}`);
  return `import { Landline } from ${quoted(`${origin}/landline.js`)};

// A secret is for trying out: a page that people load gets a signature or a token from your own server.
const landline = new Landline({
  url: ${quoted(`${origin.replace(/^http/, "ws")}/v1/connect`)},
  applicationKey: ${quoted(key)},
  user: ${quoted(user)},
  device: "example",
  credentials: { secret: "${secret}" },
});
await landline.connect();
const call = landline.${method}(${quoted(target)}, { ${options.join(", ")} });
document.querySelector("audio").srcObject = call.remoteStream;
for (const type of ["ringing", "accepted", "price"]) {
  call.addEventListener(type, (event) => console.log(type, event.detail));
}
const summary = await call.ended;
console.log(summary.cause, call.failure?.message ?? "", summary.cost, summary.currency);
landline.stop();
`;
}

function curl({ kind, target, headers, callerNumber, anonymous }, { account }, origin) {
  const body = { account, first: { kind: "phone", target: "YOUR-OWN-NUMBER" }, second: { kind, target } };
  if (callerNumber) body.caller_number = callerNumber;
  if (Object.keys(headers).length) body.headers = headers;
  const notes = ["# Over REST there is no microphone: the gateway calls your own phone first, then joins it with the other side."];
  if (anonymous) notes.push("# REST does not withhold a number; the call of this page did.");
  return `${notes.join("\n")}
curl --fail-with-body ${shellQuoted(`${origin}/v1/calls`)} \\
  -H "Authorization: Bearer $LANDLINE_KEY" \\
  -H "Idempotency-Key: $(uuidgen)" \\
  -H 'Content-Type: application/json' \\
  --data ${shellQuoted(JSON.stringify(body, null, 2))}
`;
}

export function programs(order, registration, origin) {
  const address = origin.replace(/^http/, "ws");
  return [
    { name: "swift", title: "Swift", text: swift(order, registration, address) },
    { name: "javascript", title: "JavaScript", text: javaScript(order, registration, origin) },
    { name: "curl", title: "curl", text: curl(order, registration, origin) },
  ];
}
