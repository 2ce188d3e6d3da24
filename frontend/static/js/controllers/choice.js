import { Controller } from "../lib/controller.js";

const LEAST = 2;
const MOST = 8;

// Says how many runs of a list are ticked; the button works for 2 to 8 of them.
export default class Choice extends Controller {
  connect() {
    this.on(document, "change", (event) => event.target.form === this.element && this.count());
    this.on(window, "pageshow", () => this.count());
    this.count();
  }

  count() {
    const chosen = new Set(new FormData(this.element).getAll("run")).size;
    this.part("button").disabled = chosen < LEAST || chosen > MOST;
    this.part("count").textContent = chosen
      ? `${chosen} of ${LEAST} to ${MOST} runs ticked`
      : `Tick ${LEAST} to ${MOST} runs of one benchmark.`;
    this.element.toggleAttribute("data-chosen", chosen > 0);
  }
}
