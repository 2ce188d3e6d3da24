import { at } from "../lib/address.js";
import { Controller } from "../lib/controller.js";

const PAUSE_MS = 150;
const KINDS = {
  page: "Pages and actions",
  run: "Runs",
  configuration: "Configurations",
  task: "Tasks",
  episode: "Episodes",
};

// The search over everything: Ctrl-K or Cmd-K opens it, arrows choose, Enter opens. Words of tasks and models are set
// as text.
export default class Palette extends Controller {
  connect() {
    this.on(document, "keydown", (event) => this.shortcut(event));
    for (const button of document.querySelectorAll("[data-palette-open]"))
      this.on(button, "click", () => this.open());
    this.on(this.part("words"), "input", () => this.later());
    this.on(this.part("words"), "keydown", (event) => this.press(event));
    this.on(this.part("results"), "click", (event) => this.go(event.target.closest("[role=option]")));
  }

  shortcut(event) {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    if (event.shiftKey || event.altKey || event.target.closest("[role=application]")) return;
    event.preventDefault();
    this.open();
  }

  open() {
    if (!this.element.open) this.element.showModal();
    this.part("words").select();
    this.search();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), PAUSE_MS);
  }

  async search() {
    this.request?.abort();
    this.request = new AbortController();
    const query = new URLSearchParams({ q: this.part("words").value });
    try {
      const response = await fetch(at(`/api/v1/search?${query}`), { signal: this.request.signal });
      if (!response.ok) throw new Error(`status ${response.status}`);
      this.show((await response.json()).hits);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.show([]);
      this.say("The search did not answer. Try again.");
    }
  }

  show(hits) {
    const groups = Object.keys(KINDS).map((kind) => [kind, hits.filter((hit) => hit.kind === kind)]);
    const list = groups.filter(([, each]) => each.length).map(([kind, each]) => this.group(kind, each));
    this.part("results").replaceChildren(...list);
    this.say(hits.length ? "" : "Nothing found. Search for a name, a model, an instruction or an id.");
    this.choose(this.options[0]);
  }

  group(kind, hits) {
    const group = document.createElement("div");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", KINDS[kind]);
    const head = document.createElement("p");
    head.className = "small dim";
    head.textContent = KINDS[kind];
    group.append(head, ...hits.map((hit, place) => this.option(hit, `${kind}-${place}`)));
    return group;
  }

  option(hit, id) {
    const option = document.createElement("a");
    Object.assign(option, { id: `palette-${id}`, href: at(hit.url), tabIndex: -1 });
    option.setAttribute("role", "option");
    const title = document.createElement("b");
    title.textContent = hit.title;
    const detail = document.createElement("span");
    detail.className = "sub";
    detail.textContent = hit.detail;
    option.append(title, detail);
    return option;
  }

  get options() {
    return [...this.part("results").querySelectorAll("[role=option]")];
  }

  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const all = this.options;
      this.choose(all[(all.indexOf(this.chosen) + step + all.length) % all.length]);
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.go(this.chosen);
    }
  }

  choose(option) {
    this.chosen = option;
    for (const entry of this.options) entry.setAttribute("aria-selected", String(entry === option));
    this.part("words").setAttribute("aria-activedescendant", option?.id ?? "");
    option?.scrollIntoView({ block: "nearest" });
  }

  go(option) {
    if (option) location.assign(option.href);
  }

  say(text) {
    this.part("status").textContent = text;
  }
}
