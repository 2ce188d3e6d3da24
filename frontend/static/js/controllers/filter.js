import { Controller } from "../lib/controller.js";

// A filter form that applies itself when a choice changes; empty fields stay out of the address.
export default class Filter extends Controller {
  connect() {
    this.on(this.element, "change", (event) => {
      if (event.target.matches("select, [type=checkbox]")) this.element.requestSubmit();
    });
    this.on(this.element, "formdata", (event) => {
      for (const name of new Set(event.formData.keys())) {
        const values = event.formData.getAll(name).filter((value) => value !== "");
        event.formData.delete(name);
        for (const value of values) event.formData.append(name, value);
      }
    });
    for (const button of this.parts("apply")) button.hidden = true;
  }
}
