import { Controller } from "../lib/controller.js";
import { isAbsolute, switchTimes, zone } from "../lib/times.js";

// The switch between "3 min ago" and the time of day, in the footer; beside it the reader's time zone.
export default class Times extends Controller {
  connect() {
    this.part("zone").textContent = zone();
    this.part("hover").hidden = zone() === "UTC";
    this.draw();
    this.on(this.part("switch"), "click", () => {
      switchTimes(!isAbsolute());
      this.draw();
    });
  }

  draw() {
    const button = this.part("switch");
    button.hidden = false;
    button.textContent = isAbsolute() ? "Show how long ago" : "Show time of day";
  }
}
