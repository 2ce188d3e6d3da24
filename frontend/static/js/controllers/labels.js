import { Controller } from "../lib/controller.js";
import { isShortcut } from "../lib/shortcuts.js";

// The form of failure labels: each label's key toggles it, s saves.
export default class Labels extends Controller {
  connect() {
    this.on(document, "keydown", (event) => this.press(event));
  }

  press(event) {
    if (!isShortcut(event, "[data-labels-target~=label]")) return;
    if (event.key === "s") this.element.requestSubmit(this.part("save"));
    const label = this.parts("label").find((box) => box.dataset.keyPress === event.key);
    if (!label) return;
    event.preventDefault();
    label.checked = !label.checked;
    label.closest("label").scrollIntoView({ block: "nearest" });
  }
}
