import { Controller } from "../lib/controller.js";
import { morph } from "../lib/morph.js";
import { Socket } from "../lib/socket.js";

const SHORTEST = 900;

// Keeps a page up to date: each event that its stream tells leads to one fetch of the same address, at most one a
// second, and only what differs is touched. Where the stream is down, the page says so and catches up when it is back.
export default class Refresh extends Controller {
  connect() {
    // Without a number the stream begins with what happens from now on.
    this.seq = Number(this.element.dataset.refreshSeq || -1);
    const base = this.element.dataset.refreshStream;
    this.socket = new Socket(() => (this.seq < 0 ? base : `${base}?after=${this.seq}`), {
      message: (text) => this.told(JSON.parse(text)),
      state: (state) => this.show(state),
    });
    this.socket.open();
    this.on(document, "visibilitychange", () => !document.hidden && this.soon());
  }

  ended() {
    clearTimeout(this.timer);
    this.socket.close();
  }

  told(event) {
    this.seq = Math.max(this.seq, event.seq ?? 0);
    if (event.kind) this.soon();
  }

  show(state) {
    if (state === "on" && this.was === "off") this.soon();
    this.was = state;
    for (const mark of document.querySelectorAll("[data-stream]")) {
      mark.dataset.state = state;
      mark.textContent = { on: "live", off: "reconnecting", ended: "ended" }[state];
    }
  }

  soon() {
    if (this.timer || document.hidden) return;
    const wait = Math.max(0, SHORTEST - (performance.now() - (this.last ?? -SHORTEST)));
    this.timer = setTimeout(() => this.load(), wait);
  }

  async load() {
    this.timer = 0;
    this.last = performance.now();
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, signal: this.signal });
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = fresh.getElementById("main");
      if (main) morph(document.getElementById("main"), main);
      document.title = fresh.title;
    } catch (error) {
      if (error.name !== "AbortError") this.show("off");
    }
  }
}
