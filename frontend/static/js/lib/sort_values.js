// What a cell of a table sorts by: times, durations, sizes, money and numbers as numbers, everything else as text.
const UNITS = {
  s: 1,
  min: 60,
  h: 3600,
  d: 86400,
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};
const PART = /(\d[\d,]*(?:\.\d+)?)\s*(kB|MB|GB|KiB|MiB|GiB|B|min|h|d|s)\b/g;

export function sortValue(cell) {
  if (!cell) return null;
  const time = cell.querySelector("time[datetime]");
  if (time) return Date.parse(time.dateTime);
  const text = cell.textContent.replace(/\s+/g, " ").trim();
  if (!text || text === "–") return null;
  const measured = /^[\d<≥~]/.test(text) ? [...text.matchAll(PART)] : [];
  if (measured.length) return measured.reduce((sum, each) => sum + number(each[1]) * UNITS[each[2]], 0);
  const plain = text.match(/^[$≥~#v]*\s*(-?\d[\d,]*(?:\.\d+)?)(?![\w.-])/);
  return plain ? number(plain[1]) : text;
}

function number(text) {
  return Number(text.replaceAll(",", ""));
}

// Ascending; numbers before texts. What has no value is last in either direction.
export function compare(a, b, direction = 1) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return direction * (a - b);
  if (typeof a !== typeof b) return direction * (typeof a === "number" ? -1 : 1);
  return direction * a.localeCompare(b, "en", { numeric: true, sensitivity: "base" });
}
