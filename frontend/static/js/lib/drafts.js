import { at } from "./address.js";

// What this reader has typed into forms and not sent yet, kept by the browser. A form that is sent keeps its draft until
// the service has taken it: the answer is another page, or one without an error.
const SENT = "draft-sent";

export function draft(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key, text) {
  try {
    localStorage.setItem(key, text);
  } catch {} // Some browsers keep nothing.
}

export function discard(key) {
  try {
    localStorage.removeItem(key);
  } catch {}
}

export function sent(key) {
  try {
    sessionStorage.setItem(SENT, key);
  } catch {}
}

// Once for each page: whether it is the answer to a form that was sent, and what became of that.
export function settle() {
  try {
    const key = sessionStorage.getItem(SENT);
    if (!key) return;
    sessionStorage.removeItem(SENT);
    const { answered } = document.documentElement.dataset;
    const [visit] = performance.getEntriesByType("navigation");
    const redirected = visit?.type === "navigate" && visit.redirectCount > 0;
    // Who has to sign in first has sent nothing.
    const taken = answered
      ? answered < 400
      : redirected && !document.querySelector(`form[action="${at("/login")}"]`);
    if (taken) discard(key);
  } catch {}
}
