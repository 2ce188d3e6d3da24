import { Controller } from "../lib/controller.js";

let library;

// One copy of plotly for the page, fetched when the first chart comes into view and not before.
function load(address) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(globalThis.Plotly);
    script.onerror = () => reject(new Error("the chart library did not load"));
    document.head.append(script);
  });
  return library;
}

export default class Chart extends Controller {
  connect() {
    this.watcher = new IntersectionObserver(
      (entries) => entries.some((one) => one.isIntersecting) && this.draw(),
      {
        rootMargin: "200px",
      },
    );
    this.watcher.observe(this.element);
    this.on(document, "theme", () => this.drawn && this.draw());
    this.on(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.drawn && this.draw());
  }

  ended() {
    this.watcher.disconnect();
    this.plotly?.purge(this.element);
  }

  get theme() {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    return document.documentElement.dataset.theme || system;
  }

  async draw() {
    this.watcher.disconnect();
    this.drawn = true;
    const { chartLibrary, chartFigure } = this.element.dataset;
    try {
      const address = new URL(chartFigure, location.href);
      address.searchParams.set("theme", this.theme);
      const [plotly, response] = await Promise.all([
        load(chartLibrary),
        fetch(address, { signal: this.signal }),
      ]);
      const { data, layout, config } = await response.json();
      this.plotly = plotly;
      this.element.querySelector(".chart-wait")?.remove();
      const narrow = this.element.clientWidth < 500;
      await plotly.react(this.element, data, { ...layout, height: narrow ? 320 : 380 }, config);
      this.element.dataset.drawn = this.theme;
    } catch (error) {
      if (error.name === "AbortError") return;
      const text = this.element.querySelector(".chart-wait");
      if (text) text.textContent = "Could not load the chart. The table below has the same numbers.";
    }
  }
}
