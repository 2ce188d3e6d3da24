import { Controller } from "../lib/controller.js";
import { morph } from "../lib/morph.js";

// Keeps the forecast and the address in line with the form. The server computes the forecast.
export default class NewRun extends Controller {
  connect() {
    this.on(this.element, "input", (event) => this.changed(event));
    this.on(this.element, "formdata", (event) => this.compact(event.formData));
    this.on(this.part("find"), "input", (event) => this.find(event.target.value.toLowerCase()));
    this.on(this.element, "submit", () => {
      this.submitting = true;
    });
    this.count();
  }

  ended() {
    clearTimeout(this.timer);
  }

  changed(event) {
    const { target } = event;
    if (target === this.part("find")) return;
    if (target.name === "agent") this.selectAgent(target.value);
    if (target.matches('[data-new-run-target~="whole"]')) this.toggleDomain(target);
    if (target.matches('[data-new-run-target~="task"]')) this.toggleTask(target);
    this.count();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(target.hasAttribute("data-new-run-reload"), target.name), 250);
  }

  selectAgent(agent) {
    for (const box of this.parts("params")) {
      box.hidden = box.dataset.agent !== agent;
      box.disabled = box.hidden;
    }
  }

  boxes(domain) {
    return [...domain.querySelectorAll('[data-new-run-target~="task"]')];
  }

  toggleDomain(whole) {
    for (const box of this.boxes(whole.closest(".domain"))) box.checked = whole.checked;
  }

  toggleTask(box) {
    const domain = box.closest(".domain");
    const boxes = this.boxes(domain);
    domain.querySelector('[data-new-run-target~="whole"]').checked = boxes.every((other) => other.checked);
  }

  count() {
    const boxes = this.parts("task");
    const checked = boxes.filter((box) => box.checked).length;
    const selections = this.parts("selection").filter((box) => box.checked);
    const words = selections.map((box) => box.value);
    words.push(
      ...this.parts("label")
        .filter((box) => box.checked)
        .map((box) => box.value),
    );
    if (checked || !words.length)
      words.unshift(checked ? `${checked} of ${boxes.length}` : `all ${boxes.length}`);
    this.part("task-count").textContent = words.join(" and ");
    for (const domain of this.parts("domain")) {
      const inside = this.boxes(domain);
      const some = inside.some((box) => box.checked) && !inside.every((box) => box.checked);
      domain.querySelector('[data-new-run-target~="whole"]').indeterminate = some;
    }
  }

  // A whole domain is sent as its pattern, not as each of its tasks; empty fields are left out.
  compact(data) {
    const selected = data.getAll("tasks");
    const whole = new Set(
      selected.filter((value) => value.endsWith("/*")).map((value) => value.slice(0, -2)),
    );
    data.delete("tasks");
    for (const value of selected)
      if (value.endsWith("/*") || !whole.has(value.slice(0, value.indexOf("/")))) data.append("tasks", value);
    for (const [name, value] of [...data]) if (value === "") data.delete(name);
  }

  async update(reload, name) {
    const data = new FormData(this.element);
    data.delete("key");
    // Selections, labels and variants are those of the benchmark that was shown.
    if (reload) for (const field of ["tasks", "where", "variant"]) data.delete(field);
    if (name === "provider") data.delete("desktop_image");
    const address = `/runs/new?${new URLSearchParams(data)}`;
    history.replaceState(null, "", address);
    this.request?.abort();
    this.request = new AbortController();
    try {
      const response = await fetch(address, {
        signal: this.request.signal,
        headers: { Accept: "text/html" },
      });
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
      const target = reload ? "main" : "forecast";
      const part = fresh.getElementById(target);
      if (part && !this.submitting) morph(document.getElementById(target), part);
      if (reload) this.count();
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }

  find(words) {
    for (const domain of this.parts("domain")) {
      let some = false;
      for (const box of this.boxes(domain)) {
        const label = box.closest("label");
        label.hidden = !label.textContent.toLowerCase().includes(words);
        some ||= !label.hidden;
      }
      domain.hidden = !some && !domain.querySelector(".whole").textContent.toLowerCase().includes(words);
      if (words) domain.querySelector("details").open = some;
    }
  }
}
