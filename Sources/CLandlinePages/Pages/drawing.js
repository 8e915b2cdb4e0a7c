// What the drawings of these pages share: axes, room for letters, words for spans of time.

/** `12 ms`, `3.204 s`, `1:02.500`; for offsets in a ladder, so that no digit is lost. */
export function offset(milliseconds) {
  const sign = milliseconds < 0 ? "−" : "";
  const value = Math.abs(milliseconds);
  if (value < 1000) return `${sign}${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} ms`;
  if (value < 60_000) return `${sign}${(value / 1000).toFixed(3)} s`;
  const minutes = Math.floor(value / 60_000);
  return `${sign}${minutes}:${((value - minutes * 60_000) / 1000).toFixed(3).padStart(6, "0")}`;
}

/** `340 ms`, `3.2 s`, `4 min 05 s`; for people. */
export function span(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0
    ? `${hours} h ${String(minutes).padStart(2, "0")} min`
    : `${minutes} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** Round values from 0 to at least `top`, at most `count` steps. */
export function ticks(top, count) {
  if (!(top > 0)) return [0];
  const raw = top / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= raw * 0.999);
  const values = [];
  for (let index = 0; ; index += 1) {
    values.push(Number((index * step).toPrecision(12)));
    if (index * step >= top * 0.999) return values;
  }
}

/** As much of a text as goes into a width, by the mean width of a letter. */
export function shortened(text, width, letter = 6.6) {
  const room = Math.max(1, Math.floor(width / letter));
  const letters = Array.from(text);
  return letters.length <= room ? text : `${letters.slice(0, Math.max(1, room - 1)).join("")}…`;
}

/** Calls back with the width of a node now and whenever it changes; drawings are made to measure, never scaled. */
export function onWidth(node, draw) {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.floor(node.clientWidth);
    if (width > 0 && width !== last) {
      last = width;
      draw(width);
    }
  }).observe(node);
}
