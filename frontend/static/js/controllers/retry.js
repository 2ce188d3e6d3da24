import { at } from "../lib/address.js";
import { Controller } from "../lib/controller.js";

// On the page of an outage: checks every few seconds and reloads once the service is back.
export default class Retry extends Controller {
  connect() {
    this.timer = setInterval(async () => {
      try {
        const response = await fetch(at("/healthz"), { cache: "no-store" });
        if (response.ok) location.reload();
      } catch {
        // Still down; try again.
      }
    }, 3000);
  }

  ended() {
    clearInterval(this.timer);
  }
}
