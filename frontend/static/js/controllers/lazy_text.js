import { Controller } from "../lib/controller.js";

// A long text that is fetched when it is opened. It comes from a model or a guest, so every word is set as text.
export default class LazyText extends Controller {
  connect() {
    this.on(this.element, "toggle", () => this.open());
  }

  async open() {
    if (!this.element.open || this.asked) return;
    this.asked = true;
    const view = this.part("view");
    try {
      const answer = await fetch(`/api/v1/artifacts/${this.element.dataset.lazyTextSha}`, {
        signal: this.signal,
      });
      if (!answer.ok) throw new Error(answer.statusText);
      view.textContent = await answer.text();
    } catch (error) {
      if (error.name !== "AbortError") view.textContent = `It cannot be shown: ${error.message}`;
    }
  }
}
