import { Controller } from "../lib/controller.js";

// On a page that says "away for now": looks every few seconds and reloads once the service is back.
export default class Retry extends Controller {
  connect() {
    this.timer = setInterval(async () => {
      try {
        const answer = await fetch("/healthz", { cache: "no-store" });
        if (answer.ok) location.reload();
      } catch {
        // Still away; the next look comes.
      }
    }, 3000);
  }

  ended() {
    clearInterval(this.timer);
  }
}
