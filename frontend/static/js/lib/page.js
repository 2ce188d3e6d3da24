import { morph } from "./morph.js";

// The page at an address, null if the service refuses it. Throws where another try may succeed.
export async function read(address, signal) {
  const response = await fetch(address, { headers: { Accept: "text/html" }, signal });
  if (response.status === 429 || response.status >= 500) throw new Error(`status ${response.status}`);
  return response.ok ? new DOMParser().parseFromString(await response.text(), "text/html") : null;
}

// Brings this page in line with what was read.
export function show(fresh) {
  const main = fresh.getElementById("main");
  if (main) morph(document.getElementById("main"), main);
  document.title = fresh.title;
  document.dispatchEvent(new Event("page:shown"));
}

let request = null;

async function load() {
  request?.abort();
  request = new AbortController();
  try {
    const fresh = await read(location.href, request.signal);
    if (!fresh) location.reload();
    else show(fresh);
  } catch (error) {
    if (error.name !== "AbortError") location.reload();
  }
}

let watching = false;

// Goes to another state of this page, which has an address of its own: the way back leads through it.
export function go(address, { replace = false } = {}) {
  if (!watching) addEventListener("popstate", load);
  watching = true;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  return load();
}
