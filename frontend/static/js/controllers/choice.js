import { Controller } from "../lib/controller.js";

const LEAST = 2;
const MOST = 8;

// Says how many rows of a list are ticked; `button` works for 2 to 8 of them, `several` for 2 and more. The form is the
// element itself or the one of data-choice-form, its boxes are called `run` or as data-choice-name says.
export default class Choice extends Controller {
  connect() {
    const { choiceForm, choiceName = "run", choiceNoun = "runs" } = this.element.dataset;
    this.form = choiceForm ? document.getElementById(choiceForm) : this.element;
    this.field = choiceName;
    this.noun = choiceNoun;
    this.empty = this.part("count").textContent;
    this.on(document, "change", (event) => event.target.form === this.form && this.count());
    this.on(window, "pageshow", () => this.count());
    this.count();
  }

  count() {
    const ticked = new Set(new FormData(this.form).getAll(this.field)).size;
    this.part("button").disabled = ticked < LEAST || ticked > MOST;
    for (const button of this.parts("several")) button.disabled = ticked < LEAST;
    this.part("count").textContent = ticked
      ? `${ticked} of ${LEAST} to ${MOST} ${this.noun} ticked`
      : this.empty;
    this.element.toggleAttribute("data-chosen", ticked > 0);
  }
}
