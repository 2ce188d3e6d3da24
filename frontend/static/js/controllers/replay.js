import { at } from "../lib/address.js";
import { morph } from "../lib/morph.js";
import { pointer, svg } from "../lib/overlay.js";
import { Scrubber } from "../lib/scrubber.js";
import { StepPanels } from "../lib/step_panels.js";
import { fetched, rowsOf, StepParts } from "../lib/step_parts.js";
import { Zoom } from "../lib/zoom.js";

const MIN_INTERVAL = 900;
const LOWEST_STAGE = 220;

// Replay of an attempt: a scrubber over its steps, clicks and typed text on the picture, the step in the address. The
// list has one part of the steps at a time. While the attempt is live and nobody scrubs, the newest frame is shown, and
// a new step is all that is fetched.
export default class Replay extends Scrubber {
  connect() {
    const { replayAt, replayLast, replayPart, replayFollowing } = this.element.dataset;
    this.following = replayFollowing === "yes";
    this.last = Number(replayLast);
    this.at = Number(replayAt);
    this.list = this.part("list");
    this.pages = new StepParts(Number(replayPart), (first) => this.fragment("", { first }));
    this.listed = this.pages.first(this.at);
    this.pages.keep(this.listed, [...this.list.children]);
    this.panels = new StepPanels((index) => this.fragment(`/${index}`, {}), this.signal);
    super.connect();
    this.connectStage();
    this.on(this.part("follow"), "click", () => this.follow(!this.following));
    this.on(this.element, "live:frame", () => this.following && this.draw([], []));
    this.on(this.element, "live:state", (event) => this.poll(event.detail === "polling"));
    this.on(this.element, "live:ended", () => this.finish());
    this.on(document, "page:event", (event) => this.hear(event));
    this.on(document, "tree:box", (event) => this.outline(event.detail));
    // A newer version of the page knows of more steps.
    this.watcher = new MutationObserver(
      () => Number(this.element.dataset.replayLast) > this.last && this.later(),
    );
    this.watcher.observe(this.element, { attributeFilter: ["data-replay-last"] });
    const step = this.row(this.at);
    if (step) this.panels.show(step);
    if (this.following) this.follow(true);
    else step?.scrollIntoView({ block: "nearest", container: "nearest" });
  }

  ended() {
    super.ended();
    clearTimeout(this.newsTimer);
    this.watcher.disconnect();
    this.sizes.disconnect();
    this.panels.close();
  }

  connectStage() {
    const stage = this.part("stage");
    const inControl = () => stage.querySelector(".control-bar[data-in-control]");
    this.zoom = new Zoom(
      stage.querySelector(".view"),
      stage.querySelector(".canvas"),
      (...args) => this.on(...args),
      () => !inControl(),
    );
    for (const name of ["in", "out", "reset"])
      this.on(this.part(`zoom-${name}`), "click", () => this.zoom[name]());
    this.on(this.part("full"), "click", () => this.full());
    this.on(document, "fullscreenchange", () => this.zoom.reset());
    // The picture takes what the window leaves beside the stage's bars, so that these are in sight.
    this.sizes = new ResizeObserver(() => this.fit());
    for (const box of [document.documentElement, ...stage.children])
      if (!box.matches(".view")) this.sizes.observe(box);
    this.fit();
  }

  fit() {
    const stage = this.part("stage");
    const bars = stage.offsetHeight - stage.querySelector(".view").offsetHeight;
    const top = stage.getBoundingClientRect().top + window.scrollY;
    const room = Math.max(LOWEST_STAGE, document.documentElement.clientHeight - top - bars - 8);
    document.documentElement.style.setProperty("--stage-room", `${Math.round(room)}px`);
    document.documentElement.style.setProperty("--stage-bars", `${Math.round(bars)}px`);
  }

