import { at } from "../lib/address.js";
import { Controller } from "../lib/controller.js";

// A long text that is fetched when it is opened. It comes from a model or a guest, so every word is set as text.
export default class LazyText extends Controller {
  connect() {
    this.on(this.element, "toggle", () => this.open());
  }

  async open() {
    if (!this.element.open || this.loaded) return;
    this.loaded = true;
    const view = this.part("view");
    try {
      const { lazyTextSha, lazyTextUrl } = this.element.dataset;
      const response = await fetch(lazyTextUrl ?? at(`/api/v1/artifacts/${lazyTextSha}`), {
        signal: this.signal,
      });
      if (!response.ok) throw new Error(response.statusText);
      view.textContent = await response.text();
    } catch (error) {
      if (error.name !== "AbortError") view.textContent = `Could not load the text: ${error.message}`;
    }
  }
}
