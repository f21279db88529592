// What has happened lately: spikes of chosen neurons, and rates of areas. Memory is bounded; the oldest goes first.

/** Spikes in the order of time, by their burst and row. */
export class Spikes {
  constructor(most = 1 << 20) {
    Object.assign(this, {most, bursts: new Float64Array(most), rows: new Uint16Array(most)});
    this.clear();
  }

  clear() {
    Object.assign(this, {first: 0, count: 0, from: null, to: null, lost: []});
  }

  /** Adds a raster. One that does not follow what there is, as after a seek, takes its place. */
  add({first, bursts, lost, spikes}) {
    if (first !== this.to) {
      this.clear();
      this.from = first;
    }
    for (let k = 0; k < spikes.length; k += 2) {
      const at = (this.first + this.count) % this.most;
      this.bursts[at] = first + spikes[k];
      this.rows[at] = spikes[k + 1];
      if (this.count < this.most) this.count++;
      else this.from = this.bursts[this.first = (this.first + 1) % this.most];
    }
    if (lost) this.lost = [...this.lost.slice(-99), [first + bursts, first + bursts + lost]];
    this.to = first + bursts + lost;
  }

  /** Calls f(burst, row) for the spikes of from ≤ burst < to. */
  each(from, to, f) {
    let low = 0, top = this.count;
    while (low < top) {
      const mid = (low + top) >> 1;
      if (this.bursts[(this.first + mid) % this.most] < from) low = mid + 1;
      else top = mid;
    }
    for (; low < this.count; low++) {
      const at = (this.first + low) % this.most;
      if (this.bursts[at] >= to) return;
      f(this.bursts[at], this.rows[at]);
    }
  }
}

/** Mean rates of areas over the bursts of each view. */
export class Rates {
  constructor(areas, most = Math.max(100, Math.min(20_000, Math.floor(4e6 / Math.max(1, areas))))) {
    Object.assign(this, {areas, most, nexts: new Float64Array(most), spans: new Float64Array(most), hz: new Float32Array(most * areas)});
    this.clear();
  }

  clear() {
    Object.assign(this, {first: 0, count: 0});
  }

  /** Adds a view that ends before burst next. One of an earlier time begins anew. */
  add(next, {bursts, pictures}) {
    if (bursts === 0) return;
    if (this.count > 0 && next <= this.nexts[(this.first + this.count - 1) % this.most]) this.clear();
    const at = (this.first + this.count) % this.most;
    this.nexts[at] = next;
    this.spans[at] = bursts;
    for (const p of pictures) this.hz[at * this.areas + p.area] = p.rate;
    if (this.count < this.most) this.count++;
    else this.first = (this.first + 1) % this.most;
  }

  /** Calls f(from, to, place) for the views that have a part in from ≤ burst < to; hz[place + area] is an area's rate. */
  each(from, to, f) {
    for (let k = 0; k < this.count; k++) {
      const at = (this.first + k) % this.most, next = this.nexts[at], begun = next - this.spans[at];
      if (next > from && begun < to) f(begun, next, at * this.areas);
    }
  }
}

/**
 * Where labels of bands stand that each want a place: in order, so many pixels apart, between low and high, and near what they want.
 * Of more than there is room for those of the widest bands stay, of equal ones some everywhere. Returns the place of each; null: it has
 * none.
 */
export function spread(wanted, widths, low, high, apart) {
  const room = Math.max(1, Math.floor((high - low) / apart) + 1), places = wanted.map(() => null);
  const order = (k) => (k * 0.618) % 1, kept = [...wanted.keys()].sort((a, b) => widths[b] - widths[a] || order(a) - order(b)).slice(0, room).sort((a, b) => a - b);
  kept.forEach((k, i) => (places[k] = Math.max(low, wanted[k], i ? places[kept[i - 1]] + apart : low)));
  for (let i = kept.length - 1, most = high; i >= 0; i--, most = places[kept[i + 1]] - apart) places[kept[i]] = Math.min(places[kept[i]], most);
  return places;
}

/**
 * Chooses neurons for a raster of at most so many rows: all of the areas if they fit, else of each a share, evenly. Returns what to
 * ask the server for, and of each area its first row, its rows, and how many neurons lie from one to the next.
 */
export function choose(areas, hidden, most = 4096) {
  const shown = areas.map((a, i) => ({a, i})).filter(({a, i}) => !hidden.has(i) && a.neurons > 0).slice(0, most);
  const all = shown.reduce((n, {a}) => n + a.neurons, 0), floor = Math.max(1, Math.floor(most / 4 / Math.max(1, shown.length)));
  const places = [], bands = [];
  let row = 0;
  for (const {a, i} of shown) {
    const share = all <= most ? a.neurons : Math.min(a.neurons, Math.max(Math.min(a.neurons, floor), Math.floor((0.75 * most * a.neurons) / all)));
    const every = Math.max(1, Math.floor(a.neurons / share));
    places.push(share === a.neurons ? {area: a.name} : {area: a.name, neurons: Array.from({length: share}, (_, k) => k * every)});
    bands.push({area: i, row, rows: share, every});
    row += share;
  }
  return {places, bands, rows: row};
}
