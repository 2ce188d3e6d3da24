import { Controller } from "../lib/controller.js";
import { isShortcut } from "../lib/shortcuts.js";

const PICTURE = 16 / 9;
const LEAST_WIDTH = 160; // pixels of a tile: a narrow window scrolls instead
const LEAST_TEXT = 12;
const MOST_TEXT = 44;
const TEXT_SHARE = 0.036; // of a tile's width
const LINES = { small: 2, large: 6, note: 1.7 }; // height of a caption in its text size; of a small one's note
const SMALL = 260; // width below which a caption is one line, as in the style sheet

// Live screens that fill the window: as many columns as make their pictures largest, text that grows with them. If there
// are more than are shown at once, the next ones follow after a while, unless paused.
export default class Wall extends Controller {
  connect() {
    this.at = 0;
    this.changes = new MutationObserver(() => this.watch());
    this.changes.observe(this.element, { childList: true });
    this.sizes = new ResizeObserver(() => this.draw());
    this.sizes.observe(document.documentElement);
    this.on(this.part("prev"), "click", () => this.go(this.at - 1));
    this.on(this.part("next"), "click", () => this.go(this.at + 1));
    this.on(this.part("pause"), "click", () => this.pause());
    this.on(this.part("full"), "click", () => this.full());
    this.on(document, "keydown", (event) => this.press(event));
    this.on(document, "fullscreenchange", () => this.draw());
    this.timer = setInterval(
      () => this.paused || document.hidden || this.go(this.at + 1),
      Number(this.element.dataset.wallEvery) * 1000,
    );
    this.watch();
  }

  ended() {
    clearInterval(this.timer);
    this.changes.disconnect();
    this.tiles?.disconnect();
    this.sizes.disconnect();
  }

  // The wall itself comes and goes with what runs; so do its tiles.
  watch() {
    this.tiles?.disconnect();
    this.tiles = new MutationObserver(() => this.draw());
    if (this.part("tiles")) this.tiles.observe(this.part("tiles"), { childList: true });
    this.draw();
  }

  press(event) {
    const act = {
      f: () => this.full(),
      ArrowLeft: () => this.go(this.at - 1),
      ArrowRight: () => this.go(this.at + 1),
      " ": () => this.pause(),
    }[event.key];
    if (!act || !isShortcut(event) || (event.key === " " && event.target.closest("button, a"))) return;
    event.preventDefault();
    act();
  }

  full() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.element.requestFullscreen?.();
  }

  pause() {
    this.paused = !this.paused;
    const button = this.part("pause");
    button.setAttribute("aria-label", this.paused ? "Go on" : "Pause");
    button.querySelector("use").setAttribute("href", this.paused ? "#i-running" : "#i-pause");
  }

  go(screen) {
    const { length } = this.part("tiles")?.children ?? [];
    const screens = Math.max(1, Math.ceil(length / this.most));
    this.at = (screen + screens) % screens;
    this.draw();
  }

  get most() {
    return Number(this.element.dataset.wallTiles);
  }

  draw() {
    const box = this.part("tiles");
    const tiles = [...(box?.children ?? [])];
    const screens = Math.max(1, Math.ceil(tiles.length / this.most));
    this.at = Math.min(this.at, screens - 1);
    const first = this.at * this.most;
    const end = Math.min(first + this.most, tiles.length);
    for (const [place, tile] of tiles.entries())
      tile.toggleAttribute("data-off", place < first || place >= end);
    this.part("cycle").hidden = screens < 2;
    this.part("range").textContent = screens < 2 ? "" : `${first + 1} to ${end} of ${tiles.length}`;
    if (end > first) this.fit(box, tiles.slice(first, end));
  }

  fit(box, shown) {
    const tiles = shown.length;
    const notes = Math.max(...shown.map((tile) => tile.querySelectorAll(".note-line").length));
    const small = LINES.small + notes * LINES.note;
    const gap = Number.parseFloat(getComputedStyle(box).columnGap);
    const width = box.clientWidth;
    // From where the page, not the reader's scrolling, puts it.
    const top = box.getBoundingClientRect().top - this.element.getBoundingClientRect().top;
    const above = document.fullscreenElement ? 0 : this.element.offsetTop;
    const height = Math.max(200, window.innerHeight - above - top - gap);
    const most = Math.max(1, Math.min(tiles, Math.floor((width + gap) / (LEAST_WIDTH + gap))));
    let best = { picture: 0 };
    for (let columns = 1; columns <= most; columns += 1) {
      const rows = Math.ceil(tiles / columns);
      const across = (width - gap * (columns - 1)) / columns;
      const down = (height - gap * (rows - 1)) / rows;
      const text = Math.min(MOST_TEXT, Math.max(LEAST_TEXT, across * TEXT_SHARE));
      const lines = across < SMALL ? small : LINES.large;
      const picture = Math.min(across, (down - lines * text) * PICTURE);
      if (picture > best.picture || columns === 1) best = { picture, columns, down, text };
    }
    // What does not fit keeps a picture that can be seen, and the page scrolls.
    const scrolls = best.picture < Math.min(LEAST_WIDTH, width) * 0.6;
    if (scrolls) best = { columns: most, down: 0, text: LEAST_TEXT };
    box.style.setProperty("--wall-columns", best.columns);
    box.style.setProperty("--wall-row", scrolls ? "auto" : `${Math.floor(best.down)}px`);
    box.style.setProperty("--wall-least", scrolls ? "6rem" : "0");
    box.style.setProperty("--wall-text", `${best.text.toFixed(1)}px`);
  }
}