  full() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.part("stage").requestFullscreen?.();
  }

  keys() {
    return {
      ...super.keys(),
      f: () => this.full(),
      "+": () => this.zoom.in(),
      "-": () => this.zoom.out(),
    };
  }

  // Where parts of this attempt come from.
  fragment(path, query) {
    const { replayBase, replayNumber } = this.element.dataset;
    const address = new URL(`${replayBase}/steps${path}`, location.href);
    address.search = new URLSearchParams({ attempt: replayNumber, ...query });
    return address;
  }

  row(number) {
    return this.list.querySelector(`[data-index="${number}"]`);
  }

  go(number) {
    if (this.last < 0) return;
    if (this.following) this.follow(false);
    this.ending = false;
    this.at = Math.min(this.last, Math.max(0, number));
    history.replaceState(null, "", this.address(this.at));
    this.show();
  }

  address(number) {
    const { replayBase, replayAttempt } = this.element.dataset;
    const address = new URL(replayBase, location.href);
    if (replayAttempt) address.searchParams.set("attempt", replayAttempt);
    address.searchParams.set("step", number);
    return address;
  }

  // The work is the same for every step of an attempt of any length: its own row, in its own part of the list.
  async show() {
    const number = this.at;
    this.part("scrub").value = number;
    const step = await this.reveal(number);
    if (!step || this.at !== number) return;
    this.mark(step);
    this.picture(step);
    this.tell(step);
    this.panels.show(step);
    this.preload(number + 1);
  }

  // The step's row, in the list.
  async reveal(number) {
    const first = this.pages.first(number);
    if (first !== this.listed) {
      try {
        const rows = this.pages.kept(first) ?? (await this.pages.get(first, this.signal));
        if (this.pages.first(this.at) !== first) return null;
        this.listed = first;
        this.list.replaceChildren(...rows);
        this.pager();
      } catch (error) {
        if (error.name !== "AbortError")
          this.part("count").textContent = `Could not load the steps: ${error.message}`;
        return null;
      }
    }
    return this.row(number);
  }

  pager() {
    const { size } = this.pages;
    const end = Math.min(this.listed + size - 1, this.last);
    this.part("pager").hidden = this.last < size;
    this.part("range").textContent = `${this.listed} to ${end} of 0 to ${this.last}`;
    for (const [name, first] of [
      ["earlier", this.listed - size],
      ["further", this.listed + size],
    ]) {
      const link = this.part(name);
      if (first < 0 || first > this.last) link.removeAttribute("href");
      else link.href = this.address(first);
    }
  }

  choose(event) {
    const turn = event.target.closest("[data-replay-target=pager] a[href]");
    if (!turn || event.ctrlKey || event.metaKey || event.shiftKey) return super.choose(event);
    event.preventDefault();
    this.go(Number(new URL(turn.href).searchParams.get("step")));
  }

  picture(step) {
    const image = this.part("image");
    const { frame, width, height, index } = step.dataset;
    image.hidden = !frame;
    if (frame) image.src = at(`/api/v1/artifacts/${frame}`);
    Object.assign(image, { width, height, alt: `Screen before step ${index}` });
    this.part("overlay").setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.draw(JSON.parse(step.dataset.marks || "[]"), JSON.parse(step.dataset.typed || "[]"));
    const markShown = () => this.at === Number(index) && this.part("stage").setAttribute("data-shown", index);
    if (frame)
      image.decode().then(markShown, markShown); // A damaged picture has been tried, too.
    else markShown();
  }

  // So that playing does not flicker.
  preload(number) {
    const frame = this.row(number)?.dataset.frame;
    if (frame) new Image().src = at(`/api/v1/artifacts/${frame}`);
    const next = this.pages.first(number);
    if (next !== this.listed && number <= this.last) this.pages.get(next, this.signal).catch(() => {});
  }

  draw(marks, typed) {
    this.part("overlay").replaceChildren(...pointer(marks).map(svg));
    this.part("typed").replaceChildren(
      ...typed.map((text) => {
        const key = document.createElement("kbd");
        key.textContent = text;
        return key;
      }),
    );
  }

  // Where the element is whose node is under the mouse.
  outline(box) {
    const overlay = this.part("overlay");
    overlay.querySelector(".box")?.remove();
    if (box && !this.following) overlay.append(svg({ name: "rect", class: "box", ...box }));
  }

  tell(step) {
    const actions = [...step.querySelectorAll(".acts code")].map((code) => {
      const act = document.createElement("span");
      act.className = "act";
      act.textContent = code.textContent;
      return act;
    });
    const none = document.createElement("span");
    none.className = "dim";
    none.textContent = step.dataset.final ? "Final state (scored)" : "No action";
    this.part("actions").replaceChildren(...(actions.length ? actions : [none]));
    this.part("scrub").value = step.dataset.index;
    this.part("count").textContent = step.dataset.final ? "Final state" : `Step ${step.dataset.index}`;
    this.part("copy").dataset.copyText = this.address(step.dataset.index).href;
  }

  follow(on) {
    this.following = on;
    this.part("follow")?.setAttribute("aria-pressed", String(on));
    this.part("live")?.toggleAttribute("data-paused", !on);
    if (on && this.element.dataset.replayLive === "yes") {
      this.draw([], []);
      this.latest();
      history.replaceState(null, "", this.element.dataset.replayBase);
    }
  }

  // Without a stream the newest recorded step is shown, as the page is read again.
  poll(on) {
    this.polling = on;
    if (on && this.following) this.latest();
  }

  // The attempt has ended: what was live becomes its replay, at its last step.
  finish() {
    if (!this.following) return;
    this.follow(false);
    this.ending = true;
    this.part("follow")?.remove();
    this.latest();
  }

  async latest() {
    if (this.last < 0) return;
    this.at = this.last;
    if (this.ending) {
      this.show();
      return;
    }
    const step = await this.reveal(this.at);
    if (!step || !this.following) return;
    this.mark(step);
    if (this.polling) this.picture(step);
    this.tell(step);
    this.panels.show(step);
  }

  // A step of this attempt is fetched alone; what happens to other episodes of the run does not matter here.
  hear(event) {
    const { kind, episode_id: episode, attempt_id: attempt } = event.detail;
    const { replayEpisode, replayId } = this.element.dataset;
    if (episode && episode !== replayEpisode) event.preventDefault();
    // Who waits for what is part of what the news bring.
    const isNews = kind === "waits" || (kind === "step" && attempt === replayId);
    if (!isNews || this.last < 0) return;
    event.preventDefault();
    this.later();
  }

  later() {
    if (this.newsTimer || document.hidden) return;
    const wait = Math.max(0, MIN_INTERVAL - (performance.now() - (this.newsAt ?? -MIN_INTERVAL)));
    this.newsTimer = setTimeout(() => this.news(), wait);
  }

  async news() {
    this.newsTimer = 0;
    this.newsAt = performance.now();
    try {
      const fragment = await fetched(this.fragment("", { after: this.last }), this.signal);
      const result = document.getElementById("result");
      const fresh = fragment.getElementById("result");
      if (result && fresh) morph(result, fresh);
      const rows = rowsOf(fragment);
      if (rows.length) this.added(rows);
    } catch (error) {
      if (error.name !== "AbortError") this.later();
    }
  }

  added(rows) {
    const fresh = rows.filter((row) => Number(row.dataset.index) > this.last);
    if (!fresh.length) return;
    this.last = Number(fresh.at(-1).dataset.index);
    this.pages.add(fresh);
    // A part that was fetched meanwhile has some of them already.
    const isListed = ({ dataset: { index } }) => this.pages.first(Number(index)) === this.listed;
    this.list.append(...fresh.filter((row) => isListed(row) && !this.row(row.dataset.index)));
    this.part("scrub").max = this.last;
    this.part("acted").textContent = this.last + (fresh.at(-1).dataset.final ? 0 : 1);
    this.pager();
    if (this.following || this.ending) this.latest();
    if (fresh.length === this.pages.size) this.later();
  }
}
