import { Controller } from "../lib/controller.js";
import { read, show } from "../lib/page.js";
import { Socket } from "../lib/socket.js";

const MIN_INTERVAL = 900;
const POLL_INTERVAL = 5000;
const WORDS = { on: "live", off: "reconnecting", polling: "no stream, read every 5 s", ended: "ended" };

// Keeps a page up to date: each event of its stream leads to one fetch of the same address, at most one a
// second, and only what differs is touched. A page may have several streams, separated
// by spaces. While a stream is down, the page says so; it catches up when the stream is back. If none can be opened,
// the page is read every 5 s, and says that.
export default class Refresh extends Controller {
  connect() {
    this.sockets = this.element.dataset.refreshStream.split(" ").map((base) => this.stream(base));
    this.on(document, "visibilitychange", () => !document.hidden && this.schedule());
  }

  stream(base) {
    // Without a number the stream begins with what happens from now on.
    let seq = Number(this.element.dataset.refreshSeq || -1);
    const receive = (event) => {
      seq = Math.max(seq, event.seq ?? 0);
      if (event.kind && this.matters(event)) this.schedule();
    };
    const socket = new Socket(() => (seq < 0 ? base : `${base}?after=${seq}`), {
      message: (text) => receive(JSON.parse(text)),
      state: (state) => this.show(state),
    });
    socket.open();
    return socket;
  }

  // A behaviour of the page may fetch what is new by itself.
  matters(event) {
    return document.dispatchEvent(new CustomEvent("page:event", { detail: event, cancelable: true }));
  }

  ended() {
    clearTimeout(this.timer);
    clearInterval(this.poll);
    for (const socket of this.sockets) socket.close();
  }

  show(state) {
    // What happened while no stream was open: before the first one too, unless the page says what it knows.
    const known = this.state === "on" || (!this.state && "refreshSeq" in this.element.dataset);
    if (state === "on" && !known) this.schedule();
    this.state = state;
    clearInterval(this.poll);
    if (state === "polling") this.poll = setInterval(() => this.schedule(), POLL_INTERVAL);
    this.mark();
  }

  mark() {
    for (const mark of document.querySelectorAll("[data-stream]")) {
      mark.dataset.state = this.state;
      mark.textContent = WORDS[this.state];
    }
  }

  schedule() {
    if (this.timer || document.hidden) return;
    const wait = Math.max(0, MIN_INTERVAL - (performance.now() - (this.last ?? -MIN_INTERVAL)));
    this.timer = setTimeout(() => this.load(), wait);
  }

  async load() {
    this.timer = 0;
    this.last = performance.now();
    const address = location.href;
    try {
      const fresh = await read(address, this.signal);
      if (!fresh) return;
      // The reader has gone on to another step meanwhile, which this answer does not show.
      if (location.href !== address) return this.schedule();
      show(fresh);
      if (this.state) this.mark(); // The newer version may have a mark that the page had not.
    } catch (error) {
      // While it polls, it goes on.
      if (error.name !== "AbortError" && this.state !== "polling") this.show("off");
    }
  }
}
