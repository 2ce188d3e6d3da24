import { Controller } from "../lib/controller.js";

const LABEL_ATTRIBUTES = ["name", "text", "value"];
const OPEN_DEPTH = 3;
const MAX_NODES = 20000;

// An accessibility tree as a tree. Its XML comes from a guest: it is parsed as data and every word is set as text.
export default class Tree extends Controller {
  connect() {
    this.show(this.element.dataset.treeSha);
    this.on(this.element, "tree:show", (event) => this.show(event.detail));
  }

  async show(sha) {
    if (sha === this.sha) return;
    this.sha = sha;
    const status = this.part("status");
    this.part("view").replaceChildren();
    if (!sha) {
      status.textContent = "Not recorded for this step.";
      return;
    }
    try {
      const response = await fetch(`/api/v1/artifacts/${sha}`, { signal: this.signal });
      if (!response.ok) throw new Error(response.statusText);
      const xml = new DOMParser().parseFromString(await response.text(), "application/xml");
      if (this.sha !== sha) return;
      if (xml.querySelector("parsererror")) throw new Error("not well-formed XML");
      this.left = MAX_NODES;
      this.part("view").append(this.branch([xml.documentElement], 0));
      const link = document.createElement("a");
      link.href = `/api/v1/artifacts/${sha}`;
      link.textContent = "XML";
      status.replaceChildren(`${MAX_NODES - this.left} nodes, `, link);
    } catch (error) {
      if (error.name !== "AbortError") status.textContent = `Could not load the tree: ${error.message}`;
    }
  }

  branch(nodes, depth) {
    const list = document.createElement("ul");
    for (const node of nodes) {
      if (this.left-- <= 0) break;
      const item = document.createElement("li");
      const children = [...node.children];
      if (children.length) {
        const details = document.createElement("details");
        details.open = depth < OPEN_DEPTH;
        const summary = document.createElement("summary");
        summary.append(...this.label(node));
        details.append(summary, this.branch(children, depth + 1));
        item.append(details);
      } else item.append(...this.label(node));
      list.append(item);
    }
    return list;
  }

  label(node) {
    const span = (kind, text) => {
      const element = document.createElement("span");
      element.className = kind;
      element.textContent = text;
      return element;
    };
    const own = [...node.childNodes].find(
      (child) => child.nodeType === Node.TEXT_NODE && child.nodeValue.trim(),
    );
    const name =
      LABEL_ATTRIBUTES.map((key) => node.getAttribute(key)).find(Boolean) ?? own?.nodeValue.trim() ?? "";
    const place = [...node.attributes]
      .filter(({ name: key }) => /screencoord|size|position/.test(key))
      .map((attribute) => attribute.value);
    return [
      span("role", node.localName),
      " ",
      span("name", name.slice(0, 200)),
      " ",
      span("rest", place.join(" ")),
    ];
  }
}
