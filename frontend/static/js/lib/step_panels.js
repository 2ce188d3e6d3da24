import { fetched } from "./step_parts.js";

const REST_MS = 120;

// The panels below the screen that tell of one step: its prompt, reply and usage, and its accessibility tree. They are
// loaded only while they can be seen, and once the reader rests on a step.
export class StepPanels {
  #timer = 0;
  #watched = null;
  #visible = false;

  constructor(address, signal) {
    this.address = address;
    this.signal = signal;
    this.watcher = new IntersectionObserver((entries) => {
      this.#visible = entries.at(-1).isIntersecting;
      this.#later();
    });
  }

  close() {
    clearTimeout(this.#timer);
    this.watcher.disconnect();
  }

  show(step) {
    this.step = step;
    this.#later();
  }

  #later() {
    const panels = document.getElementById("step-panels");
    if (panels !== this.#watched) {
      this.watcher.disconnect();
      this.#watched = panels;
      if (panels) this.watcher.observe(panels);
      return;
    }
    clearTimeout(this.#timer);
    if (this.#visible && this.step) this.#timer = setTimeout(() => this.#load(), REST_MS);
  }

  async #load() {
    const { index, a11y } = this.step.dataset;
    const detail = this.#watched.querySelector("[data-step-detail]");
    if (detail.dataset.stepDetail === index) return;
    detail.dataset.stepDetail = index;
    for (const title of this.#watched.querySelectorAll("[data-step-title]")) title.textContent = index;
    this.#watched
      .querySelector('[data-controller~="tree"]')
      .dispatchEvent(new CustomEvent("tree:show", { detail: a11y }));
    try {
      const fragment = await fetched(this.address(index), this.signal);
      if (detail.dataset.stepDetail === index) detail.replaceChildren(...fragment.body.childNodes);
    } catch (error) {
      if (error.name !== "AbortError") detail.textContent = `Could not load the step: ${error.message}`;
    }
  }
}
