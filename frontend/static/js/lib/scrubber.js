import { Controller } from "./controller.js";
import { isShortcut } from "./shortcuts.js";

const STEP_MS = 900;
// These have arrow keys of their own.
const SCROLLED = "pre, .tree, .scroll, [role=slider]";

// What every replay has: a scrubber, buttons, keys and a player that walk from place 0 to `last`. A replay says what its
// places are: `last`, and `go(place)`, which keeps to them.
export class Scrubber extends Controller {
  at = 0;

  connect() {
    this.on(this.part("scrub"), "input", (event) => this.go(Number(event.target.value)));
    this.on(this.part("prev"), "click", () => this.go(this.at - 1));
    this.on(this.part("next"), "click", () => this.go(this.at + 1));
    this.on(this.part("play"), "click", () => this.play());
    this.on(this.element, "click", (event) => this.choose(event));
    // Before the page's own keys, which would walk the rows of tables.
    this.on(document, "keydown", (event) => this.press(event), { capture: true });
  }

  ended() {
    clearTimeout(this.timer);
  }

  keys() {
    return {
      j: () => this.go(this.at + 1),
      k: () => this.go(this.at - 1),
      ArrowRight: () => this.go(this.at + 1),
      ArrowLeft: () => this.go(this.at - 1),
      Home: () => this.go(0),
      End: () => this.go(this.last),
      " ": () => this.play(),
    };
  }

  press(event) {
    const act = this.keys()[event.key];
    if (!act || !isShortcut(event, `[data-${this.name}-target=scrub]`)) return;
    if (event.key === " " && event.target.closest("button, a, summary")) return;
    if (event.key.length > 1 && event.target.closest(SCROLLED)) return;
    event.preventDefault();
    act();
  }

  // A click on a row of the list.
  choose(event) {
    const step = event.target.closest(".step");
    if (!step || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.go(Number(step.dataset.index));
  }

  get pause() {
    return STEP_MS / Number(this.part("speed")?.value ?? 1);
  }

  play() {
    this.playing = !this.playing;
    this.part("play").setAttribute("aria-label", this.playing ? "Pause the replay" : "Play the replay");
    this.part("play")
      .querySelector("use")
      .setAttribute("href", this.playing ? "#i-pause" : "#i-running");
    clearTimeout(this.timer);
    if (!this.playing) return;
    if (this.at >= this.last) this.go(0);
    const next = () => {
      if (this.at >= this.last) return this.play();
      this.go(this.at + 1);
      this.timer = setTimeout(next, this.pause);
    };
    this.timer = setTimeout(next, this.pause);
  }

  // The row that is shown, and its place on the scrubber.
  mark(row) {
    for (const step of this.parts("step")) {
      if (step === row) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    }
    row.scrollIntoView({ block: "nearest", container: "nearest" });
  }
}
