import { at } from "../lib/address.js";
import { Controller } from "../lib/controller.js";

// Light or dark, kept in a cookie so that the server draws the next page in it from the first byte.
export default class Theme extends Controller {
  connect() {
    this.on(this.element, "click", () => {
      const root = document.documentElement;
      const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
      const next = (root.dataset.theme || system) === "dark" ? "light" : "dark";
      root.dataset.theme = next;
      // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not there on plain http.
      document.cookie = `theme=${next}; path=${at("/")}; max-age=31536000; samesite=strict`;
      document.dispatchEvent(new CustomEvent("theme", { detail: next }));
    });
  }
}
