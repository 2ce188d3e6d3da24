const KEPT = 6;

// The rows of an attempt's steps, a part of the list at a time: what is not on the page is fetched when it is needed, and
// only the parts that were used last are kept.
export class StepParts {
  #parts = new Map();

  constructor(size, address) {
    this.size = size;
    this.address = address;
  }

  first(number) {
    return Math.floor(number / this.size) * this.size;
  }

  // The rows of the part that begins with this number, from memory; else undefined.
  kept(first) {
    const rows = this.#parts.get(first);
    if (rows) {
      this.#parts.delete(first);
      this.#parts.set(first, rows);
    }
    return rows;
  }

  keep(first, rows) {
    this.#parts.set(first, rows);
    if (this.#parts.size > KEPT) this.#parts.delete(this.#parts.keys().next().value);
    return rows;
  }

  async get(first, signal) {
    const kept = this.kept(first);
    if (kept) return kept;
    const rows = rowsOf(await fetched(this.address(first), signal));
    return this.kept(first) ?? this.keep(first, rows);
  }

  // New rows; those of parts that are not kept are fetched when they are needed.
  add(rows) {
    for (const row of rows) {
      const part = this.#parts.get(this.first(Number(row.dataset.index)));
      if (part && !part.some((one) => one.dataset.index === row.dataset.index)) part.push(row);
    }
  }
}

export async function fetched(address, signal) {
  const response = await fetch(address, { headers: { Accept: "text/html" }, signal });
  if (!response.ok) throw new Error(response.statusText);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

export function rowsOf(fragment) {
  return [...fragment.querySelectorAll("li.step")].map((row) => document.adoptNode(row));
}
