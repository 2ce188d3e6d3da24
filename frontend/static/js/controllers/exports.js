import { at } from "../lib/address.js";
import { Controller } from "../lib/controller.js";
import { morph } from "../lib/morph.js";

// Keeps counts, command and address in line with the form. The server computes them.
export default class Exports extends Controller {
  connect() {
    this.on(this.element, "input", () => this.schedule());
    this.on(this.element, "submit", (event) => {
      event.preventDefault();
      this.update();
    });
    this.on(this.element, "formdata", ({ formData }) => {
      for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
    });
    this.part("apply").hidden = true;
  }

  ended() {
    clearTimeout(this.timer);
  }

  schedule() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), 250);
  }

  async update() {
    const address = at(`/exports?${new URLSearchParams(new FormData(this.element))}`);
    history.replaceState(null, "", address);
    this.request?.abort();
    this.request = new AbortController();
    try {
      const response = await fetch(address, {
        signal: this.request.signal,
        headers: { Accept: "text/html" },
      });
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
      for (const part of ["export", "contents"]) {
        const replacement = fresh.getElementById(part);
        if (replacement) morph(document.getElementById(part), replacement);
      }
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }
}
