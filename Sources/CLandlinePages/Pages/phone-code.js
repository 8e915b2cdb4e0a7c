// The call just made as a program: Swift, JavaScript, and REST with curl. Secrets are placeholders.

const secret = "YOUR-APPLICATION-SECRET";
const methods = { phone: "callPhone", sip: "callSIP", user: "callUser", conference: "callConference" };

// JSON's texts are JavaScript's; Swift's and the shell's are not.
const quoted = JSON.stringify;
const swiftQuoted = (text) => `"${text.replace(/[\\"]/g, "\\$&")}"`;
const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

const pairs = (headers, quote) => Object.entries(headers).map(([name, value]) => `${quote(name)}: ${quote(value)}`).join(", ");

function swift({ kind, target, headers, callerNumber, anonymous }, registration, origin) {
  const method = kind === "phone" ? "callPhoneNumber" : methods[kind];
  const parts = [swiftQuoted(target)];
  if (Object.keys(headers).length) parts.push(`headers: [${pairs(headers, swiftQuoted)}]`);
  if (callerNumber) parts.push(`callerNumber: ${swiftQuoted(callerNumber)}`);
  if (anonymous) parts.push("isAnonymous: true");
  return `import LandlineClient

let client = try Client(
  applicationKey: ${swiftQuoted(registration.application_key)}, credentials: .secret("${secret}"),
  environmentHost: "${origin.replace("http", "ws")}", userID: ${swiftQuoted(registration.user)}, device: "example",
  capabilities: [.calling])
try await client.started()
let call = try client.calls.${method}(
  ${parts.join(", ")})
for await event in call.events {
  print("+\\(event.milliseconds) ms", event.kind)
}
print(call.details.endCause, call.details.cost?.description ?? "without a price")
await client.stop()
`;
}

function javaScript({ kind, target, headers, callerNumber, anonymous, listens }, registration, origin) {
  const options = [`microphone: ${!listens}`];
  if (Object.keys(headers).length) options.push(`headers: { ${pairs(headers, quoted)} }`);
  if (callerNumber) options.push(`callerNumber: ${quoted(callerNumber)}`);
  if (anonymous) options.push("anonymous: true");
  return `import { Landline } from "${origin}/landline.js";

const landline = new Landline({
  url: "${origin.replace("http", "ws")}/v1/connect",
  applicationKey: ${quoted(registration.application_key)},
  user: ${quoted(registration.user)},
  device: "example",
  capabilities: ["calling"],
  // To try it out. A page for others asks your own server for a token.
  credentials: { secret: "${secret}" },
});
await landline.connect();
const call = landline.${methods[kind]}(${quoted(target)}, {
  ${options.join(",\n  ")},
});
document.querySelector("audio").srcObject = call.remoteStream;
const summary = await call.ended;
console.log(summary.cause, call.failure?.message, summary.cost);
landline.stop();
`;
}

function curl({ kind, target, headers, callerNumber, anonymous }, { account }, origin) {
  const body = { account, first: { kind: "phone", target: "YOUR-OWN-NUMBER" }, second: { kind, target } };
  if (callerNumber) body.caller_number = callerNumber;
  if (Object.keys(headers).length) body.headers = headers;
  return `# REST has no microphone: the gateway calls your own phone,
# then joins it with the other side.${anonymous ? "\n# It cannot withhold the number, as this call did." : ""}
curl --fail-with-body ${shellQuoted(`${origin}/v1/calls`)} \\
  -H "Authorization: Bearer $LANDLINE_KEY" \\
  -H "Idempotency-Key: $(date +%s)-$RANDOM" \\
  -H 'Content-Type: application/json' \\
  --data ${shellQuoted(JSON.stringify(body, null, 2))}
`;
}

export const programs = (...all) => [["swift", "Swift", swift(...all)], ["javascript", "JavaScript", javaScript(...all)], ["curl", "curl", curl(...all)]];
