import { Controller } from "../lib/controller.js";
import { pointer, svg } from "../lib/overlay.js";

const STEP_MS = 900;

// Replay of an attempt: a scrubber over its steps, clicks marked on the picture, the step in the address. While the
// attempt is live and nobody scrubs, the newest frame is shown.
export default class Replay extends Controller {
  connect() {
    const { replayFollowing } = this.element.dataset;
    this.following = replayFollowing === "yes";
    this.at = Math.max(
      0,
      this.steps.findIndex((step) => step.hasAttribute("aria-current")),
    );
    this.on(this.part("scrub"), "input", (event) => this.go(Number(event.target.value)));
    this.on(this.part("prev"), "click", () => this.go(this.at - 1));
    this.on(this.part("next"), "click", () => this.go(this.at + 1));
    this.on(this.part("play"), "click", () => this.play());
    this.on(this.part("follow"), "click", () => this.follow(!this.following));
    this.on(this.element, "click", (event) => this.selectStep(event));
    this.on(this.element, "live:frame", () => this.clearMarks());
    this.on(this.element, "live:ended", () => this.finish());
    // Before the page's own keys, which would walk the rows of tables.
    this.on(document, "keydown", (event) => this.press(event), { capture: true });
    this.stepCount = this.steps.length;
    this.watcher = new MutationObserver(() => this.steps.length !== this.stepCount && this.stepsAdded());
    this.watcher.observe(this.element, { childList: true, subtree: true });
    if (this.following) this.follow(true);
    else if (this.steps.length)
      this.steps[this.at].scrollIntoView({ block: "nearest", container: "nearest" });
  }

  ended() {
    clearTimeout(this.timer);
    this.watcher.disconnect();
  }

  get steps() {
    return this.parts("step");
  }

  // Whether a key is meant for the replay, not for a field.
  isKey(event) {
    const field = "input:not([type=range]), textarea, select, dialog, summary, [role=application]";
    return !event.target.closest(field) && !event.ctrlKey && !event.metaKey;
  }

  press(event) {
    if (!this.isKey(event)) return;
    const act = { j: () => this.go(this.at + 1), k: () => this.go(this.at - 1), " ": () => this.play() }[
      event.key
    ];
    if (!act || (event.key === " " && event.target.closest("button, a"))) return;
    event.preventDefault();
    act();
  }

  selectStep(event) {
    const step = event.target.closest(".step");
    if (!step || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.go(this.steps.indexOf(step));
  }

  go(place) {
    const steps = this.steps;
    if (!steps.length) return;
    if (this.following) this.follow(false);
    this.ending = false;
    this.at = Math.min(steps.length - 1, Math.max(0, place));
    this.show(steps[this.at]);
    history.replaceState(null, "", this.address(steps[this.at]));
  }

  address(step) {
    const { replayBase, replayAttempt } = this.element.dataset;
    const address = new URL(replayBase, location.href);
    if (replayAttempt) address.searchParams.set("attempt", replayAttempt);
    address.searchParams.set("step", step.dataset.index);
    return address;
  }

  show(step) {
    this.current(step);
    this.picture(step);
    this.showActions(step);
    const { index } = step.dataset;
    for (const box of document.querySelectorAll("[data-step]")) box.hidden = box.dataset.step !== index;
    for (const title of document.querySelectorAll('[data-replay-target~="tree-title"]'))
      title.textContent = index;
    for (const title of document.querySelectorAll('[data-replay-target~="reply-title"]'))
      title.textContent = index;
    document
      .querySelector('[data-controller~="tree"]')
      ?.dispatchEvent(new CustomEvent("tree:show", { detail: step.dataset.a11y }));
  }

  picture(step) {
    const image = this.part("image");
    const { frame, width, height, index } = step.dataset;
    image.hidden = !frame;
    if (frame) image.src = `/api/v1/artifacts/${frame}`;
    Object.assign(image, { width, height, alt: `Screen before step ${index}` });
    this.part("overlay").setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.mark(JSON.parse(step.dataset.marks || "[]"));
    // Preload the next picture, so that playing does not flicker.
    const nextFrame = this.steps[this.at + 1]?.dataset.frame;
    if (nextFrame) new Image().src = `/api/v1/artifacts/${nextFrame}`;
  }

  mark(marks) {
    this.part("overlay").replaceChildren(...pointer(marks).map(svg));
  }

  showActions(step) {
    const actions = [...step.querySelectorAll(".acts code")].map((code) => {
      const act = document.createElement("span");
      act.className = "act";
      act.textContent = code.textContent;
      return act;
    });
    const none = document.createElement("span");
    none.className = "dim";
    none.textContent = step.dataset.final ? "Final state (scored)" : "No action";
    this.part("actions").replaceChildren(...(actions.length ? actions : [none]));
    this.part("scrub").value = this.at;
    const title = step.dataset.final ? "Final state" : `Step ${step.dataset.index}`;
    this.part("count").textContent = `${title} · ${this.at + 1} of ${this.steps.length}`;
  }

  play() {
    this.playing = !this.playing;
    this.part("play").setAttribute("aria-label", this.playing ? "Pause the replay" : "Play the replay");
    this.part("play")
      .querySelector("use")
      .setAttribute("href", this.playing ? "#i-pause" : "#i-running");
    clearTimeout(this.timer);
    if (!this.playing) return;
    if (this.at >= this.steps.length - 1) this.go(0);
    const next = () => {
      if (this.at >= this.steps.length - 1) return this.play();
      this.go(this.at + 1);
      this.timer = setTimeout(next, STEP_MS);
    };
    this.timer = setTimeout(next, STEP_MS);
  }

  follow(on) {
    this.following = on;
    this.part("follow")?.setAttribute("aria-pressed", String(on));
    this.part("live")?.toggleAttribute("data-paused", !on);
    if (on && this.element.dataset.replayLive === "yes") {
      this.mark([]);
      this.steps.at(-1)?.scrollIntoView({ block: "nearest", container: "nearest" });
      history.replaceState(null, "", this.element.dataset.replayBase);
    }
  }

  clearMarks() {
    if (this.following) this.mark([]);
  }

  // The attempt has ended: what was live becomes its replay, at its last step.
  finish() {
    if (!this.following) return;
    this.follow(false);
    this.ending = true;
    this.part("follow")?.remove();
    this.latest();
  }

  // The page has got new steps.
  stepsAdded() {
    const steps = this.steps;
    this.stepCount = steps.length;
    this.part("scrub").max = Math.max(0, steps.length - 1);
    if (this.following || this.ending) this.latest();
  }

  latest() {
    const steps = this.steps;
    if (!steps.length) return;
    this.at = steps.length - 1;
    const last = steps[this.at];
    if (this.ending) {
      this.show(last);
      return;
    }
    this.current(last);
    this.showActions(last);
  }

  current(step) {
    for (const one of this.steps) {
      if (one === step) one.setAttribute("aria-current", "step");
      else one.removeAttribute("aria-current");
    }
    step.scrollIntoView({ block: "nearest", container: "nearest" });
  }
}
