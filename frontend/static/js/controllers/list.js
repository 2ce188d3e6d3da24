import { Controller } from "../lib/controller.js";
import { compare, sortValue } from "../lib/sort_values.js";

const STORE = "columns";
const FIND_FROM = 9;
const COLUMNS_FROM = 4;
const CARDS = 8; // As in lists.css.
let tables = 0;

function make(name, className, text = "") {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.textContent = text;
  return element;
}

// Every table that lists things: sorts by each column, finds words, hides columns, gives what is shown as CSV. Works on
// the rows that the page has; the server's filters and pages decide which these are. What it adds is marked as the
// browser's own (data-own), so that newer versions of the page leave it alone.
export default class List extends Controller {
  connect() {
    this.heads = [...this.element.querySelectorAll("thead th")];
    if (this.rows.length < 2 || !this.heads.length || !this.isPlain()) return;
    tables += 1;
    this.element.dataset.list = tables;
    this.sheet = new CSSStyleSheet();
    document.adoptedStyleSheets.push(this.sheet);
    for (const [column, head] of this.heads.entries()) this.sortable(head, column);
    this.frame = this.element.closest(".scroll") ?? this.element;
    this.tools();
    this.watcher = new MutationObserver(() => this.apply());
    this.watcher.observe(this.body, { childList: true });
    this.hideColumns();
  }

