// Runs frontend/static/js/lib/socket.js with a clock and connections of its own; prints what happened as JSON lines.
import { readFile } from "node:fs/promises";
import { argv, stdout } from "node:process";

let now = 1_000_000;
let timers = [];
const listeners = {};
const connections = [];

class FakeWebSocket {
  static OPEN = 1;

  constructor(address) {
    this.address = address;
    this.readyState = 0;
    this.closed = false;
    connections.push(this);
  }

  accept() {
    this.readyState = 1;
    this.onopen?.();
  }

  fail(code = 1006) {
    this.readyState = 3;
    this.onclose?.({ code });
  }

  hear(data) {
    this.onmessage?.({ data });
  }

  send() {}

  // A half-open connection never confirms that it is closed.
  close() {
    this.closed = true;
  }
}

function pass(ms) {
  const end = now + ms;
  for (;;) {
    const next = timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
    if (!next) break;
    now = next.at;
    if (next.every) next.at += next.every;
    else timers = timers.filter((timer) => timer !== next);
    next.act();
  }
  now = end;
}

function timer(act, ms, every) {
  const one = { act, at: now + ms, every };
  timers.push(one);
  return one;
}

function stop(one) {
  timers = timers.filter((each) => each !== one);
}

const listen = (kind, act) => {
  listeners[kind] = act;
};
const world = {
  WebSocket: FakeWebSocket,
  Date: { now: () => now },
  location: { protocol: "http:", host: "desk" },
  at: (path) => path,
  document: { hidden: false, addEventListener: listen },
  addEventListener: listen,
  setTimeout: (act, ms) => timer(act, ms),
  clearTimeout: stop,
  setInterval: (act, ms) => timer(act, ms, ms),
  clearInterval: stop,
};
const source = (await readFile(argv[2], "utf8"))
  .replace(/^import .*$/gm, "")
  .replace("export class Socket", "return class Socket");
const Socket = new Function(...Object.keys(world), source)(...Object.values(world));

function started() {
  connections.length = 0;
  const heard = [];
  const states = [];
  const socket = new Socket(() => `/ws/x?after=${heard.length}`, {
    message: (data) => heard.push(data),
    state: (state) => states.push(state),
  });
  socket.open();
  return { socket, heard, states };
}

const result = {};
{
  const { socket, heard, states } = started();
  connections[0].accept();
  connections[0].hear("one");
  for (let beats = 0; beats < 6; beats += 1) {
    pass(15_000);
    connections[0].hear('{"kind": "beat"}');
  }
  result.beats = { connections: connections.length, heard: [...heard], states: [...states] };
  pass(51_000); // Half open: nothing comes any more, and nobody says so.
  result.silent = { addresses: connections.map((each) => each.address), gaveUp: connections[0].closed };
  connections[1].accept();
  result.silent.states = [...states];
  connections[0].hear("late");
  result.silent.heard = [...heard];
  socket.close();
  result.left = timers.length;
}
{
  const { socket, states } = started();
  for (let tries = 0; tries < 4; tries += 1) {
    connections.at(-1).fail();
    pass(8_000);
  }
  result.polling = [...states];
  connections.at(-1).accept();
  result.back = states.at(-1);
  socket.close();
}
{
  const { socket } = started();
  connections[0].accept();
  const numbers = [];
  for (const kind of ["online", "pageshow", "resume"]) {
    listeners[kind]({ persisted: true });
    numbers.push(connections.length);
    connections.at(-1).accept();
  }
  listeners.pageshow({ persisted: false });
  listeners.visibilitychange();
  numbers.push(connections.length);
  now += 3_600_000; // The computer slept: timers did not run.
  listeners.visibilitychange();
  numbers.push(connections.length);
  socket.close();
  result.woken = numbers;
}
{
  const { states } = started();
  connections[0].accept();
  connections[0].fail(4000);
  pass(600_000);
  result.ended = { states, connections: connections.length, timers: timers.length };
}
{
  const pauses = new Set();
  for (let page = 0; page < 20; page += 1) {
    const { socket } = started();
    connections[0].fail();
    pauses.add(timers.find((each) => !each.every).at - now);
    socket.close();
  }
  result.pauses = { different: pauses.size, least: Math.min(...pauses), most: Math.max(...pauses) };
}
stdout.write(JSON.stringify(result));
