// Marks where the agent pointed, in order, in pixels of the screenshot.
const NAMESPACE = "http://www.w3.org/2000/svg";

export function svg({ name, text, ...values }) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(values)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Everything that marks one step's path: circles, arrows of drags, numbers where there are several.
export function pointer(marks) {
  return marks.flatMap((mark, place) => [
    ...(place && mark.kind === "drag_to" ? [arrow(marks[place - 1], mark)] : []),
    ...circle(mark),
    ...(marks.length > 1 ? [label(mark, place + 1)] : []),
  ]);
}

function circle({ x, y }) {
  return [
    { name: "circle", class: "halo", cx: x, cy: y, r: 22 },
    { name: "circle", class: "ring", cx: x, cy: y, r: 22 },
    { name: "circle", class: "dot", cx: x, cy: y, r: 5 },
  ];
}

function arrow(from, to) {
  return { name: "path", class: "path", d: `M${from.x} ${from.y}L${to.x} ${to.y}` };
}

function label({ x, y }, number) {
  return { name: "text", x: x + 26, y: y - 18, class: "number", text: String(number) };
}
