// When a key is meant for the page: never while a form field, a dialog or a desktop has the focus, and single characters
// only while the reader has not switched them off (WCAG 2.1.4), and not on pages that are filled in (data-keys="off").
const STORE = "shortcuts";
const FIELDS = "input, textarea, select, [contenteditable], dialog, [role=application]";
let session = null; // For browsers that keep nothing.

export function shortcutsOn() {
  try {
    return (localStorage.getItem(STORE) ?? session) !== "off";
  } catch {
    return session !== "off";
  }
}

export function switchShortcuts(on) {
  session = on ? "on" : "off";
  try {
    localStorage.setItem(STORE, session);
  } catch {}
}

// `own`: fields of the behaviour itself, from which its keys act too.
export function isShortcut(event, own = "") {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  const field = event.target.closest(FIELDS);
  if (field && !(own && field.matches(own))) return false;
  if (event.key.length > 1 || event.key === " ") return true;
  return shortcutsOn() && !document.querySelector('[data-keys="off"]');
}
