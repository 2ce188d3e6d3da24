// Brings the page in line with a newer version of itself, touching only what differs: focus, scroll positions, open
// details and live pictures stay. Elements with data-key are matched by it; those with data-keep are left alone, and so
// are those with data-own, which the browser has added.
function same(a, b) {
  return (
    a.nodeType === b.nodeType &&
    a.nodeName === b.nodeName &&
    (a.dataset?.key ?? a.id) === (b.dataset?.key ?? b.id)
  );
}

// Attributes that only the browser sets, so no version of the page from the service has them.
const OWN = new Set([
  "aria-current",
  "class",
  "data-all",
  "data-drawn",
  "data-folded",
  "data-frame-seq",
  "data-list",
  "data-paused",
  "data-shown",
  "data-stale",
  "data-zoomed",
  "open",
  "style",
]);

function attributes(old, fresh) {
  for (const { name, value } of fresh.attributes) {
    // What a reader has closed stays closed.
    if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !OWN.has(name)) old.removeAttribute(name);
  }
}

// The first node from here on that the service has written.
function written(node) {
  let sibling = node;
  while (sibling?.dataset?.own !== undefined) sibling = sibling.nextSibling;
  return sibling;
}

function find(old, target) {
  for (let node = old; node; node = node.nextSibling) if (same(node, target)) return node;
  return null;
}

export function morph(old, fresh) {
  if (old.dataset?.keep !== undefined) return;
  attributes(old, fresh);
  if (old.nodeName === "TIME") return; // The browser counts its age itself.
  let place = written(old.firstChild);
  for (const target of [...fresh.childNodes]) {
    const match = find(place, target);
    if (!match) {
      old.insertBefore(document.importNode(target, true), place);
      continue;
    }
    if (match !== place) old.insertBefore(match, place);
    else place = written(place.nextSibling);
    if (match.nodeType === Node.ELEMENT_NODE) morph(match, target);
    else if (match.nodeValue !== target.nodeValue) match.nodeValue = target.nodeValue;
  }
  while (place) {
    const next = written(place.nextSibling);
    place.remove();
    place = next;
  }
}
