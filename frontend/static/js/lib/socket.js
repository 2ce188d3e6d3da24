// A websocket to this service that comes back by itself, with growing pauses, and says whether it is up.
export class Socket {
  #socket = null;
  #pause = 500;
  #timer = 0;
  #closed = false;

  constructor(path, { message, state = () => {}, binary = false }) {
    this.path = path;
    this.message = message;
    this.state = state;
    this.binary = binary;
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const path = typeof this.path === "function" ? this.path() : this.path;
    const socket = new WebSocket(`${scheme}//${location.host}${path}`);
    this.#socket = socket;
    if (this.binary) socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#pause = 500;
      this.state("on");
    };
    socket.onmessage = (event) => this.message(event.data, this);
    socket.onclose = (event) => {
      if (this.#closed) return;
      // 4000 and above: the service has said that there is nothing more to come.
      if (event.code >= 4000) {
        this.state("ended");
        return;
      }
      this.state("off");
      this.#timer = setTimeout(() => this.open(), this.#pause);
      this.#pause = Math.min(this.#pause * 2, 8000);
    };
  }

  send(text) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }
}
