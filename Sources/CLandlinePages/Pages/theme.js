// A classic script in the head: a chosen theme is there before the first paint.
try {
  const theme = localStorage.getItem("landline.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be refused: then the system's theme holds.
}
