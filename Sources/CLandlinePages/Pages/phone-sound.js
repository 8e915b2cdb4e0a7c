// The microphone, and how loud both directions are.

// Why there is no microphone, in words that help.
function trouble(error) {
  switch (error.name) {
    case "NotAllowedError":
    case "SecurityError":
      return "The browser gives this page no microphone. Allow it beside the address, then call again.";
    case "NotFoundError":
      return "There is no microphone on this computer.";
    case "OverconstrainedError":
      return "The microphone that was chosen is gone. Choose another.";
    case "NotReadableError":
    case "AbortError":
      return "Another program holds the microphone. Close it, then call again.";
    default:
      return `The microphone does not work: ${error.message}`;
  }
}

const insecure = "The browser gives a microphone to pages on https:// or on this computer only.";

// → { stream } or { trouble }
export async function openMicrophone(device) {
  if (!navigator.mediaDevices?.getUserMedia) return { trouble: insecure };
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
  if (device) audio.deviceId = { exact: device };
  try {
    return { stream: await navigator.mediaDevices.getUserMedia({ audio }) };
  } catch (error) {
    return { trouble: trouble(error) };
  }
}

export function closeMicrophone(stream) {
  for (const track of stream?.getTracks() ?? []) track.stop();
}

// Fills a <select> with the microphones, now and whenever one comes or goes; tell(text) when there is none.
export function chooseMicrophone(select, tell) {
  async function list() {
    if (!navigator.mediaDevices?.enumerateDevices) {
      select.disabled = true;
      tell(insecure);
      return;
    }
    const found = (await navigator.mediaDevices.enumerateDevices()).filter((one) => one.kind === "audioinput");
    const chosen = select.value;
    // Before the permission devices have neither names nor ids.
    const named = found.filter((one) => one.deviceId && one.deviceId !== "default");
    select.replaceChildren(
      new Option("the system's own", ""), ...named.map((one, index) => new Option(one.label || `microphone ${index + 1}`, one.deviceId)));
    select.value = named.some((one) => one.deviceId === chosen) ? chosen : "";
    tell(found.length ? "" : "There is no microphone on this computer: you will hear the other side and not be heard.");
  }
  navigator.mediaDevices?.addEventListener?.("devicechange", list);
  list();
  return list;
}

let context = null;

// To be called in a click or key press: only then a browser lets sound begin.
export function wakeSound() {
  context ??= new AudioContext({ latencyHint: "interactive" });
  if (context.state === "suspended") context.resume().catch(() => {});
}

// → { level(), stop() }; level is 0 to 1 over the 60 dB below full scale.
export function meter(stream) {
  if (!context || !stream?.getAudioTracks().length) return null;
  const source = context.createMediaStreamSource(stream);
  const analyser = new AnalyserNode(context, { fftSize: 1024 });
  source.connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  return {
    level() {
      analyser.getFloatTimeDomainData(samples);
      let sum = 0;
      for (const sample of samples) sum += sample * sample;
      const decibel = 10 * Math.log10(sum / samples.length + 1e-12);
      return Math.min(1, Math.max(0, 1 + decibel / 60));
    },
    stop() {
      source.disconnect();
    },
  };
}

// Draws levels while it runs; rows: [{ bar, meter }] whose meters may still come. → stop()
export function drawLevels(rows) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let next = 0;
  let last = 0;
  const draw = (now) => {
    next = requestAnimationFrame(draw);
    if (now - last < (calm.matches ? 500 : 50)) return;
    last = now;
    for (const row of rows) {
      const percent = Math.round(100 * (row.meter?.level() ?? 0));
      if (percent === row.shown) continue;
      row.shown = percent;
      row.bar.firstElementChild.style.width = `${percent}%`;
      row.bar.setAttribute("aria-valuenow", String(percent));
    }
  };
  next = requestAnimationFrame(draw);
  return () => {
    cancelAnimationFrame(next);
    for (const row of rows) row.meter?.stop();
  };
}
