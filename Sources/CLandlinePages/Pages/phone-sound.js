// The microphone, and how loud both directions are.

const nowhere = "There is no microphone on this computer.";
const insecure = "The browser gives a microphone to pages on https:// and on this computer only.";
const troubles = {
  NotAllowedError: "The browser gives this page no microphone. Allow it beside the address, then call again.",
  NotFoundError: nowhere,
  OverconstrainedError: "The microphone that was chosen is gone. Choose another.",
  NotReadableError: "Another program holds the microphone. Close it, then call again.",
};

let permission = null;
let count = null;
navigator.permissions?.query({ name: "microphone" }).then((status) => (permission = status), () => {});

export const microphoneTrouble = (name) => troubles[name] ?? `The microphone does not work (${name}).`;

// What a call is to take: { microphone, trouble }.
export async function microphone(device) {
  if (!navigator.mediaDevices) return { microphone: false, trouble: insecure };
  if (count === 0) return { microphone: false, trouble: nowhere };
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
  if (device) audio.deviceId = { exact: device };
  // Where no question is to be expected, the call goes out while the microphone opens.
  if (permission?.state === "granted") return { microphone: audio };
  try {
    return { microphone: await navigator.mediaDevices.getUserMedia({ audio }) };
  } catch (error) {
    return { microphone: false, trouble: microphoneTrouble(error.name) };
  }
}

// Fills a <select> with the microphones, whenever one comes or goes; tell(text) when there is none. → list()
export function chooseMicrophone(select, tell) {
  async function list() {
    if (!navigator.mediaDevices) return tell(insecure);
    const found = (await navigator.mediaDevices.enumerateDevices()).filter((one) => one.kind === "audioinput");
    const chosen = select.value;
    count = found.length;
    // Before the permission devices have neither names nor ids.
    select.replaceChildren(new Option("the system's own", ""), ...found.filter((one) => one.deviceId && one.deviceId !== "default")
      .map((one, index) => new Option(one.label || `microphone ${index + 1}`, one.deviceId)));
    select.value = chosen;
    if (select.selectedIndex < 0) select.value = "";
    tell(count ? "" : `${nowhere} You will hear the other side and not be heard.`);
  }
  navigator.mediaDevices?.addEventListener("devicechange", list);
  list();
  return list;
}

let context = null;

// → level(), 0 to 1 over the 60 dB below full scale; null while there is no sound to measure
export function meter(stream) {
  if (!stream?.getAudioTracks().length) return null;
  context ??= new AudioContext({ latencyHint: "interactive" });
  context.resume().catch(() => {});
  const analyser = new AnalyserNode(context, { fftSize: 1024 });
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  return () => {
    analyser.getFloatTimeDomainData(samples);
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
    return Math.min(1, Math.max(0, 1 + Math.log10(power + 1e-12) / 6));
  };
}
