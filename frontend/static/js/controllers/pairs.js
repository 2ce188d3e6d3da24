import { Controller } from "../lib/controller.js";
import { isShortcut } from "../lib/shortcuts.js";

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
    const side = KEYS[event.key];
    if (!side || event.repeat || this.submitting || event.target.closest("pre") || !isShortcut(event)) return;
    event.preventDefault();
    this.element.requestSubmit(this.part(side));
  }
}
