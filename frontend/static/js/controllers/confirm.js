import { Controller } from "../lib/controller.js";

// Asks before a form does something that cannot be undone.
export default class Confirm extends Controller {
  connect() {
    this.on(this.element, "submit", (event) => {
      if (this.confirmed) return;
      event.preventDefault();
      this.ask(event.submitter);
    });
  }

  ask(submitter) {
    const dialog = document.createElement("dialog");
    const text = document.createElement("p");
    text.textContent = this.element.dataset.question;
    const form = document.createElement("form");
    form.method = "dialog";
    form.className = "actions";
    for (const [value, words, kind] of [
      ["yes", this.element.dataset.yes, "btn primary"],
      ["no", "Go back", "btn"],
    ]) {
      const button = document.createElement("button");
      Object.assign(button, { value, className: kind, textContent: words });
      form.append(button);
    }
    dialog.append(text, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      this.confirmed = dialog.returnValue === "yes";
      if (this.confirmed) this.element.requestSubmit(submitter);
    });
    document.body.append(dialog);
    dialog.showModal();
  }
}
