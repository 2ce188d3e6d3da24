const MOST_CELLS = 4_000_000;
const CONTEXT = 3;

// What two lists of texts differ in: rows [sign, text], where the sign is " ", "-" (only in the first), "+" (only in the
// second) or "…" (equal ones left out). By the longest common subsequence; very different long lists are not aligned.
export function difference(first, second) {
  let start = 0;
  while (start < first.length && start < second.length && first[start] === second[start]) start++;
  let end = 0;
  while (
    end < first.length - start &&
    end < second.length - start &&
    first.at(-1 - end) === second.at(-1 - end)
  )
    end++;
  const [a, b] = [first.slice(start, first.length - end), second.slice(start, second.length - end)];
  const rows = [
    ...first.slice(0, start).map((text) => [" ", text]),
    ...middle(a, b),
    ...first.slice(first.length - end).map((text) => [" ", text]),
  ];
  return shortened(rows);
}

function middle(a, b) {
  if (a.length * b.length > MOST_CELLS)
    return [...a.map((text) => ["-", text]), ...b.map((text) => ["+", text])];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  const rows = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      rows.push([" ", a[i++]]);
      j++;
    } else if (j >= b.length || (i < a.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1]))
      rows.push(["-", a[i++]]);
    else rows.push(["+", b[j++]]);
  }
  return rows;
}

function shortened(rows) {
  const near = new Set();
  for (const [place, [sign]] of rows.entries())
    if (sign !== " ") for (let by = -CONTEXT; by <= CONTEXT; by++) near.add(place + by);
  const kept = [];
  for (const [place, row] of rows.entries()) {
    if (near.has(place)) kept.push(row);
    else if (kept.at(-1)?.[0] !== "…") kept.push(["…", ""]);
  }
  return kept;
}
