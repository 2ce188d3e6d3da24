// Sphinx's search asks this for the rank of each result: pages for users come before those for maintainers.
const BEHIND = { "internals/decisions/": 12, "internals/": 8, "reports/": 10 };

globalThis.Scorer = {
  ...globalThis.Scorer,
  score: ([page, , , , score]) => {
    const folder = Object.keys(BEHIND).find((name) => page.startsWith(name));
    return score - (BEHIND[folder] ?? 0);
  },
};
