import { Controller } from "../lib/controller.js";
import { Socket } from "../lib/socket.js";

const FAR = 6; // pixels on the page between press and release that make a drag
const AGAIN = 250; // ms in which a second click belongs to the first
const PAUSE = 600; // ms without a key after which typed characters are one step
const LONGEST = 2000;
const NAMES = {
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  Backspace: "backspace",
  ContextMenu: "apps",
  Delete: "delete",
  End: "end",
  Enter: "enter",
  Escape: "esc",
  Home: "home",
  Insert: "insert",
  PageDown: "pagedown",
  PageUp: "pageup",
  Tab: "tab",
  " ": "space",
};

function named(key) {
  return NAMES[key] ?? (/^F\d\d?$/.test(key) || key.length === 1 ? key.toLowerCase() : null);
}

// The live picture as a desktop: mouse and keyboard go to it while it is this page's and has the focus. What is done
// together is sent together, as one step: a double click, a run of typed characters, a turn of the wheel, a drag.
// Ctrl+Alt+Home leaves it.
export default class RemoteDesktop extends Controller {
  connect() {
    const { remoteDesktopAttempt: attempt, remoteDesktopHuman: human } = this.element.dataset;
    this.human = human === "yes";
    this.store = `desk:${attempt}`;
    Object.assign(this, { text: "", clicks: null, wheel: null, armed: null, mine: false });
    const known = JSON.parse(sessionStorage.getItem(this.store) ?? "null");
    this.hand = known?.hand ?? Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join("-");
    this.number = known?.number ?? 0;
    this.remember();
    this.socket = new Socket(`/ws/attempts/${attempt}/control?hand=${this.hand}`, {
      message: (text) => this.told(JSON.parse(text)),
      state: (state) => state !== "on" && this.show({ mine: false, state }),
    });
    this.socket.open();
    const screen = this.part("screen");
    this.on(screen, "pointerdown", (event) => this.down(event));
    this.on(screen, "pointerup", (event) => this.up(event));
    this.on(screen, "contextmenu dragstart", (event) => this.acting && event.preventDefault());
    this.on(screen, "wheel", (event) => this.turned(event), { passive: false });
    this.on(screen, "keydown", (event) => this.key(event));
    this.on(screen, "blur", () => this.before());
    this.on(screen, "paste", (event) => this.pasted(event));
    this.on(this.part("take"), "click", () =>
      this.socket.send(JSON.stringify({ kind: this.mine ? "give" : "take" })),
    );
    for (const name of ["done", "fail"]) this.on(this.part(name), "click", (event) => this.end(event.target));
    this.on(this.part("type"), "click", () => this.typed());
  }

  ended() {
    for (const one of [this.clicks, this.wheel, this]) clearTimeout(one?.timer);
    this.socket.close();
  }

  remember() {
    sessionStorage.setItem(this.store, JSON.stringify({ hand: this.hand, number: this.number }));
  }

  // Only the live picture is a desktop, not a step that is looked at.
  get acting() {
    return (
      this.mine && this.ready && (this.part("screen").querySelector("img")?.src ?? "").startsWith("blob:")
    );
  }

  told(message) {
    if (message.kind === "refused") this.say(message.why);
    else this.show(message);
  }

  show({ mine, taken, step, state }) {
    this.mine = mine;
    this.ready = state === "running";
    this.part("bar").toggleAttribute("data-mine", mine && this.ready);
    if (step !== undefined) this.part("step").textContent = step;
    const take = this.part("take");
    if (take) {
      take.textContent = mine ? "Hand back" : "Take over";
      take.disabled = Boolean(taken && !mine) || !this.ready;
    }
    for (const name of ["done", "fail", "type"]) {
      const button = this.part(name);
      if (button) button.disabled = !(mine && this.ready);
    }
    const words = {
      running: mine ? "You act." : this.whose(taken),
      preparing: "The desktop is being prepared.",
    }[state];
    this.part("who").textContent =
      words ?? { off: "Reconnecting.", ended: "Over." }[state] ?? "The result is being found.";
  }

  // In a run for a person no agent acts: the page takes the desktop by itself.
  whose(taken) {
    if (!this.human) return taken ? "Somebody else has the desktop." : "The agent acts.";
    return taken
      ? "Another page has the desktop. This one gets it soon after that is closed."
      : "The desktop is not to be had for now. This page keeps trying.";
  }

