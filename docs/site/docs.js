// Before the page is drawn: light or dark as chosen in the service. Then: `/` goes to the search field, and the contents
// are folded on narrow screens.
const theme = /(?:^|; )theme=(light|dark)(?:;|$)/.exec(document.cookie);
if (theme) {
  document.documentElement.dataset.theme = theme[1];
}

document.addEventListener("DOMContentLoaded", () => {
  const field = document.querySelector(".find input");
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  document.querySelector(".side").open = matchMedia("(min-width: 60rem)").matches;
  document.querySelector('.side [aria-current="page"]')?.scrollIntoView({ block: "nearest" });
  reachable();
  addEventListener("resize", reachable);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input, textarea, select")) {
      event.preventDefault();
      field.focus();
    }
  });
});

// What can be scrolled sideways can be reached by keyboard.
function reachable() {
  for (const region of document.querySelectorAll("main :is(pre, table)")) {
    region.tabIndex = region.scrollWidth > region.clientWidth ? 0 : -1;
  }
}
