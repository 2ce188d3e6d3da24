// What every behaviour inherits: its element, its named parts, and listeners that end with it.
export class Controller {
  #ended = new AbortController();

  constructor(element, name) {
    this.element = element;
    this.name = name;
  }

  connect() {}

  disconnect() {
    this.#ended.abort();
    this.ended?.();
  }

  // Aborted when the element has left the page.
  get signal() {
    return this.#ended.signal;
  }

  // The part that carries data-<controller>-target="<part>".
  part(part) {
    return this.element.querySelector(`[data-${this.name}-target~="${part}"]`);
  }

  parts(part) {
    return [...this.element.querySelectorAll(`[data-${this.name}-target~="${part}"]`)];
  }

  on(target, kinds, act, options = {}) {
    for (const kind of kinds.split(" "))
      target?.addEventListener(kind, act, { ...options, signal: this.signal });
  }
}
