import { at } from "./address.js";

// A websocket to this service. The service sends a beat every 15 s; a connection that says nothing for 45 s is given up,
// as is one that a sleep, the back/forward cache or another network may have cut. It comes back by itself, after pauses
// that grow and vary, and says how it is: "on", "off", "polling" (it cannot be opened: read the page instead), "ended".
const BEAT = '{"kind": "beat"}';
const SILENT_MS = 45_000;
const LOOK_MS = 5_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
const LEAST_TRIES = 3;

const open = new Set();
let look = 0;

function watch(socket) {
  open.add(socket);
  look ||= setInterval(() => each((one) => one.check()), LOOK_MS);
}

function forget(socket) {
  open.delete(socket);
  if (open.size) return;
  clearInterval(look);
  look = 0;
}

function each(act) {
  for (const socket of [...open]) act(socket);
}

addEventListener("online", () => each((socket) => socket.renew()));
addEventListener("pageshow", (event) => event.persisted && each((socket) => socket.renew()));
document.addEventListener("resume", () => each((socket) => socket.renew()));
document.addEventListener("visibilitychange", () => !document.hidden && each((socket) => socket.check()));

export class Socket {
  #socket = null;
  #pause = FIRST_PAUSE_MS;
  #timer = 0;
  #failed = 0;
  #heard = 0;
  #closed = false;

  constructor(path, { message, state = () => {}, binary = false }) {
    this.path = path;
    this.message = message;
    this.state = state;
    this.binary = binary;
  }

  open() {
    clearTimeout(this.#timer);
    watch(this);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const path = typeof this.path === "function" ? this.path() : this.path;
    const socket = new WebSocket(`${scheme}//${location.host}${at(path)}`);
    this.#socket = socket;
    // The wall clock, which goes on while a computer sleeps.
    this.#heard = Date.now();
    if (this.binary) socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#pause = FIRST_PAUSE_MS;
      this.#failed = 0;
      this.#heard = Date.now();
      this.state("on");
    };
    socket.onmessage = (event) => {
      this.#heard = Date.now();
      if (event.data !== BEAT) this.message(event.data, this);
    };
    socket.onclose = (event) => this.#lost(event.code);
  }

  // Gives a connection up that is silent or does not open.
  check() {
    if (this.#socket && Date.now() - this.#heard > SILENT_MS) this.renew();
  }

  // Connects again at once: the present connection may be dead without knowing it.
  renew() {
    if (this.#closed) return;
    this.#drop();
    this.state(this.#failed >= LEAST_TRIES ? "polling" : "off");
    this.open();
  }

  send(text) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  close() {
    this.#closed = true;
    forget(this);
    this.#drop();
  }

  #drop() {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #lost(code) {
    this.#socket = null;
    // 4000 and above: the service has said that there is nothing more to come.
    if (code >= 4000) {
      forget(this);
      this.state("ended");
      return;
    }
    this.#failed += 1;
    this.state(this.#failed >= LEAST_TRIES ? "polling" : "off");
    // Many pages lose a service together, and should not come back together.
    this.#timer = setTimeout(() => this.open(), this.#pause * (0.5 + Math.random() / 2));
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
  }
}
