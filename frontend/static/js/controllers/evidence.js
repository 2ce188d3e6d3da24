import { at } from "../lib/address.js";
import { Controller } from "../lib/controller.js";
import { difference } from "../lib/diff.js";
import { kindOf, linesOf } from "../lib/evidence_kinds.js";

const LARGEST = 5_000_000;
const MOST_ROWS = 400;
const MARKS = { "-": "only expected", "+": "only found", " ": "", "…": "" };

// What a check found against what it expected, by kind of file: lines of text, cells of tables, paragraphs of documents,
// two pictures under a slider. Compared here and not in the service, because the files are a guest's.
export default class Evidence extends Controller {
  connect() {
    this.on(this.element, "toggle", () => this.element.open && this.compare());
  }

  ended() {
    for (const url of this.urls ?? []) URL.revokeObjectURL(url);
  }

  async compare() {
    if (this.urls) return;
    this.urls = [];
    const view = this.part("view");
    try {
      const sides = await Promise.all(["expected", "found"].map((side) => this.side(side)));
      this.urls = sides.map((side) => side.url).filter(Boolean);
      view.replaceChildren(this.shown(...sides));
    } catch (error) {
      if (error.name !== "AbortError") view.textContent = `Could not compare: ${error.message}`;
    }
  }

  // A file, or the value that the check reported.
  async side(side) {
    const { dataset } = this.element;
    const sha = dataset[`evidence${side[0].toUpperCase()}${side.slice(1)}`];
    if (!sha) return { kind: "text", lines: linesOf(this.part(side)?.textContent ?? "") };
    const response = await fetch(at(`/api/v1/artifacts/${sha}`), { signal: this.signal });
    if (!response.ok) throw new Error(response.statusText);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.length > LARGEST) throw new Error("a file is too large to compare here; download it");
    return kindOf(bytes, dataset.evidenceName);
  }

  shown(expected, found) {
    if (expected.kind !== found.kind)
      return text("p", `The files are of different kinds: ${expected.kind}, ${found.kind}.`);
    if (found.kind === "picture") return this.slider(expected, found);
    if (found.kind === "table") return tables(expected.sheets, found.sheets);
    if (found.kind === "other") return text("p", "Files of this kind are not compared here; download them.");
    return lines(expected.lines, found.lines);
  }

  // The found picture over the expected one, as far as the slider says.
  slider(expected, found) {
    const box = document.createElement("div");
    box.className = "slider";
    const frame = document.createElement("div");
    frame.className = "pictures";
    frame.append(picture(expected.url, "Expected picture"), picture(found.url, "Found picture"));
    const range = document.createElement("input");
    Object.assign(range, { type: "range", min: 0, max: 100, value: 50 });
    range.setAttribute("aria-label", "Slider: actual picture on the left, expected picture on the right");
    const draw = () => {
      frame.lastChild.style.clipPath = `inset(0 ${100 - range.value}% 0 0)`;
    };
    this.on(range, "input", draw);
    draw();
    box.append(frame, range);
    return box;
  }
}

function text(name, words, kind = "") {
  const element = document.createElement(name);
  element.textContent = words;
  if (kind) element.className = kind;
  return element;
}

function picture(url, alt) {
  const image = new Image();
  Object.assign(image, { src: url, alt });
  return image;
}

function lines(expected, found) {
  const rows = difference(expected, found);
  if (rows.every(([sign]) => sign === " " || sign === "…")) return text("p", "No difference.");
  const list = document.createElement("pre");
  list.className = "quote difference";
  list.tabIndex = 0;
  for (const [sign, words] of rows.slice(0, MOST_ROWS)) {
    const line = text(sign === "-" ? "del" : sign === "+" ? "ins" : "span", `${sign} ${words}\n`);
    if (MARKS[sign]) line.title = MARKS[sign];
    list.append(line);
  }
  if (rows.length > MOST_ROWS) list.append(`… ${rows.length - MOST_ROWS} more lines`);
  return list;
}

function tables(expected, found) {
  const table = document.createElement("table");
  const head = document.createElement("tr");
  for (const words of ["Cell", "Found", "Expected"]) {
    const cell = text("th", words);
    cell.scope = "col";
    head.append(cell);
  }
  table.append(head);
  let number = 0;
  for (const sheet of new Set([...expected.keys(), ...found.keys()])) {
    const [wanted, got] = [expected.get(sheet) ?? new Map(), found.get(sheet) ?? new Map()];
    for (const cell of new Set([...wanted.keys(), ...got.keys()])) {
      if (wanted.get(cell) === got.get(cell)) continue;
      if (++number > MOST_ROWS) continue;
      const row = document.createElement("tr");
      row.append(
        text("th", sheet ? `${sheet} ${cell}` : cell, "mono"),
        text("td", got.get(cell) ?? "–"),
        text("td", wanted.get(cell) ?? "–"),
      );
      table.append(row);
    }
  }
  if (!number) return text("p", "No difference.");
  table.prepend(
    text("caption", `${number} cells differ${number > MOST_ROWS ? `; the first ${MOST_ROWS}` : ""}`),
  );
  return table;
}