  ended() {
    this.watcher?.disconnect();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.sheet);
    this.bar?.remove();
    for (const button of this.element.querySelectorAll("[data-own]")) button.remove();
  }

  get body() {
    return this.element.tBodies[0];
  }

  get rows() {
    return this.body ? [...this.body.rows] : [];
  }

  // Cells over several columns, or rows that belong to the one above, have no order of their own.
  isPlain() {
    const one = this.element.tBodies.length === 1 && this.element.tHead.rows.length === 1;
    return one && !this.element.querySelector("[colspan], [rowspan]");
  }

  nameOf(head) {
    return [...head.childNodes]
      .filter((node) => !node.dataset?.own)
      .map((node) => node.textContent)
      .join(" ")
      .trim();
  }

  sortable(head, column) {
    if (!this.nameOf(head) || head.querySelector("a, button, select")) return;
    const button = make("button", "sort");
    Object.assign(button, { type: "button", ariaLabel: `Sort by ${this.nameOf(head)}` });
    button.dataset.own = "";
    head.append(button);
    this.on(head, "click", () => this.sortBy(column));
  }

  sortBy(column) {
    const again = this.column === column;
    this.direction = again ? -this.direction : 1;
    this.column = column;
    this.heads.forEach((head, place) => {
      if (place === column) head.ariaSort = this.direction > 0 ? "ascending" : "descending";
      else head.removeAttribute("aria-sort");
    });
    this.apply();
    this.say(`Sorted by ${this.nameOf(this.heads[column])}, ${this.heads[column].ariaSort}.`);
  }

  apply() {
    const rows = this.rows;
    if (this.column !== undefined) {
      const keyed = rows.map((row) => [sortValue(row.cells[this.column]), row]);
      const sorted = keyed.sort((a, b) => compare(a[0], b[0], this.direction)).map(([, row]) => row);
      if (sorted.some((row, place) => row !== rows[place])) this.body.append(...sorted);
    }
    for (const row of rows) row.toggleAttribute("data-off", !this.matches(row));
    this.watcher.takeRecords();
  }

  matches(row) {
    const words = (this.words?.value ?? "").toLowerCase().split(/\s+/);
    const text = row.textContent.toLowerCase();
    return words.every((word) => text.includes(word));
  }

  tools() {
    this.bar = make("div", "list-tools");
    this.bar.dataset.own = "";
    if (this.rows.length >= FIND_FROM) this.bar.append(this.find());
    if (this.heads.length >= COLUMNS_FROM) this.bar.append(this.columns());
    this.bar.append(this.narrowSort());
    if (this.rows.length > CARDS) this.bar.append(this.more());
    if (!this.element.closest("section")?.querySelector("a[download]")) this.bar.append(this.download());
    this.status = make("span", "sr");
    this.status.setAttribute("role", "status");
    this.bar.append(this.status);
    this.frame.before(this.bar);
  }

  find() {
    this.words = make("input");
    Object.assign(this.words, {
      type: "search",
      placeholder: "Find in these rows",
      ariaLabel: "Find in these rows",
    });
    this.on(this.words, "input", () => {
      this.apply();
      this.say(`${this.rows.filter((row) => !row.hasAttribute("data-off")).length} rows.`);
    });
    return this.words;
  }

  columns() {
    const drop = make("details", "columns drop");
    const ticks = make("div", "ticks");
    this.hidden = new Set(this.stored()[this.key] ?? []);
    this.heads.forEach((head, column) => {
      const name = this.nameOf(head);
      if (!column || !name) return;
      const label = make("label", "tick");
      const box = make("input");
      Object.assign(box, { type: "checkbox", checked: !this.hidden.has(name) });
      this.on(box, "change", () => this.show(name, box.checked));
      label.append(box, ` ${name}`);
      ticks.append(label);
    });
    drop.append(make("summary", "btn small", "Columns"), ticks);
    return drop;
  }

  // Cards have no head to click.
  narrowSort() {
    const select = make("select", "only-narrow");
    select.ariaLabel = "Sort by";
    select.append(new Option("Sort by", ""));
    this.heads.forEach((head, column) => {
      if (this.nameOf(head)) select.append(new Option(this.nameOf(head), column));
    });
    this.on(select, "change", () => select.value && this.sortBy(Number(select.value)));
    return select;
  }

  more() {
    const button = make("button", "btn small only-cards", `Show all ${this.rows.length} rows`);
    button.type = "button";
    this.on(button, "click", () => {
      this.element.dataset.all = "";
      button.remove();
    });
    return button;
  }

  download() {
    const button = make("button", "btn small", "CSV");
    Object.assign(button, { type: "button", title: "The rows and columns shown, as CSV" });
    this.on(button, "click", () => this.save());
    return button;
  }

  // The same table on pages of one kind: ids do not count.
  get key() {
    const page = location.pathname.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "*");
    return `${page} ${this.heads.map((head) => this.nameOf(head)).join("|")}`;
  }

  stored() {
    try {
      return JSON.parse(localStorage.getItem(STORE) ?? "{}");
    } catch {
      return {};
    }
  }

  show(name, on) {
    if (on) this.hidden.delete(name);
    else this.hidden.add(name);
    try {
      localStorage.setItem(STORE, JSON.stringify({ ...this.stored(), [this.key]: [...this.hidden] }));
    } catch {}
    this.hideColumns();
  }

  hideColumns() {
    const off = this.heads.flatMap((head, place) => (this.hidden?.has(this.nameOf(head)) ? [place + 1] : []));
    const rule = (place) =>
      `table[data-list="${this.element.dataset.list}"] tr > :nth-child(${place}) { display: none !important }`;
    this.sheet.replaceSync(off.map(rule).join("\n"));
  }

  save() {
    const shown = this.heads.map((head) => !this.hidden?.has(this.nameOf(head)));
    const rows = this.rows.filter((row) => !row.hasAttribute("data-off"));
    const texts = rows.map((row) =>
      [...row.cells].filter((_, place) => shown[place]).map((cell) => cell.innerText),
    );
    const head = this.heads.filter((_, place) => shown[place]).map((each) => this.nameOf(each));
    // A spreadsheet must not take a text for a formula.
    const quoted = (text) =>
      `"${text
        .replace(/\s+/g, " ")
        .trim()
        .replace(/^[=+\-@]/, "'$&")
        .replaceAll('"', '""')}"`;
    const csv = [head, ...texts].map((each) => each.map(quoted).join(",")).join("\r\n");
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
    link.download = `${document.title.split(" · ")[0]}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  say(text) {
    this.status.textContent = text;
  }
}
