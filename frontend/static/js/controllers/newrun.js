import { Controller } from "../lib/controller.js";
import { morph } from "../lib/morph.js";

// Keeps the form's forecast and address in step with what is chosen. The server computes; this only asks again.
export default class NewRun extends Controller {
  connect() {
    this.on(this.element, "input", (event) => this.changed(event));
    this.on(this.element, "formdata", (event) => this.tidy(event.formData));
    this.on(this.part("find"), "input", (event) => this.find(event.target.value.toLowerCase()));
    this.on(this.element, "submit", () => {
      this.sent = true;
    });
    this.count();
  }

  ended() {
    clearTimeout(this.timer);
  }

  changed(event) {
    const { target } = event;
    if (target === this.part("find")) return;
    if (target.name === "agent") this.choose(target.value);
    if (target.matches('[data-newrun-target~="whole"]')) this.all(target);
    if (target.matches('[data-newrun-target~="task"]')) this.one(target);
    this.count();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(target.hasAttribute("data-newrun-reload"), target.name), 250);
  }

  choose(agent) {
    for (const box of this.parts("params")) {
      box.hidden = box.dataset.agent !== agent;
      box.disabled = box.hidden;
    }
  }

  boxes(domain) {
    return [...domain.querySelectorAll('[data-newrun-target~="task"]')];
  }

  all(whole) {
    for (const box of this.boxes(whole.closest(".domain"))) box.checked = whole.checked;
  }

  one(box) {
    const domain = box.closest(".domain");
    const boxes = this.boxes(domain);
    domain.querySelector('[data-newrun-target~="whole"]').checked = boxes.every((other) => other.checked);
  }

  count() {
    const boxes = this.parts("task");
    const picked = boxes.filter((box) => box.checked).length;
    const named = this.parts("selection").filter((box) => box.checked);
    const words = named.map((box) => box.value);
    if (picked || !words.length)
      words.unshift(picked ? `${picked} of ${boxes.length}` : `all ${boxes.length}`);
    this.part("picked").textContent = words.join(" and ");
    for (const domain of this.parts("domain")) {
      const inside = this.boxes(domain);
      const some = inside.some((box) => box.checked) && !inside.every((box) => box.checked);
      domain.querySelector('[data-newrun-target~="whole"]').indeterminate = some;
    }
  }

  // A whole domain is sent as its pattern, not as each of its tasks; empty fields are left out.
  tidy(data) {
    const ticked = data.getAll("tasks");
    const whole = new Set(ticked.filter((value) => value.endsWith("/*")).map((value) => value.slice(0, -2)));
    data.delete("tasks");
    for (const value of ticked)
      if (value.endsWith("/*") || !whole.has(value.slice(0, value.indexOf("/")))) data.append("tasks", value);
    for (const [name, value] of [...data]) if (value === "") data.delete(name);
  }

  async ask(reload, name) {
    const data = new FormData(this.element);
    data.delete("key");
    // Selections and variants are those of the benchmark that was shown.
    if (reload) for (const field of ["tasks", "variant"]) data.delete(field);
    if (name === "provider") data.delete("desktop_image");
    const address = `/runs/new?${new URLSearchParams(data)}`;
    history.replaceState(null, "", address);
    this.asking?.abort();
    this.asking = new AbortController();
    try {
      const answer = await fetch(address, { signal: this.asking.signal, headers: { Accept: "text/html" } });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const wanted = reload ? "main" : "forecast";
      const part = fresh.getElementById(wanted);
      if (part && !this.sent) morph(document.getElementById(wanted), part);
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
