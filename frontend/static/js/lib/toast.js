// A short message at the edge of the page, read out by screen readers.
export function toast(text) {
  document.querySelector(".toast")?.remove();
  const box = document.createElement("p");
  box.className = "toast";
  box.role = "status";
  box.textContent = text;
  document.body.append(box);
  setTimeout(() => box.remove(), 6000);
}
