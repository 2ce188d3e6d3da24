import { Controller } from "../lib/controller.js";
import { morph } from "../lib/morph.js";

// Keeps counts, command and address in step with what is ticked. The server counts; this only asks again.
export default class Exports extends Controller {
  connect() {
    this.on(this.element, "input", () => this.later());
    this.on(this.element, "submit", (event) => {
      event.preventDefault();
      this.ask();
    });
    this.on(this.element, "formdata", ({ formData }) => {
      for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
    });
    this.part("apply").hidden = true;
  }

  ended() {
    clearTimeout(this.timer);
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), 250);
  }

  async ask() {
    const address = `/exports?${new URLSearchParams(new FormData(this.element))}`;
    history.replaceState(null, "", address);
    this.asking?.abort();
    this.asking = new AbortController();
    try {
      const answer = await fetch(address, { signal: this.asking.signal, headers: { Accept: "text/html" } });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of ["gives", "holds"]) {
        const found = fresh.getElementById(part);
        if (found) morph(document.getElementById(part), found);
      }
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }
}
