import { Controller } from "../lib/controller.js";
import { read, show } from "../lib/page.js";
import { Socket } from "../lib/socket.js";

const MIN_INTERVAL = 900;
const POLL_INTERVAL = 5000;
const WORDS = { off: "reconnecting", polling: "no stream, read every 5 s", on: "live", ended: "ended" };

// Keeps a page up to date: each event of its stream leads to one fetch of the same address, at most one a
// second, and only what differs is touched. A page may have several streams, separated by spaces. While one is down, the
// page says so, and catches up when it is back. Where one cannot be opened, the page is read every 5 s, and says that.
// A read that fails is made again.
export default class Refresh extends Controller {
  connect() {
    this.states = new Map();
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
      state: (state) => this.follow(socket, state),
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

  follow(socket, state) {
    // What happened while this stream was closed: before it first opened too, unless the page says what it knows.
    const before = this.states.get(socket);
    const known = before === "on" || (!before && "refreshSeq" in this.element.dataset);
    this.states.set(socket, state);
    if (state === "on" && !known) this.schedule();
    // The page says the worst of its streams.
    const states = new Set(this.states.values());
    this.state = Object.keys(WORDS).find((word) => states.has(word));
    clearInterval(this.poll);
    if (this.state === "polling") this.poll = setInterval(() => this.schedule(), POLL_INTERVAL);
    this.mark();
  }

  mark() {
    const state = this.failed && this.state === "on" ? "off" : this.state;
    for (const mark of document.querySelectorAll("[data-stream]")) {
      mark.dataset.state = state;
      mark.textContent = WORDS[state];
    }
  }

  schedule(interval = MIN_INTERVAL) {
    if (this.timer || document.hidden) return;
    const wait = Math.max(0, interval - (performance.now() - (this.last ?? -interval)));
    this.timer = setTimeout(() => this.load(), wait);
  }

  async load() {
    this.timer = 0;
    this.last = performance.now();
    const address = location.href;
    try {
      const fresh = await read(address, this.signal);
      this.failed = false;
      if (!fresh) return;
      // The reader has gone on to another step meanwhile, which this answer does not show.
      if (location.href !== address) return this.schedule();
      show(fresh);
      if (this.state) this.mark(); // The newer version may have a mark that the page had not.
    } catch (error) {
      if (error.name === "AbortError") return;
      this.failed = true;
      if (this.state) this.mark();
      this.schedule(POLL_INTERVAL); // What the event announced is still to be shown.
    }
  }
}
