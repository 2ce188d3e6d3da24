import { Controller } from "../lib/controller.js";
import { Socket } from "../lib/socket.js";

const DRAG_DISTANCE = 6; // pixels on the page between press and release
const DOUBLE_CLICK = 250; // ms in which a second click belongs to the first
const TYPING_PAUSE = 600; // ms without a key after which typed characters are one step
const MAX_TEXT = 2000;
const KEY_NAMES = {
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

const STATUS_TEXT = {
  agent: "Agent in control",
  you: "You are in control",
  "other-person": "Someone else is in control",
  "other-tab": "The desktop is open in another tab. Close that tab to continue here.",
  unavailable: "The desktop is not available yet. Retrying...",
  preparing: "Preparing the desktop...",
  off: "Reconnecting...",
  polling: "The connection cannot be opened. Retrying...",
  ended: "Ended",
};

function keyName(key) {
  return KEY_NAMES[key] ?? (/^F\d\d?$/.test(key) || key.length === 1 ? key.toLowerCase() : null);
}

// Remote control of a live desktop: sends mouse and keyboard while this page is in control and the picture has the
// focus. A double click, a run of typed characters, a turn of the wheel or a drag is one step. Ctrl+Alt+Home leaves it.
export default class RemoteDesktop extends Controller {
  connect() {
    const { remoteDesktopAttempt: attempt, remoteDesktopHuman: human } = this.element.dataset;
    this.human = human === "yes";
    this.store = `remote-desktop:${attempt}`;
    Object.assign(this, { text: "", clicks: null, wheel: null, armed: null, inControl: false });
    const session = JSON.parse(sessionStorage.getItem(this.store) ?? "null");
    this.client = session?.client ?? Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join("-");
    this.number = session?.number ?? 0;
    this.remember();
    this.socket = new Socket(`/ws/attempts/${attempt}/control?client=${this.client}`, {
      message: (text) => this.receive(JSON.parse(text)),
      state: (state) => state !== "on" && this.show({ in_control: false, state }),
    });
    this.socket.open();
    const screen = this.part("screen");
    this.on(screen, "pointerdown", (event) => this.down(event));
    this.on(screen, "pointerup", (event) => this.up(event));
    this.on(screen, "contextmenu dragstart", (event) => this.acting && event.preventDefault());
    this.on(screen, "wheel", (event) => this.scroll(event), { passive: false });
    this.on(screen, "keydown", (event) => this.key(event));
    this.on(screen, "blur", () => this.flush());
    this.on(screen, "paste", (event) => this.pasteEvent(event));
    this.on(this.part("take"), "click", () =>
      this.socket.send(JSON.stringify({ kind: this.inControl ? "hand_back" : "take_over" })),
    );
    for (const name of ["done", "fail"]) this.on(this.part(name), "click", (event) => this.end(event.target));
    this.on(this.part("type"), "click", () => this.typeField());
    this.on(this.part("copy"), "click", () => this.copy());
    for (const button of this.parts("keys"))
      this.on(button, "click", () => this.sendCombination(button.dataset.keys.split(" ")));
    this.on(document, "fullscreenchange", () => this.lockKeys());
  }

  ended() {
    for (const waiting of [this.clicks, this.wheel, this]) clearTimeout(waiting?.timer);
    navigator.keyboard?.unlock?.();
    this.socket.close();
  }

  remember() {
    sessionStorage.setItem(this.store, JSON.stringify({ client: this.client, number: this.number }));
  }

  // Only the live picture takes input, not a step of the replay.
  get acting() {
    return (
      this.inControl &&
      this.ready &&
      (this.part("screen").querySelector("img")?.src ?? "").startsWith("blob:")
    );
  }

  receive(message) {
    if (message.kind === "rejected") this.notify(message.detail);
    else if (message.kind === "clipboard") this.copied(message.text);
    else this.show(message);
  }

  show({ in_control: inControl, controlled, step, state }) {
    this.inControl = inControl;
    this.ready = state === "running";
    this.part("bar").toggleAttribute("data-in-control", inControl && this.ready);
    if (step !== undefined) this.part("step").textContent = step;
    const take = this.part("take");
    if (take) {
      take.textContent = inControl ? "Hand back" : "Take over";
      take.disabled = Boolean(controlled && !inControl) || !this.ready;
    }
    for (const name of ["done", "fail", "type", "copy", "keys"])
      for (const button of this.parts(name)) button.disabled = !(inControl && this.ready);
    const status = state === "running" ? this.controller(inControl, controlled) : state;
    this.part("bar").dataset.status = status;
    this.part("status").textContent = STATUS_TEXT[status] ?? "Evaluating...";
  }

  // In a human run no agent acts: the page takes over by itself.
  controller(inControl, controlled) {
    if (inControl) return "you";
    if (this.human) return controlled ? "other-tab" : "unavailable";
    return controlled ? "other-person" : "agent";
  }

  notify(text) {
    this.part("message").textContent = text;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.part("message").textContent = "";
    }, 6000);
  }

  // Sends everything that is pending, in order.
  flush() {
    this.sendClick();
    this.sendScroll();
    this.sendText();
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
    this.sendScroll();
    this.sendText();
    this.from = { at: this.point(event), x: event.clientX, y: event.clientY };
  }

  up(event) {
    if (!this.acting || !this.from) return;
    const { at, x, y } = this.from;
    this.from = null;
    const button = ["left", "middle", "right"][event.button];
    if (Math.hypot(event.clientX - x, event.clientY - y) > DRAG_DISTANCE) {
      this.sendClick();
      this.send({ type: "MOVE_TO", ...at }, { type: "DRAG_TO", ...this.point(event), button });
    } else if (this.part("hover").checked) {
      this.sendClick();
      this.send({ type: "MOVE_TO", ...at });
    } else if (button === "left") this.click(at);
    else {
      this.sendClick();
      this.send({ type: "CLICK", ...at, button });
    }
  }

  click(at) {
    const last = this.clicks;
    const same = last && last.count < 3 && Math.hypot(last.at.x - at.x, last.at.y - at.y) < 2 * DRAG_DISTANCE;
    if (!same) this.sendClick();
    const count = same ? last.count + 1 : 1;
    clearTimeout(last?.timer);
    this.clicks = { at: same ? last.at : at, count, timer: setTimeout(() => this.sendClick(), DOUBLE_CLICK) };
  }

  sendClick() {
    if (!this.clicks) return;
    const { at, count, timer } = this.clicks;
    clearTimeout(timer);
    this.clicks = null;
    this.send({ type: "CLICK", ...at, clicks: count });
  }

  scroll(event) {
    if (!this.acting || document.activeElement !== this.part("screen")) return;
    event.preventDefault();
    this.sendClick();
    this.sendText();
    const unit = event.deltaMode === 0 ? 100 : 3;
    this.wheel ??= { at: this.point(event), dx: 0, dy: 0 };
    this.wheel.dx += event.deltaX / unit;
    this.wheel.dy -= event.deltaY / unit;
    clearTimeout(this.wheel.timer);
    this.wheel.timer = setTimeout(() => this.sendScroll(), 200);
  }

  sendScroll() {
    if (!this.wheel) return;
    const { at, dx, dy, timer } = this.wheel;
    clearTimeout(timer);
    this.wheel = null;
    const wheelSteps = (value) =>
      Math.max(-100, Math.min(100, Math.sign(value) * Math.round(Math.abs(value) || 0)));
    const [across, up] = [wheelSteps(dx), wheelSteps(dy)];
    if (across || up) this.send({ type: "MOVE_TO", ...at }, { type: "SCROLL", dx: across, dy: up });
  }

  key(event) {
    if (event.ctrlKey && event.altKey && event.key === "Home") {
      event.preventDefault();
      event.stopPropagation();
      this.flush();
      this.part("leave").focus();
      return;
    }
    if (!this.acting || event.isComposing) return;
    event.stopPropagation();
    if (event.ctrlKey && event.shiftKey && event.key.toLowerCase() === "v") return; // The browser pastes: see pasteEvent().
    if (["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead"].includes(event.key)) return;
    event.preventDefault();
    const plain = event.getModifierState("AltGraph") || !(event.ctrlKey || event.altKey || event.metaKey);
    if (plain && event.key.length === 1) this.appendCharacter(event.key);
    else if (event.key === "Backspace" && this.text && plain) this.appendCharacter("");
    else this.sendKeys(event);
  }

  // Adds a character to the pending text; an empty one removes the last.
  appendCharacter(char) {
    this.sendClick();
    this.sendScroll();
    this.text = char ? this.text + char : [...this.text].slice(0, -1).join("");
    this.part("echo").textContent = this.text;
    clearTimeout(this.typing);
    if (this.text.length >= MAX_TEXT) this.sendText();
    else this.typing = setTimeout(() => this.sendText(), TYPING_PAUSE);
  }

  sendText() {
    clearTimeout(this.typing);
    if (this.text) this.send({ type: "TYPING", text: this.text });
    this.text = "";
    this.part("echo").textContent = "";
  }

  sendKeys(event) {
    const key = keyName(event.key);
    if (!key) return;
    this.flush();
    const modifiers = [
      [event.ctrlKey, "ctrl"],
      [event.altKey, "alt"],
      [event.metaKey, "win"],
      [event.shiftKey, "shift"],
    ].flatMap(([down, name]) => (down ? [name] : []));
    if (modifiers.length) this.send({ type: "HOTKEY", keys: [...modifiers, key] });
    else this.send({ type: "PRESS", keys: [key] });
  }

  // Keys that the browser would take for itself.
  sendCombination(keys) {
    this.flush();
    this.send(keys.length > 1 ? { type: "HOTKEY", keys } : { type: "PRESS", keys });
  }

  // In full screen a browser may leave its own keys to the page, if it can.
  lockKeys() {
    if (document.fullscreenElement?.contains(this.element)) navigator.keyboard?.lock?.().catch(() => {});
    else navigator.keyboard?.unlock?.();
  }

  // What the desktop has on its clipboard comes as a message; it is no step.
  copy() {
    this.flush();
    this.socket.send(JSON.stringify({ kind: "copy" }));
  }

  async copied(text) {
    this.part("text").value = text;
    if (!text) {
      this.notify("The desktop's clipboard has no text.");
      return;
    }
    try {
      await navigator.clipboard.writeText(text);
      this.notify(`Copied ${text.length} characters to your clipboard.`);
    } catch {
      // The browser may not let a page write there: the field has the text, selected.
      this.part("leave").closest("details").open = true;
      this.part("text").select();
      this.notify("The text is in the field below. Copy it with Ctrl+C.");
    }
  }

  pasteEvent(event) {
    if (!this.acting) return;
    event.preventDefault();
    this.paste(event.clipboardData?.getData("text/plain") ?? "");
  }

  typeField() {
    const field = this.part("text");
    this.paste(field.value);
    field.value = "";
  }

  paste(text) {
    if (!text) return;
    this.flush();
    this.send({ type: "TYPING", text });
  }

  // Ending a task takes two presses, so that nobody ends it by mistake.
  end(button) {
    this.flush();
    if (this.armed !== button) {
      this.armed = button;
      this.notify(`Press ${button.textContent.trim()} again to end the task.`);
      setTimeout(() => {
        if (this.armed === button) this.armed = null;
      }, 5000);
      return;
    }
    this.armed = null;
    this.send({ type: button === this.part("done") ? "DONE" : "FAIL" });
  }
}