  say(words) {
    this.part("said").textContent = words;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.part("said").textContent = "";
    }, 6000);
  }

  // Everything that waits to be sent, in the order in which it was done.
  before() {
    this.clicked();
    this.scrolled();
    this.written();
  }

  send(...actions) {
    this.number += 1;
    this.remember();
    this.socket.send(JSON.stringify({ kind: "act", n: this.number, actions }));
  }

  point(event) {
    const { remoteDesktopWidth: width, remoteDesktopHeight: height } = this.element.dataset;
    const box = this.part("screen").querySelector("img").getBoundingClientRect();
    const across = Math.floor(((event.clientX - box.left) / box.width) * width);
    const down = Math.floor(((event.clientY - box.top) / box.height) * height);
    return {
      x: Math.min(width - 1, Math.max(0, across)),
      y: Math.min(height - 1, Math.max(0, down)),
    };
  }

  down(event) {
    if (!this.acting || event.button > 2) return;
    event.preventDefault();
    const screen = this.part("screen");
    screen.focus({ preventScroll: true });
    screen.setPointerCapture(event.pointerId);
    this.scrolled();
    this.written();
    this.from = { at: this.point(event), x: event.clientX, y: event.clientY };
  }

  up(event) {
    if (!this.acting || !this.from) return;
    const { at, x, y } = this.from;
    this.from = null;
    const button = ["left", "middle", "right"][event.button];
    if (Math.hypot(event.clientX - x, event.clientY - y) > FAR) {
      this.clicked();
      this.send({ type: "MOVE_TO", ...at }, { type: "DRAG_TO", ...this.point(event), button });
    } else if (this.part("hover").checked) {
      this.clicked();
      this.send({ type: "MOVE_TO", ...at });
    } else if (button === "left") this.click(at);
    else {
      this.clicked();
      this.send({ type: "CLICK", ...at, button });
    }
  }

  click(at) {
    const last = this.clicks;
    const same = last && last.count < 3 && Math.hypot(last.at.x - at.x, last.at.y - at.y) < 2 * FAR;
    if (!same) this.clicked();
    const count = same ? last.count + 1 : 1;
    clearTimeout(last?.timer);
    this.clicks = { at: same ? last.at : at, count, timer: setTimeout(() => this.clicked(), AGAIN) };
  }

  clicked() {
    if (!this.clicks) return;
    const { at, count, timer } = this.clicks;
    clearTimeout(timer);
    this.clicks = null;
    this.send({ type: "CLICK", ...at, clicks: count });
  }

  turned(event) {
    if (!this.acting || document.activeElement !== this.part("screen")) return;
    event.preventDefault();
    this.clicked();
    this.written();
    const unit = event.deltaMode === 0 ? 100 : 3;
    this.wheel ??= { at: this.point(event), dx: 0, dy: 0 };
    this.wheel.dx += event.deltaX / unit;
    this.wheel.dy -= event.deltaY / unit;
    clearTimeout(this.wheel.timer);
    this.wheel.timer = setTimeout(() => this.scrolled(), 200);
  }

  scrolled() {
    if (!this.wheel) return;
    const { at, dx, dy, timer } = this.wheel;
    clearTimeout(timer);
    this.wheel = null;
    const whole = (value) =>
      Math.max(-100, Math.min(100, Math.sign(value) * Math.round(Math.abs(value) || 0)));
    const [across, up] = [whole(dx), whole(dy)];
    if (across || up) this.send({ type: "MOVE_TO", ...at }, { type: "SCROLL", dx: across, dy: up });
  }

  key(event) {
    if (event.ctrlKey && event.altKey && event.key === "Home") {
      event.preventDefault();
      event.stopPropagation();
      this.before();
      this.part("leave").focus();
      return;
    }
    if (!this.acting || event.isComposing) return;
    event.stopPropagation();
    if (event.ctrlKey && event.shiftKey && event.key.toLowerCase() === "v") return; // The browser pastes: see pasted().
    if (["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead"].includes(event.key)) return;
    event.preventDefault();
    const plain = event.getModifierState("AltGraph") || !(event.ctrlKey || event.altKey || event.metaKey);
    if (plain && event.key.length === 1) this.letter(event.key);
    else if (event.key === "Backspace" && this.text && plain) this.letter("");
    else this.combined(event);
  }

  // One more character of the run that is being typed; an empty one takes the last back.
  letter(char) {
    this.clicked();
    this.scrolled();
    this.text = char ? this.text + char : [...this.text].slice(0, -1).join("");
    this.part("echo").textContent = this.text;
    clearTimeout(this.typing);
    if (this.text.length >= LONGEST) this.written();
    else this.typing = setTimeout(() => this.written(), PAUSE);
  }

  written() {
    clearTimeout(this.typing);
    if (this.text) this.send({ type: "TYPING", text: this.text });
    this.text = "";
    this.part("echo").textContent = "";
  }

  combined(event) {
    const key = named(event.key);
    if (!key) return;
    this.before();
    const held = [
      [event.ctrlKey, "ctrl"],
      [event.altKey, "alt"],
      [event.metaKey, "win"],
      [event.shiftKey, "shift"],
    ].flatMap(([down, name]) => (down ? [name] : []));
    if (held.length) this.send({ type: "HOTKEY", keys: [...held, key] });
    else this.send({ type: "PRESS", keys: [key] });
  }

  pasted(event) {
    if (!this.acting) return;
    event.preventDefault();
    this.paste(event.clipboardData?.getData("text/plain") ?? "");
  }

  typed() {
    const field = this.part("text");
    this.paste(field.value);
    field.value = "";
  }

  paste(text) {
    if (!text) return;
    this.before();
    this.send({ type: "TYPING", text });
  }

  // A task is ended by two presses, so that none ends it by mistake.
  end(button) {
    this.before();
    if (this.armed !== button) {
      this.armed = button;
      this.say(`Press ${button.textContent.trim()} again to end the task.`);
      setTimeout(() => {
        if (this.armed === button) this.armed = null;
      }, 5000);
      return;
    }
    this.armed = null;
    this.send({ type: button === this.part("done") ? "DONE" : "FAIL" });
  }
}
