import { Controller } from "../lib/controller.js";
import { Socket } from "../lib/socket.js";

const SILENT_MS = 5000;
const TILE_WIDTHS = [480, 640, 960, 1280]; // pixels; a wider tile has the whole picture

function short(ms) {
  const seconds = Math.floor(ms / 1000);
  return seconds < 100 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}

// The newest frame of an attempt. Each message is one JSON line and a JPEG; a frame that is drawn asks for the next,
// so a slow viewer skips frames. Without a JPEG the picture is still the same. Says two things: when the desktop last
// answered, and since when its screen has not changed. Connected only while the screen is in view; where that fails,
// the newest recorded picture is shown. A tile asks for a picture of its own size.
export default class Live extends Controller {
  connect() {
    this.watcher = new IntersectionObserver((entries) =>
      entries.some((one) => one.isIntersecting) ? this.open() : this.close(),
    );
    this.watcher.observe(this.element);
    this.sizes = new ResizeObserver(() => this.grow());
    if (this.tile) this.sizes.observe(this.element);
    this.on(document, "visibilitychange", () => (document.hidden ? this.close() : this.open()));
    this.timer = setInterval(() => this.age(), 250);
  }

  ended() {
    this.watcher.disconnect();
    this.sizes.disconnect();
    clearInterval(this.timer);
    this.close();
    // The page may know that the attempt is over before the stream says so.
    if (this.element.isConnected) this.announceEnd();
    if (this.url) URL.revokeObjectURL(this.url);
  }

  announceEnd() {
    this.element.dispatchEvent(new CustomEvent("live:ended", { bubbles: true }));
  }

  open() {
    if (this.socket || document.hidden) return;
    this.width = this.needed();
    const query = this.width < Number.POSITIVE_INFINITY ? `?width=${this.width}` : "";
    this.socket = new Socket(`/ws/attempts/${this.element.dataset.attempt}/live${query}`, {
      binary: true,
      message: (data, socket) => this.frame(data, socket),
      state: (state) => {
        this.state = state;
        this.element.dispatchEvent(new CustomEvent("live:state", { bubbles: true, detail: state }));
        if (state === "ended") this.announceEnd();
      },
    });
    this.socket.open();
  }

  get tile() {
    return this.element.hasAttribute("data-live-tile");
  }

  // Width of the picture in pixels; infinite for the whole one.
  needed() {
    const pixels = this.element.clientWidth * devicePixelRatio;
    return (this.tile && TILE_WIDTHS.find((width) => width >= pixels)) || Number.POSITIVE_INFINITY;
  }

  grow() {
    if (!this.socket || this.needed() <= this.width) return;
    this.close();
    this.open();
  }

  close() {
    this.socket?.close();
    this.socket = null;
    this.state = "";
    this.answeredAt = undefined;
  }

  async frame(data, socket) {
    const bytes = new Uint8Array(data);
    const end = bytes.indexOf(10);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
    if (end + 1 < bytes.length) await this.draw(bytes.subarray(end + 1));
    else if (this.url && !this.paused && this.part("image")?.src !== this.url) await this.show(this.url);
    // The service says how old the facts were when they left; from then on this clock counts: clocks need not agree.
    this.changedAt = performance.now() - head.unchanged_ms;
    this.answeredAt = performance.now() - head.answered_ms;
    this.age(); // No picture without its age.
    this.element.dataset.frameSeq = head.seq;
    this.element.dispatchEvent(new CustomEvent("live:frame", { bubbles: true, detail: head }));
    socket.send("next");
  }

  get paused() {
    return this.element.hasAttribute("data-paused");
  }

  async draw(jpeg) {
    const url = URL.createObjectURL(new Blob([jpeg], { type: "image/jpeg" }));
    if (!this.paused) await this.show(url);
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = url;
  }

  async show(url) {
    const image = this.part("image");
    if (!image) return;
    image.src = url;
    await image.decode().catch(() => {});
    image.hidden = false;
    // Kept, as a newer version of the page may still have it.
    this.part("wait")?.setAttribute("hidden", "");
  }

  age() {
    const mark = this.part("age");
    if (!mark) return;
    const { words, title, stale } = this.facts(performance.now());
    if (words) mark.textContent = words;
    mark.title = title;
    mark.toggleAttribute("data-stale", stale);
  }

  facts(now) {
    if (this.state === "polling") {
      const { frame } = this.element.dataset;
      if (frame && frame !== this.recorded) this.show(frame);
      this.recorded = frame;
      return {
        words: "no live stream: newest step",
        title: "The live stream cannot be opened.",
        stale: true,
      };
    }
    if (this.answeredAt === undefined) return { words: "", title: "", stale: false };
    const answered = now - this.answeredAt;
    const unchanged = now - this.changedAt;
    const title = `The desktop answered ${short(answered)} ago. Its screen has not changed for ${short(unchanged)}.`;
    if (this.state === "off") return { words: `reconnecting, ${short(answered)}`, title, stale: true };
    if (answered > SILENT_MS) return { words: `no answer for ${short(answered)}`, title, stale: true };
    return { words: unchanged < 1000 ? "live" : `live, unchanged ${short(unchanged)}`, title, stale: false };
  }
}
