import { Controller } from "../lib/controller.js";

const KEYS = {
  ArrowLeft: "left",
  ArrowDown: "equal",
  ArrowRight: "right",
  1: "left",
  0: "equal",
  2: "right",
};

// Chooses between two submissions with one key; ignores more keys until the next pair is there.
export default class Pairs extends Controller {
  connect() {
    this.on(document, "keydown", (event) => this.press(event));
    this.on(this.element, "submit", () => {
      this.submitting = true;
    });
  }

  press(event) {
    const busy = event.target.closest("input, textarea, select, dialog, pre");
    const side = KEYS[event.key];
    if (!side || busy || event.ctrlKey || event.metaKey || event.altKey || event.repeat || this.submitting)
      return;
    event.preventDefault();
    this.element.requestSubmit(this.part(side));
  }
}
