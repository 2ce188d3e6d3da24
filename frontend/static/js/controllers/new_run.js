import { at } from "../lib/address.js";
import { Controller } from "../lib/controller.js";
import { discard, draft, keep, sent } from "../lib/drafts.js";
import { morph } from "../lib/morph.js";

const DRAFT = "draft:/runs/new";
// Their placeholders and choices depend on the agent and the preset.
const FOLLOWING = ["forecast", "spaces", "budgets"];

// Keeps the forecast and the address in line with the form. The server computes the forecast.
export default class NewRun extends Controller {
  connect() {
    this.on(this.element, "input", (event) => this.changed(event));
    this.on(this.element, "formdata", (event) => this.compact(event.formData));
    this.on(this.element, "toggle", (event) => this.open(event.target), { capture: true });
    this.on(this.element, "click", (event) => this.list(event));
    this.on(this.element, "submit", () => {
      this.submitting = true;
      sent(DRAFT);
    });
    this.offerDraft();
    this.count();
    this.estimate();
    if (this.part("find").value && !this.partial) this.find(this.part("find").value);
  }

  ended() {
    clearTimeout(this.timer);
    clearTimeout(this.estimateTimer);
  }

  // A form that was changed and not sent is offered to whoever opens an empty one.
  offerDraft() {
    const query = draft(DRAFT);
    const box = this.part("draft");
    box.hidden = !query || location.search !== "" || "answered" in document.documentElement.dataset;
    this.on(this.part("restore"), "click", () => location.assign(at(`/runs/new?${query}`)));
    this.on(this.part("discard"), "click", () => {
      discard(DRAFT);
      box.hidden = true;
    });
  }

  changed(event) {
    const { target } = event;
    if (target === this.part("find")) {
      this.find(target.value);
      return;
    }
    if (target.name === "agent") this.selectAgent(target.value);
    if (target.matches('[data-new-run-target~="whole"]')) this.toggleDomain(target);
    if (target.matches('[data-new-run-target~="task"]')) this.toggleTask(target);
    this.count();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(target.hasAttribute("data-new-run-reload"), target.name), 250);
  }

  // The page lists only some tasks of a large benchmark: those of opened domains, searched or ticked ones.
  get partial() {
    return this.element.querySelector("#domains").hasAttribute("data-partial");
  }

  open(details) {
    if (details.open && !this.boxes(details).length)
      details.querySelector('[data-new-run-target~="list"]')?.click();
  }

  list(event) {
    const button = event.target.closest('[data-new-run-target~="list"]');
    if (!button) return;
    event.preventDefault();
    this.update(false, "", button.value);
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
    domain.querySelector('[data-new-run-target~="whole"]').checked =
      boxes.length === Number(domain.dataset.tasks) && boxes.every((other) => other.checked);
  }

  count() {
    const domains = this.parts("domain");
    const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
    const checked = sum(domains.map((domain) => this.checked(domain)));
    const total = sum(domains.map((domain) => Number(domain.dataset.tasks)));
    const selections = this.parts("selection").filter((box) => box.checked);
    const words = selections.map((box) => box.value);
    words.push(
      ...this.parts("label")
        .filter((box) => box.checked)
        .map((box) => box.value),
    );
    if (checked || !words.length) words.unshift(checked ? `${checked} of ${total}` : `all ${total}`);
    this.part("task-count").textContent = words.join(" and ");
    for (const domain of domains) {
      const some = this.checked(domain);
      domain.querySelector('[data-new-run-target~="whole"]').indeterminate =
        some > 0 && some < Number(domain.dataset.tasks);
    }
  }

  // How many tasks of a domain are selected, listed or not.
  checked(domain) {
    if (domain.querySelector('[data-new-run-target~="whole"]').checked) return Number(domain.dataset.tasks);
    return this.boxes(domain).filter((box) => box.checked).length;
  }

  // A whole domain is sent as its pattern, not as each of its tasks; empty fields are left out.
  compact(data) {
    const selected = data.getAll("tasks");
    const wholeDomains = new Set(
      selected.filter((value) => value.endsWith("/*")).map((value) => value.slice(0, -2)),
    );
    data.delete("tasks");
    for (const value of selected)
      if (value.endsWith("/*") || !wholeDomains.has(value.slice(0, value.indexOf("/"))))
        data.append("tasks", value);
    for (const [name, value] of [...data]) if (value === "") data.delete(name);
  }

  // Brings the page, or the parts that follow from the selection, in line with the form. `name`: of the field that
  // changed; `opened`: a domain whose tasks are to be listed.
  async update(reload, name, opened) {
    const data = new FormData(this.element);
    data.delete("key");
    if (opened) data.append("open", opened);
    // Selections, labels and variants are those of the benchmark that was shown.
    if (reload) for (const field of ["tasks", "where", "variant", "open", "find"]) data.delete(field);
    if (name === "provider") data.delete("desktop_image");
    const address = at(`/runs/new?${new URLSearchParams(data)}`);
    history.replaceState(null, "", address);
    this.later();
    if (!this.submitting) keep(DRAFT, String(new URLSearchParams(data)));
    this.part("draft").hidden = true;
    this.request?.abort();
    this.request = new AbortController();
    try {
      const response = await fetch(address, {
        signal: this.request.signal,
        headers: { Accept: "text/html" },
      });
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
      const parameters = this.parts("params").map((box) => box.id);
      const parts = [...FOLLOWING, ...parameters, ...(this.partial ? ["domains"] : [])];
      const targets = reload ? ["main"] : parts;
      for (const target of targets) {
        const part = fresh.getElementById(target);
        if (part && !this.submitting) morph(document.getElementById(target), part);
      }
      this.mark(fresh);
      this.count();
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }

  // What the run would take is read from many earlier episodes, so it comes after the rest.
  later() {
    clearTimeout(this.estimateTimer);
    this.estimateTimer = setTimeout(() => this.estimate(), 600);
  }

  async estimate() {
    const data = new FormData(this.element);
    data.delete("key");
    this.estimating?.abort();
    this.estimating = new AbortController();
    try {
      const response = await fetch(at(`/runs/new/estimate?${new URLSearchParams(data)}`), {
        signal: this.estimating.signal,
        headers: { Accept: "text/html" },
      });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
      this.part("estimate").replaceChildren(...fresh.body.children);
    } catch (error) {
      if (error.name !== "AbortError")
        this.part("estimate").textContent = "Time and cost could not be estimated.";
    }
  }

  // Each field has what the service found wrong with it.
  mark(fresh) {
    for (const slot of this.parts("error")) {
      const freshSlot = fresh.getElementById(slot.id);
      if (!freshSlot) continue;
      morph(slot, freshSlot);
      for (const field of this.element.querySelectorAll(`[aria-describedby="${slot.id}"]`))
        field.ariaInvalid = freshSlot.hidden ? null : "true";
    }
  }

  find(text) {
    const words = text.toLowerCase();
    if (this.partial) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.update(false, "find"), 250);
      return;
    }
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
