// Starts the behaviours that a page names: data-controller="live" loads controllers/live.js and gives it the element;
// "remote-desktop" is controllers/remote_desktop.js.
import { settle } from "./lib/drafts.js";

const attached = new WeakMap();
settle();

async function attach(element) {
  if (attached.has(element)) return;
  const running = [];
  attached.set(element, running);
  for (const name of element.dataset.controller.split(/\s+/).filter(Boolean)) {
    const module = await import(`./controllers/${name.replaceAll("-", "_")}.js`);
    if (!element.isConnected) return;
    const controller = new module.default(element, name);
    running.push(controller);
    controller.connect();
  }
}

function detach(element) {
  for (const controller of attached.get(element) ?? []) controller.disconnect();
  attached.delete(element);
}

function each(node, visit) {
  if (!(node instanceof Element)) return;
  if (node.dataset?.controller) visit(node);
  for (const inner of node.querySelectorAll("[data-controller]")) visit(inner);
}

new MutationObserver((changes) => {
  for (const change of changes) {
    if (change.type === "attributes") {
      // A page that was brought up to date may have taken a behaviour from an element that stays.
      detach(change.target);
      if (change.target.isConnected && change.target.dataset.controller) attach(change.target);
    }
    for (const node of change.removedNodes) if (!node.isConnected) each(node, detach);
    for (const node of change.addedNodes) if (node.isConnected) each(node, attach);
  }
}).observe(document.documentElement, {
  attributeFilter: ["data-controller"],
  attributes: true,
  childList: true,
  subtree: true,
});

const started = [];
each(document.documentElement, (element) => started.push(attach(element)));
await Promise.allSettled(started);
document.documentElement.dataset.ready = "";
