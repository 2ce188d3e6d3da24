// Times as the reader chose: how long ago, or date and time of day in the reader's own time zone.
const STORE = "times";
let session = null; // For browsers that keep nothing.

const FORMAT = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

export function isAbsolute() {
  try {
    return (localStorage.getItem(STORE) ?? session) === "absolute";
  } catch {
    return session === "absolute";
  }
}

export function switchTimes(absolute) {
  session = absolute ? "absolute" : "relative";
  try {
    localStorage.setItem(STORE, session);
  } catch {}
  document.dispatchEvent(new CustomEvent("times"));
}

export function localTime(ms) {
  return Number.isNaN(ms) ? undefined : FORMAT.format(ms);
}

export function zone() {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(Date.now());
  const short = parts.find((part) => part.type === "timeZoneName")?.value ?? "";
  const { timeZone } = FORMAT.resolvedOptions();
  return short && short !== timeZone ? `${timeZone} (${short})` : timeZone;
}
