import { at } from "../lib/address.js";
import { Controller } from "../lib/controller.js";
import { isShortcut, shortcutsOn, switchShortcuts } from "../lib/shortcuts.js";

// j and k walk the rows, Enter opens, / searches, n starts a run, ? explains.
export default class Keys extends Controller {
  connect() {
    this.on(document, "keydown", (event) => this.press(event));
    this.on(this.part("help"), "click", () => document.getElementById("help").showModal());
    const letters = this.part("letters");
    letters.checked = shortcutsOn();
    this.on(letters, "change", () => switchShortcuts(letters.checked));
  }

  press(event) {
    if (!isShortcut(event)) return;
    const act = {
      j: () => this.move(1),
      k: () => this.move(-1),
      "/": () => this.search(),
      n: () => this.start(),
    }[event.key];
    if (act) {
      event.preventDefault();
      act();
    } else if (event.key === "?") document.getElementById("help").showModal();
  }

  get rows() {
    return [...document.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility());
  }

  move(by) {
    const rows = this.rows;
    if (!rows.length) return;
    const now = rows.findIndex((row) => row.classList.contains("at") || row.contains(document.activeElement));
    const next =
      rows[now < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, now + by))];
    for (const row of rows) row.classList.toggle("at", row === next);
    (next.matches("a, button") ? next : next.querySelector("a"))?.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  search() {
    document.querySelector("[data-search]")?.focus();
  }

  start() {
    location.assign(at("/runs/new"));
  }
}
