const MOST = 8;
const STEP = 1.25;

// Zoom and pan of a picture in its frame: buttons and keys, the wheel with Ctrl (as pinching gives it), dragging while it
// is larger than its frame. `free` says whether the mouse is the reader's, not the desktop's.
export class Zoom {
  #scale = 1;
  #x = 0;
  #y = 0;

  constructor(frame, picture, on, free) {
    this.frame = frame;
    this.picture = picture;
    on(
      frame,
      "wheel",
      (event) => {
        if (!event.ctrlKey || !free()) return;
        event.preventDefault();
        this.by(event.deltaY < 0 ? STEP : 1 / STEP, event);
      },
      { passive: false },
    );
    on(frame, "pointerdown", (event) => {
      if (this.#scale === 1 || event.button || !free()) return;
      event.preventDefault();
      frame.setPointerCapture(event.pointerId);
      this.grip = { x: event.clientX - this.#x, y: event.clientY - this.#y };
    });
    on(frame, "pointermove", (event) => {
      if (this.grip) this.#move(this.#scale, event.clientX - this.grip.x, event.clientY - this.grip.y);
    });
    on(frame, "pointerup pointercancel", () => {
      this.grip = null;
    });
  }

  in() {
    this.by(STEP);
  }

  out() {
    this.by(1 / STEP);
  }

  reset() {
    this.#move(1, 0, 0);
  }

  // The point under the mouse stays where it is; without a mouse, the middle.
  by(factor, at) {
    const box = this.frame.getBoundingClientRect();
    const scale = Math.min(MOST, Math.max(1, this.#scale * factor));
    const x = at ? at.clientX - box.left - box.width / 2 : 0;
    const y = at ? at.clientY - box.top - box.height / 2 : 0;
    const ratio = scale / this.#scale;
    this.#move(scale, x - (x - this.#x) * ratio, y - (y - this.#y) * ratio);
  }

  #move(scale, x, y) {
    const across = Math.max(0, (this.picture.offsetWidth * scale - this.frame.clientWidth) / 2);
    const down = Math.max(0, (this.picture.offsetHeight * scale - this.frame.clientHeight) / 2);
    this.#scale = scale;
    this.#x = Math.min(across, Math.max(-across, x));
    this.#y = Math.min(down, Math.max(-down, y));
    this.frame.toggleAttribute("data-zoomed", scale > 1);
    this.picture.style.transform = scale === 1 ? "" : `translate(${this.#x}px, ${this.#y}px) scale(${scale})`;
  }
}
