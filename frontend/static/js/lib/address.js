// Where the service lies: empty, or the path below which a reverse proxy shows it.
const ROOT = document.documentElement.dataset.root ?? "";

// The address of a path of the service. Those in the page's own attributes have it already.
export function at(path) {
  return `${ROOT}${path}`;
}
