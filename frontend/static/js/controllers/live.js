import { Controller } from "../lib/controller.js";
import { Socket } from "../lib/socket.js";

const STALE_MS = 5000;

// The newest frame of an attempt. Each message is one JSON line and a JPEG; a frame that is drawn asks for the next,
// so a slow viewer skips frames. Connected only while the screen is in view.
export default class Live extends Controller {
  connect() {
    this.watcher = new IntersectionObserver((entries) =>
      entries.some((one) => one.isIntersecting) ? this.open() : this.close(),
    );
    this.watcher.observe(this.element);
    this.on(document, "visibilitychange", () => (document.hidden ? this.close() : this.open()));
    this.timer = setInterval(() => this.age(), 250);
  }

  ended() {
    this.watcher.disconnect();
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
    this.socket = new Socket(`/ws/attempts/${this.element.dataset.attempt}/live`, {
      binary: true,
      message: (data, socket) => this.frame(data, socket),
      state: (state) => {
        if (state === "ended") this.announceEnd();
      },
    });
    this.socket.open();
  }

  close() {
    this.socket?.close();
    this.socket = null;
  }

  async frame(data, socket) {
    const bytes = new Uint8Array(data);
    const end = bytes.indexOf(10);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
    const url = URL.createObjectURL(new Blob([bytes.subarray(end + 1)], { type: "image/jpeg" }));
    const image = this.part("image");
    if (image && !this.element.hasAttribute("data-paused")) {
      image.src = url;
      await image.decode().catch(() => {});
      image.hidden = false;
      // Kept, as a newer version of the page may still have it.
      this.part("wait")?.setAttribute("hidden", "");
    }
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = url;
    // The service says how old the frame was when it left; from then on this clock counts, so clocks need not agree.
    this.frameAt = performance.now() - head.age_ms;
    this.element.dataset.frameSeq = head.seq;
    this.element.dispatchEvent(new CustomEvent("live:frame", { bubbles: true, detail: head }));
    socket.send("next");
  }

  age() {
    const mark = this.part("age");
    if (!mark || this.frameAt === undefined) return;
    const age = performance.now() - this.frameAt;
    mark.textContent = age < 1000 ? `${Math.round(age / 100) * 100} ms` : `${Math.floor(age / 1000)} s`;
    mark.toggleAttribute("data-stale", age > STALE_MS);
  }
}
