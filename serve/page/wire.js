// Frames and routes of docs/live.md: what the page and the server say to each other.

const HEADER = 16;
export const Type = {hello: 1, view: 2, raster: 3, feed: 6, notice: 7, control: 8, seen: 9, bind: 10};

/** Makes a frame of a type, for a burst, of a body of bytes. */
export function frame(type, burst, body = new Uint8Array(0)) {
  const bytes = new Uint8Array(HEADER + body.length), view = new DataView(bytes.buffer);
  view.setUint32(0, body.length, true);
  bytes[4] = type;
  bytes[5] = 1;
  view.setBigUint64(8, BigInt(burst), true);
  bytes.set(body, HEADER);
  return bytes;
}

export const json = (type, value) => frame(type, 0, new TextEncoder().encode(JSON.stringify(value)));

/** Takes a message apart: its type, its burst and its body, which is a view of the message. */
export function parse(buffer) {
  const view = new DataView(buffer);
  return {type: view.getUint8(4), burst: Number(view.getBigUint64(8, true)), body: new DataView(buffer, HEADER)};
}

export const textOf = (body) => JSON.parse(new TextDecoder().decode(body));

/** Reads a view: how many bursts, and of each area a picture whose data is a view of the message. */
export function parseView(body) {
  const pictures = new Array(body.getUint16(4, true));
  let at = 8;
  for (let i = 0; i < pictures.length; i++) {
    const size = body.getUint32(at + 8, true);
    pictures[i] = {
      area: body.getUint16(at, true), coding: body.getUint8(at + 2), rate: body.getFloat32(at + 4, true),
      data: new Uint8Array(body.buffer, body.byteOffset + at + 12, size),
    };
    at += 12 + ((size + 3) & ~3);
  }
  return {bursts: body.getUint32(0, true), pictures};
}

/**
 * Marks the points that a picture shows: stamps[point] = now, and amounts[point] = 1 to 255, a point's fired neurons.
 * Returns the first marked point and the one after the last; both are 0 if there is none.
 */
export function mark(picture, stamps, amounts, now) {
  const {coding, data} = picture;
  let first = 0, end = 0;
  const one = (i, amount) => {
    if (end === 0) first = i;
    end = i + 1;
    stamps[i] = now;
    amounts[i] = amount;
  };
  if (coding === 1) {
    for (let k = 0, point = 0; k < data.length;) {
      let step = 0, scale = 1, byte;
      do {
        byte = data[k++];
        step += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127);
      one(point += step, 255);
    }
  } else if (coding === 2) {
    const n = stamps.length;
    for (let k = 0; k < data.length; k++) {
      const byte = data[k];
      if (byte === 0) continue;
      const base = 8 * k, last = Math.min(base + 8, n);
      for (let i = base, rest = byte; i < last && rest; i++, rest >>= 1) if (rest & 1) stamps[i] = now, amounts[i] = 255;
      if (end === 0) first = base;
      end = last;
    }
  } else if (coding === 3) {
    for (let i = 0; i < data.length; i++) if (data[i]) one(i, data[i]);
  }
  return [first, end];
}

/** Reads a raster: its first burst, how many bursts and lost ones, and spikes as pairs of u16: bursts after the first, row. */
export function parseRaster(burst, body) {
  const n = body.getUint32(8, true);
  return {
    first: burst, bursts: body.getUint32(0, true), lost: body.getUint32(4, true),
    spikes: new Uint16Array(body.buffer, body.byteOffset + 12, 2 * n),
  };
}

/** Makes a feed frame that sets one input's entries, which are ascending; all others of the input become 0. */
export function feed(burst, handle, entries, amounts) {
  const body = new DataView(new ArrayBuffer(12 + 8 * entries.length));
  body.setUint16(0, 1, true);
  body.setUint16(4, handle, true);
  body.setUint16(6, 1, true);
  body.setUint32(8, entries.length, true);
  entries.forEach((n, i) => {
    body.setUint32(12 + 4 * i, n, true);
    body.setFloat32(12 + 4 * (entries.length + i), amounts[i], true);
  });
  return frame(Type.feed, burst, new Uint8Array(body.buffer));
}

/** What the server answers instead of what was asked for. */
export class Refusal extends Error {}

/** The server, as one who has a token reaches it. */
export class Server {
  constructor(token) {
    this.token = token;
  }

  async ask(path, body) {
    const answer = await fetch(path, {
      method: body === undefined ? 'GET' : 'POST', body: body === undefined ? undefined : JSON.stringify(body),
      headers: {Authorization: 'Bearer ' + this.token, ...(body === undefined ? {} : {'Content-Type': 'application/json'})},
    });
    if (!answer.ok) throw new Refusal((await answer.json()).error);
    return answer;
  }

  async get(path) {
    return (await this.ask(path)).json();
  }

  async bytes(path) {
    return (await this.ask(path)).arrayBuffer();
  }

  control(act) {
    return this.ask('v1/control', act).then((answer) => answer.json());
  }

  /**
   * Opens a WebSocket and says hello. on has functions by the names of Type for frames that come, and closed(text), where text is
   * why the server has ended the connection, or '' if it did not say.
   */
  open(role, on, more = {}) {
    const socket = new WebSocket(location.origin.replace('http', 'ws') + location.pathname + 'live');
    socket.binaryType = 'arraybuffer';
    const names = Object.fromEntries(Object.entries(Type).map(([name, type]) => [type, name]));
    let why = '', welcome = false;
    socket.onopen = () => socket.send(json(Type.hello, {role, token: this.token, name: 'page', ...more}));
    socket.onmessage = ({data}) => {
      const {type, burst, body} = parse(data), name = names[type];
      if (name === 'hello') welcome = true;
      if (name === 'notice') {
        const notice = textOf(body);
        if (!welcome || notice.code === 'closing') why = notice.text;
        on.notice?.(notice, burst);
      } else {
        on[name]?.(name === 'hello' || name === 'bind' ? textOf(body) : body, burst);
      }
    };
    socket.onclose = () => on.closed?.(why);
    return socket;
  }
}
