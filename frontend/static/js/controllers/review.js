import { Controller } from "../lib/controller.js";
import { isShortcut } from "../lib/shortcuts.js";

const VERDICTS = { y: "yes", n: "no", u: "unsure" };

// One key per verdict: y, n and u answer the criterion that is next, and move on; after the last one the button has the
// focus, so that Enter sends.
export default class Review extends Controller {
  connect() {
    // Before the page's own keys, one of which is n.
    this.on(document, "keydown", (event) => this.press(event), { capture: true });
    this.on(this.element, "change", () => this.mark());
    this.mark();
  }

  press(event) {
    const verdict = VERDICTS[event.key];
    if (!verdict || !isShortcut(event, "[type=radio]")) return;
    const criterion = this.next;
    if (!criterion) return;
    event.preventDefault();
    event.stopPropagation();
    const choice = criterion.querySelector(`input[value="${verdict}"]`);
    choice.checked = true;
    choice.focus();
    this.mark();
    const next = this.parts("criterion").find((criterion) => !criterion.querySelector(":checked"));
    (next ? next.querySelector("input") : this.part("send")).focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  // The one that has the focus, else the first without an answer.
  get next() {
    const all = this.parts("criterion");
    return (
      all.find((one) => one.contains(document.activeElement)) ??
      all.find((criterion) => !criterion.querySelector(":checked"))
    );
  }

  mark() {
    const open = this.parts("criterion").find((criterion) => !criterion.querySelector(":checked"));
    for (const criterion of this.parts("criterion")) criterion.classList.toggle("at", criterion === open);
  }
}
