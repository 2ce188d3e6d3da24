import { Controller } from "../lib/controller.js";
import { toast } from "../lib/toast.js";

// Copies the text of data-copy-text, or the page's address. Without a clipboard (plain http) it shows the text.
export default class Copy extends Controller {
  connect() {
    this.element.hidden = false;
    this.on(this.element, "click", () => this.copy(this.element.dataset.copyText ?? location.href));
  }

  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      toast("Copied.");
    } catch {
      toast(text);
    }
  }
}
