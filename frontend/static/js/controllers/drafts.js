import { Controller } from "../lib/controller.js";
import { discard, draft, keep, sent } from "../lib/drafts.js";

const TYPED = "textarea, input:is([type=text], [type=url], [type=email], [type=number], :not([type]))";
const LEFT_OUT = new Set(["button", "file", "hidden", "image", "reset", "submit"]);

function pathOf(form) {
  return new URL(form.getAttribute("action") || location.href, location.href).pathname;
}

function isTicked(field) {
  return field.type === "checkbox" || field.type === "radio";
}

function contentOf(field) {
  return isTicked(field) ? field.checked : field.value;
}

function ownContentOf(field) {
  if (isTicked(field)) return field.defaultChecked;
  if (field.nodeName !== "SELECT") return field.defaultValue;
  return ([...field.options].find((option) => option.defaultSelected) ?? field.options[0])?.value ?? "";
}

// Keeps what is typed into the forms of a page until the service has taken it. After a reload, a failed submit or a way
// back it stands in its fields again, and a note says so. Forms in a table and those with a password are left out; so are
// forms that keep their draft themselves (data-drafts="own").
export default class Drafts extends Controller {
  connect() {
    for (const form of this.forms) this.restore(form);
    this.on(document, "input", (event) => this.keep(event.target.form));
    this.on(document, "submit", (event) => {
      if (!event.defaultPrevented && this.lasts(event.target)) sent(this.key(event.target));
    });
  }

  get forms() {
    return [...document.forms].filter((form) => this.lasts(form));
  }

  lasts(form) {
    return (
      form?.getAttribute("method") === "post" &&
      form.dataset.drafts !== "own" &&
      !form.closest("td") &&
      !form.querySelector("[type=password]") &&
      form.querySelector(TYPED)
    );
  }

  // Of its person, as several may use one browser.
  key(form) {
    const path = pathOf(form);
    const place = [...document.forms].filter((other) => pathOf(other) === path).indexOf(form);
    return `draft:${this.element.dataset.person ?? ""}:${path}:${place}`;
  }

  // Fields by name and place among those of this name.
  fields(form) {
    const places = new Map();
    const named = [...form.elements].filter((field) => field.name && !LEFT_OUT.has(field.type));
    return named.map((field) => {
      const place = places.get(field.name) ?? 0;
      places.set(field.name, place + 1);
      return [`${field.name} ${place}`, field];
    });
  }

  keep(form) {
    if (!this.lasts(form)) return;
    const changed = this.fields(form).filter(([, field]) => contentOf(field) !== ownContentOf(field));
    const values = changed.map(([name, field]) => [name, ownContentOf(field), contentOf(field)]);
    if (values.length) keep(this.key(form), JSON.stringify(values));
    else discard(this.key(form));
  }

  // A field that the service shows with another value than then has been saved, or sent back with an error.
  restore(form) {
    const values = JSON.parse(draft(this.key(form)) ?? "[]");
    const fields = new Map(this.fields(form));
    const open = values.filter(([name, own]) => fields.has(name) && ownContentOf(fields.get(name)) === own);
    for (const [name, , value] of open) {
      const field = fields.get(name);
      if (isTicked(field)) field.checked = value;
      else field.value = value;
    }
    if (open.length) form.prepend(this.note(form));
  }

  note(form) {
    const note = document.createElement("p");
    note.className = "draft-note small";
    note.role = "status";
    note.dataset.own = "";
    note.append("Not sent yet: what you typed before is here again. ");
    const button = document.createElement("button");
    Object.assign(button, { className: "as-link", textContent: "Discard it", type: "button" });
    this.on(button, "click", () => {
      discard(this.key(form));
      form.reset();
      note.remove();
    });
    note.append(button);
    return note;
  }
}
