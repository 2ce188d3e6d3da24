import { Controller } from "../lib/controller.js";
import { go } from "../lib/page.js";

const STORE = "columns";
const CARDS = 8; // As in lists.css.
const PAUSE = 250;

function make(name, className, text = "") {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
}

function stored() {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? "{}");
  } catch {
    return {};
  }
}

// A list, which the service sorts, searches and cuts to columns: its links and its form are followed without leaving the
// page. Adds what only a browser can do: the rows that are shown as CSV, all cards of a narrow screen, and the columns
// that the reader has chosen before. What it adds is marked as its own (data-own).
export default class List extends Controller {
  connect() {
    this.on(this.element, "click", (event) => this.follow(event));
    this.on(this.element, "submit", (event) => {
      if (event.target !== this.part("form")) return;
      event.preventDefault();
      this.find();
    });
    this.on(this.part("words"), "input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.find(), PAUSE);
    });
    this.part("search")?.setAttribute("hidden", "");
    this.table.dataset.list = "";
    this.tools = this.element.querySelector(".list-tools");
    if (this.rows.length > CARDS) this.tools.append(this.more());
    if (!this.element.closest("section")?.querySelector("a[download]")) this.tools.append(this.download());
    this.recall();
  }

  ended() {
    clearTimeout(this.timer);
    for (const button of this.element.querySelectorAll("[data-own]")) button.remove();
  }

  get table() {
    return this.element.querySelector("table");
  }

  get rows() {
    return [...this.table.tBodies[0].rows];
  }

  follow(event) {
    const link = event.target.closest("a[data-list-link]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (link.dataset.listLink === "hide") this.remember(new URL(link.href));
    go(link.href);
  }

  find() {
    const form = this.part("form");
    const data = [...new FormData(form)].filter(([, value]) => value !== "");
    const address = new URL(form.action);
    address.search = new URLSearchParams(data);
    go(address, { replace: true });
  }

  get hideName() {
    const { listKey } = this.element.dataset;
    return listKey ? `${listKey}.hide` : "hide";
  }

  // The same list on pages of one kind: ids do not count.
  get key() {
    return `${location.pathname.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "*")} ${this.hideName}`;
  }

  remember(address) {
    try {
      const hidden = address.searchParams.getAll(this.hideName);
      localStorage.setItem(STORE, JSON.stringify({ ...stored(), [this.key]: hidden }));
    } catch {}
  }

  // The columns that this reader has hidden before, unless the address says which.
  recall() {
    const hidden = stored()[this.key] ?? [];
    const address = new URL(location.href);
    if (!hidden.length || address.searchParams.has(this.hideName) || !this.element.querySelector(".columns"))
      return;
    for (const column of hidden) address.searchParams.append(this.hideName, column);
    go(address, { replace: true });
  }

  more() {
    const button = make("button", "btn small only-cards", `Show all ${this.rows.length} rows`);
    Object.assign(button, { type: "button" });
    button.dataset.own = "";
    this.on(button, "click", () => {
      this.table.dataset.all = "";
      button.remove();
    });
    return button;
  }

  download() {
    const button = make("button", "btn small", "CSV");
    Object.assign(button, { type: "button", title: "The rows and columns shown, as CSV" });
    button.dataset.own = "";
    this.on(button, "click", () => this.save());
    return button;
  }

  save() {
    const shown = (row) => [...row.cells].filter((cell) => getComputedStyle(cell).display !== "none");
    const rows = [this.table.tHead.rows[0], ...this.rows].map((row) =>
      shown(row).map((cell) => cell.innerText),
    );
    // A spreadsheet must not take a text for a formula.
    const quoted = (text) =>
      `"${text
        .replace(/\s+/g, " ")
        .trim()
        .replace(/^[=+\-@]/, "'$&")
        .replaceAll('"', '""')}"`;
    const csv = rows.map((each) => each.map(quoted).join(",")).join("\r\n");
    const link = make("a", "");
    link.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
    link.download = `${document.title.split(" · ")[0]}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  }
}
