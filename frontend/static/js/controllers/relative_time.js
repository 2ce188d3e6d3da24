import { Controller } from "../lib/controller.js";
import { isAbsolute, localTime } from "../lib/times.js";

const STEPS = [
  [60, 1, "s"],
  [3600, 60, "min"],
  [86400, 3600, "h"],
];

// "3 min ago", or with data-relative-time-form: "3 min" (age), "in 3 min" (until); UTC stays in the title. Older than a
// day, or if the reader wants it so: date and time in the reader's time zone.
export default class RelativeTime extends Controller {
  static all = new Set();
  static timer = 0;

  static tick() {
    for (const time of RelativeTime.all) time.draw();
  }

  connect() {
    this.written = this.element.textContent;
    RelativeTime.all.add(this);
    RelativeTime.timer ||= setInterval(RelativeTime.tick, 1000);
    this.on(document, "times", () => this.draw());
    this.draw();
  }

  ended() {
    RelativeTime.all.delete(this);
  }

  draw() {
    const at = Date.parse(this.element.dateTime);
    const { relativeTimeForm: form } = this.element.dataset;
    const lapse = !form && isAbsolute() ? undefined : this.words(form, (Date.now() - at) / 1000);
    const text = lapse ?? localTime(at) ?? this.written;
    if (this.element.textContent !== text) this.element.textContent = text;
  }

  words(form, age) {
    const seconds = form === "until" ? -age : age;
    const step = STEPS.find(([below]) => seconds < below);
    if (!step) return undefined;
    if (form === "until" && seconds < 1) return "now";
    const number = Math.max(0, Math.floor(seconds / step[1]));
    const lapse = `${number} ${step[2]}`;
    return { age: lapse, until: `in ${lapse}` }[form] ?? `${lapse} ago`;
  }
}
