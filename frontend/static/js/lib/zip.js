// Files of a ZIP archive (xlsx, docx) from a guest: only what is asked for is unpacked, and never more than LARGEST bytes.
// Source: PKWARE, APPNOTE.TXT, sections 4.3.12 and 4.3.16.
const END = 0x06054b50;
const ENTRY = 0x02014b50;
const END_SIZE = 22;
const LONGEST_COMMENT = 65535;
const LARGEST = 20_000_000;
const MOST_ENTRIES = 5000;
const STORED = 0;
const DEFLATED = 8;

export function isZip(bytes) {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;
}

// { name: () => Promise<string> }, each unpacked as UTF-8 when it is called.
export function zipTexts(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = bytes.length - END_SIZE;
  const lowest = Math.max(0, end - LONGEST_COMMENT);
  while (end >= lowest && view.getUint32(end, true) !== END) end--;
  if (end < lowest) throw new Error("not a whole ZIP archive");
  const texts = new Map();
  let at = view.getUint32(end + 16, true);
  const number = Math.min(MOST_ENTRIES, view.getUint16(end + 10, true));
  for (let place = 0; place < number && view.getUint32(at, true) === ENTRY; place++) {
    const nameSize = view.getUint16(at + 28, true);
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameSize));
    const method = view.getUint16(at + 10, true);
    const size = view.getUint32(at + 20, true);
    const local = view.getUint32(at + 42, true);
    texts.set(name, () => {
      const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
      return unpacked(bytes.subarray(start, start + size), method);
    });
    at += 46 + nameSize + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return texts;
}

async function unpacked(packed, method) {
  if (method === STORED) return new TextDecoder().decode(packed);
  if (method !== DEFLATED) throw new Error("packed in a way that is not supported");
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > LARGEST) {
      await reader.cancel();
      throw new Error("too large to compare here");
    }
    text += decoder.decode(value, { stream: true });
  }
}
