import { at } from "../lib/address.js";
import { Controller } from "../lib/controller.js";

const LABEL_ATTRIBUTES = ["name", "text", "value"];
const OPEN_DEPTH = 3;
const MAX_NODES = 20000;
const MAX_CHILDREN = 1000;
const TYPING_MS = 150;

// An accessibility tree as a tree. Its XML comes from a guest: it is parsed as data and every word is set as text.
// Branches are built when they are opened. The element under the mouse is outlined on the screen.
export default class Tree extends Controller {
  connect() {
    this.show(this.element.dataset.treeSha);
    this.on(this.element, "tree:show", (event) => this.show(event.detail));
    const view = this.part("view");
    this.on(view, "pointerover focusin", (event) => this.outline(event.target.closest("li")));
    this.on(view, "pointerleave focusout", () => this.outline(null));
    const search = this.part("search");
    search.hidden = false;
    this.on(search, "input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.search(), TYPING_MS);
    });
    this.on(search, "keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.step(event.shiftKey ? -1 : 1);
    });
  }

  ended() {
    clearTimeout(this.timer);
  }

  async show(sha) {
    if (sha === this.sha) return;
    this.sha = sha;
    const status = this.part("status");
    this.part("view").replaceChildren();
    this.xml = null;
    this.outline(null);
    if (!sha) {
      status.textContent = "Not recorded for this step.";
      return;
    }
    try {
      const response = await fetch(at(`/api/v1/artifacts/${sha}`), { signal: this.signal });
      if (!response.ok) throw new Error(response.statusText);
      const xml = new DOMParser().parseFromString(await response.text(), "application/xml");
      if (this.sha !== sha) return;
      if (xml.querySelector("parsererror")) throw new Error("not well-formed XML");
      this.draw(xml, sha);
    } catch (error) {
      if (error.name !== "AbortError") status.textContent = `Could not load the tree: ${error.message}`;
    }
  }

  draw(xml, sha) {
    this.xml = xml;
    this.items = new Map(); // List items by node, and nodes by list item.
    this.nodes = new WeakMap();
    const list = document.createElement("ul");
    list.append(this.item(xml.documentElement, 0));
    this.part("view").append(list);
    const link = document.createElement("a");
    link.href = at(`/api/v1/artifacts/${sha}`);
    link.textContent = "XML";
    this.part("status").replaceChildren(`${xml.getElementsByTagName("*").length} nodes, `, link);
    if (this.part("search").value) this.search();
  }

  item(node, depth) {
    const item = document.createElement("li");
    this.items.set(node, item);
    this.nodes.set(item, node);
    if (!node.children.length) {
      item.append(...this.label(node));
      return item;
    }
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.append(...this.label(node));
    details.append(summary);
    details.addEventListener("toggle", () => details.open && this.fill(details, node, depth));
    if (depth < OPEN_DEPTH) {
      details.open = true;
      this.fill(details, node, depth);
    }
    item.append(details);
    return item;
  }

  fill(details, node, depth) {
    if (details.querySelector(":scope > ul")) return;
    const list = document.createElement("ul");
    list.append(...[...node.children].slice(0, MAX_CHILDREN).map((child) => this.item(child, depth + 1)));
    details.append(list);
  }

  label(node) {
    const span = (kind, text) => {
      const element = document.createElement("span");
      element.className = kind;
      element.textContent = text;
      return element;
    };
    const place = [...node.attributes]
      .filter(({ name: key }) => /screencoord|size|position/.test(key))
      .map((attribute) => attribute.value);
    return [
      span("role", node.localName),
      " ",
      span("name", nameOf(node).slice(0, 200)),
      " ",
      span("rest", place.join(" ")),
    ];
  }

  // The box of the element on the screen; without one the outline goes.
  outline(item) {
    const node = item && this.nodes?.get(item);
    const detail = node ? boxOf(node) : null;
    document.dispatchEvent(new CustomEvent("tree:box", { detail }));
  }

  search() {
    for (const item of this.part("view").querySelectorAll(".hit")) item.classList.remove("hit");
    const words = this.part("search").value.trim().toLowerCase();
    this.hits = [];
    this.hit = -1;
    if (words && this.xml) {
      const nodes = [...this.xml.getElementsByTagName("*")].slice(0, MAX_NODES);
      this.hits = nodes.filter((node) => `${node.localName} ${nameOf(node)}`.toLowerCase().includes(words));
    }
    this.step(1);
  }

  step(by) {
    const hits = this.hits ?? [];
    if (hits.length) this.hit = (this.hit + by + hits.length) % hits.length;
    const typed = this.part("search").value.trim();
    this.part("found").textContent = !typed ? "" : hits.length ? `${this.hit + 1} of ${hits.length}` : "none";
    const item = hits.length ? this.reveal(hits[this.hit]) : null;
    for (const hit of this.part("view").querySelectorAll(".hit")) hit.classList.remove("hit");
    item?.classList.add("hit");
    item?.scrollIntoView({ block: "nearest", container: "nearest" });
    this.outline(item);
  }

  // The list item of a node, with all branches above it open.
  reveal(node) {
    const ancestors = [];
    for (let parent = node.parentElement; parent; parent = parent.parentElement) ancestors.unshift(parent);
    for (const [depth, ancestor] of ancestors.entries()) {
      const details = this.items.get(ancestor)?.querySelector("details");
      if (!details) return null;
      details.open = true;
      this.fill(details, ancestor, depth);
    }
    return this.items.get(node) ?? null;
  }
}

function nameOf(node) {
  const own = [...node.childNodes].find(
    (child) => child.nodeType === Node.TEXT_NODE && child.nodeValue.trim(),
  );
  return LABEL_ATTRIBUTES.map((key) => node.getAttribute(key)).find(Boolean) ?? own?.nodeValue.trim() ?? "";
}

function boxOf(node) {
  const pair = (pattern) => {
    const attribute = [...node.attributes].find(({ name }) => pattern.test(name));
    const numbers = attribute?.value.match(/-?\d+(\.\d+)?/g)?.map(Number);
    return numbers?.length === 2 ? numbers : null;
  };
  const [at, size] = [pair(/screencoord|position/), pair(/size/)];
  return at && size ? { x: at[0], y: at[1], width: size[0], height: size[1] } : null;
}
