const MOST = 8;
const STEP = 1.25;
const CLICKS = 2; // by a double click
const NOTCH = 50; // pixels

// Zoom and pan of a picture in its frame: buttons and keys, a double click, two fingers, the wheel with Ctrl (as pinching
// a touch pad gives it), dragging while it is larger than its frame. The wheel alone scrolls the page, until the picture
// is zoomed or fills the screen. `free` says whether the mouse is the reader's, not the desktop's.
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
        const alone = this.#scale === 1 && !document.fullscreenElement;
        if ((alone && !event.ctrlKey) || !event.deltaY || !free()) return;
        event.preventDefault();
        // Wheels turn by notches of about 100, touch pads by few pixels at a time.
        this.by(STEP ** (-Math.sign(event.deltaY) * Math.min(1, Math.abs(event.deltaY) / NOTCH)), event);
      },
      { passive: false },
    );
    on(frame, "dblclick", (event) => {
      if (!free()) return;
      if (this.#scale > 1) this.reset();
      else this.by(CLICKS, event);
    });
    this.#pinch(on, free);
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

  #pinch(on, free) {
    const moved = (event) => {
      if (event.touches.length !== 2 || !free()) {
        this.fingers = null;
        return;
      }
      event.preventDefault();
      const [first, second] = event.touches;
      const now = {
        apart: Math.hypot(first.clientX - second.clientX, first.clientY - second.clientY),
        clientX: (first.clientX + second.clientX) / 2,
        clientY: (first.clientY + second.clientY) / 2,
      };
      const before = this.fingers;
      this.grip = null;
      this.fingers = now;
      if (!before?.apart) return;
      this.by(now.apart / before.apart, now);
      this.#move(this.#scale, this.#x + now.clientX - before.clientX, this.#y + now.clientY - before.clientY);
    };
    on(this.frame, "touchstart touchmove touchend touchcancel", moved, { passive: false });
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
