import { Controller } from "../lib/controller.js";

const FIRST = 2;
const NEWS = "[aria-invalid=true], .note"; // An answer to what was just sent.
const NARROW = "(max-width: 44rem)"; // As in the style sheets.

// On a narrow screen a page of many panels shows the first ones and the titles of the others, which open on request. What
// the address names is open, and what the browser finds in the page opens; paper has everything.
export default class Fold extends Controller {
  connect() {
    this.narrow = matchMedia(NARROW);
    this.on(this.narrow, "change", () => this.draw());
    this.on(window, "hashchange", () => this.reveal());
    this.on(window, "beforeprint", () => this.draw(true));
    this.on(window, "afterprint", () => this.draw());
    this.on(document, "page:shown", () => this.draw());
    this.on(this.element, "beforematch", (event) => this.open(event.target.closest("[data-folded]")));
    this.draw();
    this.reveal();
  }

  // A form is filled in from top to bottom.
  get panels() {
    return [...this.element.querySelectorAll(".panel:not(.verdict)")].filter(
      (panel) => panel.querySelector(":scope > header h2") && !panel.closest("form, .watch"),
    );
  }

  draw(whole = false) {
    const panels = this.panels;
    const folds = this.narrow.matches && panels.length > FIRST + 1;
    for (const panel of folds ? panels.slice(FIRST) : []) {
      panel.dataset.folded ??= panel.querySelector(NEWS) ? "no" : "yes";
      this.button(panel);
    }
    for (const panel of panels) this.show(panel, whole || !folds || panel.dataset.folded !== "yes");
  }

  show(panel, whole) {
    for (const part of panel.children) {
      if (part.nodeName === "HEADER" || (part.hidden && part.hidden !== "until-found")) continue;
      if (whole) part.removeAttribute("hidden");
      else part.setAttribute("hidden", "until-found");
    }
    const button = panel.querySelector(":scope > header > [data-own]");
    if (!button) return;
    const title = panel.querySelector(":scope > header h2").textContent.trim();
    button.setAttribute("aria-label", `${whole ? "Hide" : "Show"} ${title}`);
    button.setAttribute("aria-expanded", String(whole));
  }

  button(panel) {
    const header = panel.querySelector(":scope > header");
    if (header.querySelector(":scope > [data-own]")) return;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "only-folding" });
    button.dataset.own = "";
    header.append(button);
    header.addEventListener("click", (event) => this.toggle(panel, event));
  }

  // A click on the button, or on the header where nothing else takes it.
  toggle(panel, event) {
    const own = event.currentTarget.querySelector(":scope > [data-own]");
    const control = event.target.closest("a, button, form, .actions, summary");
    if (!own || (control && control !== own) || !this.narrow.matches) return;
    if (panel.dataset.folded === "yes") this.open(panel);
    else this.close(panel);
  }

  open(panel) {
    if (!panel) return;
    panel.dataset.folded = "no";
    this.show(panel, true);
  }

  close(panel) {
    panel.dataset.folded = "yes";
    this.show(panel, false);
  }

  reveal() {
    const target = document.querySelector(":target");
    const panel = target?.closest("[data-folded=yes]");
    if (!panel) return;
    this.open(panel);
    target.scrollIntoView();
  }
}
