import { at } from "../lib/address.js";
import { pointer, svg } from "../lib/overlay.js";
import { Scrubber } from "../lib/scrubber.js";

const SIDES = ["first", "second"];

// Replay of two episodes: one scrubber over the rows of their alignment moves both screens. Where an episode has no
// counterpart, its screen stays at its last step.
export default class Versus extends Scrubber {
  connect() {
    this.steps = this.parts("step");
    this.at = this.steps.findIndex((row) => row.hasAttribute("aria-current"));
    super.connect();
    this.on(this.part("diverge"), "click", () => this.diverge());
    this.steps[this.at]?.scrollIntoView({ block: "nearest", container: "nearest" });
  }

  get last() {
    return this.steps.length - 1;
  }

  keys() {
    return { ...super.keys(), d: () => this.diverge() };
  }

  go(place) {
    this.at = Math.min(this.last, Math.max(0, place));
    this.show(this.steps[this.at]);
    history.replaceState(null, "", this.address(this.steps[this.at]));
  }

  diverge() {
    const { versusDivergence } = this.element.dataset;
    if (versusDivergence) this.go(Number(versusDivergence));
  }

  address(row) {
    const address = new URL(this.element.dataset.versusBase, location.href);
    address.searchParams.set("at", row.dataset.index);
    return address;
  }

  show(row) {
    this.mark(row);
    for (const side of SIDES) this.screen(side, row);
    for (const box of this.parts("words")) box.hidden = box.dataset.rowNumber !== row.dataset.index;
    this.part("row").textContent = this.at + 1;
    this.part("scrub").value = this.at;
    this.part("count").textContent = `${this.at + 1} of ${this.steps.length}`;
    for (const side of SIDES) this.preload(this.steps[this.at + 1]?.dataset[side]);
  }

  screen(side, row) {
    const stage = this.part(side);
    const part = (name) => stage.querySelector(`[data-part=${name}]`);
    const step = JSON.parse(row.dataset[side] ?? "null");
    const last = step ?? this.lastStep(side);
    stage.toggleAttribute("data-gap", !step);
    part("title").textContent = !step ? "No counterpart" : step.final ? "Final state" : `Step ${step.index}`;
    part("actions").replaceChildren(...(step?.actions ?? []).map(words));
    part("overlay").setAttribute("viewBox", `0 0 ${last?.width ?? 1} ${last?.height ?? 1}`);
    part("overlay").replaceChildren(...pointer(step?.marks ?? []).map(svg));
    const image = part("image");
    image.hidden = !last?.frame;
    if (!last?.frame) return;
    Object.assign(image, {
      width: last.width,
      height: last.height,
      src: at(`/api/v1/artifacts/${last.frame}`),
    });
    image.alt = image.alt.replace(/( before step .*)?$/, ` before step ${last.index}`);
  }

  lastStep(side) {
    const before = this.steps.slice(0, this.at).findLast((row) => row.dataset[side]);
    return before ? JSON.parse(before.dataset[side]) : null;
  }

  preload(text) {
    const frame = text && JSON.parse(text).frame;
    if (frame) new Image().src = at(`/api/v1/artifacts/${frame}`);
  }
}

function words(text) {
  const act = document.createElement("span");
  act.className = "act";
  act.textContent = text;
  return act;
}
