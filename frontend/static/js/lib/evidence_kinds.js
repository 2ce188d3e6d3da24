import { isZip, zipTexts } from "./zip.js";

// What a file of a guest is, for a comparison: { kind, ... }. Everything is data: XML is parsed, never shown, and every
// text is set as text.
//   text: lines          document: lines, one per paragraph, with its style
//   table: sheets, Map of name to Map of cell ("B7") to text          picture: url          other: nothing
const PICTURES = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/bmp", [0x42, 0x4d]],
];
const MOST_LINES = 20_000;

export async function kindOf(bytes, name) {
  const picture = PICTURES.find(([, mark]) => mark.every((byte, place) => bytes[place] === byte));
  if (picture) return { kind: "picture", url: URL.createObjectURL(new Blob([bytes], { type: picture[0] })) };
  if (isZip(bytes)) return office(zipTexts(bytes));
  const text = textOf(bytes);
  if (text === null) return { kind: "other" };
  if (/\.(csv|tsv)$/i.test(name))
    return { kind: "table", sheets: new Map([["", cells(text, /\.tsv$/i.test(name) ? "\t" : ",")]]) };
  return { kind: "text", lines: linesOf(text) };
}

export function linesOf(text) {
  return text.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n").slice(0, MOST_LINES);
}

function textOf(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

async function office(files) {
  const xml = async (name) =>
    new DOMParser().parseFromString((await files.get(name)?.()) ?? "<none/>", "application/xml");
  if (files.has("word/document.xml"))
    return { kind: "document", lines: paragraphs(await xml("word/document.xml")) };
  if (!files.has("xl/workbook.xml")) return { kind: "other" };
  const shared = all(await xml("xl/sharedStrings.xml"), "si").map((item) => words(item, "t"));
  const sheets = new Map();
  for (const name of [...files.keys()].filter((one) => /^xl\/worksheets\/[^/]+\.xml$/.test(one)).sort())
    sheets.set(name.slice("xl/worksheets/".length, -".xml".length), sheetOf(await xml(name), shared));
  return { kind: "table", sheets };
}

function all(node, name) {
  return [...node.getElementsByTagNameNS("*", name)];
}

function words(node, name) {
  return all(node, name)
    .map((part) => part.textContent)
    .join("");
}

function paragraphs(xml) {
  return all(xml, "p")
    .slice(0, MOST_LINES)
    .map((paragraph) => {
      const style = all(paragraph, "pStyle")[0]?.getAttribute("w:val");
      return `${style ? `[${style}] ` : ""}${words(paragraph, "t")}`;
    });
}

function sheetOf(xml, shared) {
  const sheet = new Map();
  for (const cell of all(xml, "c")) {
    const value = words(cell, "v");
    const kind = cell.getAttribute("t");
    const formula = words(cell, "f");
    const shown =
      kind === "s" ? (shared[Number(value)] ?? "") : kind === "inlineStr" ? words(cell, "t") : value;
    if (shown || formula) sheet.set(cell.getAttribute("r") ?? "", formula ? `${shown} (=${formula})` : shown);
  }
  return sheet;
}

// Source: RFC 4180.
function cells(text, separator) {
  const sheet = new Map();
  let [row, column, cell, quoted] = [1, 0, "", false];
  const close = () => {
    if (cell) sheet.set(`${letters(column)}${row}`, cell);
    cell = "";
  };
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (quoted && sign === '"' && text[at + 1] === '"') cell += text[++at];
    else if (sign === '"') quoted = !quoted;
    else if (quoted) cell += sign;
    else if (sign === separator) {
      close();
      column++;
    } else if (sign === "\n") {
      close();
      row++;
      column = 0;
    } else if (sign !== "\r") cell += sign;
  }
  close();
  return sheet;
}

function letters(column) {
  const before = Math.floor(column / 26);
  return `${before ? letters(before - 1) : ""}${String.fromCharCode(65 + (column % 26))}`;
}
