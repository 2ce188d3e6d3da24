import { Controller } from "../lib/controller.js";

const STEPS = [
  [60, 1, "s"],
  [3600, 60, "min"],
  [86400, 3600, "h"],
];

// "3 min ago" beside the exact time, which stays in the title. Older than a day: the date as the server wrote it.
export default class RelativeTime extends Controller {
  static all = new Set();
  static timer = 0;

  static tick() {
    for (const one of RelativeTime.all) one.draw();
  }

  connect() {
    this.written = this.element.textContent;
    RelativeTime.all.add(this);
    RelativeTime.timer ||= setInterval(RelativeTime.tick, 1000);
    this.draw();
  }

  ended() {
    RelativeTime.all.delete(this);
  }

  draw() {
    const age = (Date.now() - Date.parse(this.element.dateTime)) / 1000;
    const step = STEPS.find(([below]) => age < below);
    const text = step ? `${Math.max(0, Math.floor(age / step[1]))} ${step[2]} ago` : this.written;
    if (this.element.textContent !== text) this.element.textContent = text;
  }
}
