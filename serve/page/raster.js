// The raster and the rates under it, on one time axis, drawn on plain canvases.

import {channels, colourOf, fit, short, styled, time, whole} from './look.js';
import {choose, Rates, Spikes, spread} from './history.js';

const LEFT = 64, RIGHT = 8, AXIS = 18; // pixels beside and under the drawings

export class Raster {
  /** on has chosen(burst) for a click, and zoomed(). */
  constructor(raster, rates, cursor, on) {
    Object.assign(this, {raster, chart: rates, cursor, spikes: new Spikes(), rates: new Rates(0), span: 500, bands: [], rows: 0, end: 0, mark: null, dirty: true});
    const burstAt = (e) => {
      const r = raster.getBoundingClientRect(), x = (e.clientX - r.left - LEFT) / (r.width - LEFT - RIGHT);
      return x < 0 || x > 1 ? null : Math.floor(this.end - this.span + x * this.span);
    };
    for (const canvas of [raster, rates]) {
      canvas.addEventListener('wheel', (e) => {
        e.preventDefault();
        this.widen(Math.exp(Math.max(-50, Math.min(50, e.deltaY)) / 200), on);
      }, {passive: false});
      canvas.addEventListener('pointermove', (e) => this.tell(burstAt(e), canvas === raster ? e : null));
      canvas.addEventListener('click', (e) => burstAt(e) !== null && on.chosen(Math.max(0, burstAt(e))));
    }
    raster.addEventListener('keydown', (e) => {
      if (e.key === '+' || e.key === '=') this.widen(0.5, on);
      if (e.key === '-') this.widen(2, on);
    });
  }

  widen(factor, on) {
    this.span = Math.max(10, Math.min(100_000, Math.round(this.span * factor)));
    this.dirty = true;
    on.zoomed();
  }

  /** Begins anew with areas; what it returns is to be asked of the server. */
  set(areas, hidden, timestep) {
    const {places, bands, rows} = choose(areas, hidden);
    Object.assign(this, {areas, hidden, timestep, bands, rows, dirty: true});
    this.spikes.clear();
    if (this.rates.areas !== areas.length) this.rates = new Rates(areas.length);
    return places;
  }

  addRaster(r) {
    this.spikes.add(r);
    this.end = this.latest(this.spikes.to);
    this.dirty = true;
  }

  /** Where the axis ends: at the next burst, or, of a run that is too fast to send all spikes, where those end that were sent. */
  latest(next) {
    const gap = this.spikes.lost.at(-1);
    return gap && gap[1] === this.spikes.to && gap[1] - gap[0] > this.span / 2 ? gap[0] : next;
  }

  addView(next, view) {
    this.rates.add(next, view);
    this.end = this.latest(next);
    this.dirty = true;
  }

  /** Goes to a burst before which nothing is known. */
  jump(burst) {
    this.spikes.clear();
    this.rates.clear();
    this.end = burst;
    this.dirty = true;
  }

  /** The area and number in it of a row. */
  neuronAt(row) {
    const b = this.bands.findLast((x) => x.row <= row);
    return b && row < this.rows ? {area: b.area, neuron: (row - b.row) * b.every} : null;
  }

  tell(burst, e) {
    if (burst === null || burst < 0) return;
    let text = `burst ${whole(burst)}, ${time(burst * this.timestep)}`;
    if (e) {
      const r = this.raster.getBoundingClientRect(), n = this.neuronAt(Math.floor(((e.clientY - r.top) / r.height) * this.rows));
      if (n) text += `, ${this.areas[n.area].name} neuron ${n.neuron}`;
    } else {
      this.rates.each(burst, burst + 1, (from, to, at) => {
        text += this.shown().slice(0, 8).map((i) => `, ${this.areas[i].name} ${short(this.rates.hz[at + i])} Hz`).join('');
      });
    }
    this.cursor.textContent = text;
  }

  shown() {
    return this.bands.map((b) => b.area);
  }

  frame() {
    if (fit(this.raster) | fit(this.chart)) this.dirty = true;
    if (!this.dirty || !this.areas) return;
    this.dirty = false;
    this.drawSpikes();
    this.drawRates();
  }

  drawSpikes() {
    const {raster} = this, ratio = raster.width / Math.max(1, raster.clientWidth), c = raster.getContext('2d');
    const left = Math.round(LEFT * ratio), wide = Math.max(1, raster.width - left - Math.round(RIGHT * ratio)), high = raster.height;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = styled('--back');
    c.fillRect(0, 0, raster.width, high);
    const image = c.createImageData(wide, high), pixels = new Uint32Array(image.data.buffer).fill(packed(styled('--back')));
    const from = this.end - this.span, rowHigh = high / Math.max(1, this.rows), tall = Math.max(Math.round(ratio), Math.floor(rowHigh * 0.8)), dot = Math.max(Math.round(ratio), Math.floor((wide / this.span) * 0.8));
    const colours = new Uint32Array(this.rows);
    for (const b of this.bands) colours.fill(packed(colourOf(b.area)), b.row, b.row + b.rows);
    const lost = packed(styled('--line'));
    for (const [a, b] of this.spikes.lost) {
      const x0 = Math.max(0, Math.round(((a - from) / this.span) * wide)), x1 = Math.min(wide, Math.round(((b - from) / this.span) * wide));
      for (let y = 0; y < high && x1 > x0; y++) pixels.fill(lost, y * wide + x0, y * wide + x1);
    }
    this.spikes.each(from, this.end, (burst, row) => {
      const x = Math.floor(((burst - from) / this.span) * wide), y = Math.floor(row * rowHigh), colour = colours[row];
      for (let dy = 0; dy < tall && y + dy < high; dy++) pixels.fill(colour, (y + dy) * wide + x, (y + dy) * wide + Math.min(wide, x + dot));
    });
    c.putImageData(image, left, 0);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.mark !== null && this.mark >= from && this.mark < this.end) {
      c.fillStyle = styled('--bad');
      c.fillRect(LEFT + ((this.mark - from) / this.span) * (wide / ratio) - 2, 0, 2, raster.clientHeight);
    }
    c.font = '11px system-ui, "DejaVu Sans", sans-serif';
    c.textBaseline = 'middle';
    const tallest = raster.clientHeight, middles = this.bands.map((b) => ((b.row + b.rows / 2) / this.rows) * tallest);
    this.labels = spread(middles, this.bands.map((b) => b.rows), 8, tallest - 8, 12);
    this.bands.forEach((b, k) => {
      const y = this.labels[k];
      if (y === null) return;
      c.fillStyle = c.strokeStyle = colourOf(b.area);
      c.fillText(clip(c, this.areas[b.area].name, LEFT - 14), 4, y);
      if (Math.abs(y - middles[k]) < 4) return;
      c.beginPath(); // a line from a label that was moved to its band
      c.moveTo(LEFT - 9, y);
      c.lineTo(LEFT - 1, middles[k]);
      c.stroke();
    });
  }

  drawRates() {
    const {chart} = this, c = chart.getContext('2d'), ratio = chart.width / Math.max(1, chart.clientWidth);
    const wide = chart.clientWidth - LEFT - RIGHT, high = chart.clientHeight - AXIS - 6, from = this.end - this.span;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, chart.clientWidth, chart.clientHeight);
    c.font = '11px system-ui, "DejaVu Sans", sans-serif';
    c.textBaseline = 'middle';
    const shown = this.shown();
    let most = 0;
    this.rates.each(from, this.end, (a, b, at) => {
      for (const i of shown) most = Math.max(most, this.rates.hz[at + i]);
    });
    most = nice(most || 1);
    c.fillStyle = c.strokeStyle = styled('--soft');
    c.fillText(`${short(most)} Hz`, 6, 10);
    c.fillText('0', 6, high + 2);
    c.strokeStyle = styled('--line');
    c.strokeRect(LEFT, 4, wide, high);
    c.textAlign = 'center';
    const step = nice((this.span * this.timestep) / Math.max(2, wide / 110)) / this.timestep;
    for (let t = Math.ceil(Math.max(0, from) / step) * step; t <= this.end; t += step) {
      const x = LEFT + ((t - from) / this.span) * wide;
      c.fillText(time(t * this.timestep), Math.min(x, LEFT + wide - 20), chart.clientHeight - AXIS / 2);
      c.fillRect(x, high + 4, 1, 4);
    }
    c.textAlign = 'start';
    c.save();
    c.beginPath();
    c.rect(LEFT, 0, wide, high + 6);
    c.clip();
    for (const i of shown) {
      c.strokeStyle = colourOf(i);
      c.lineWidth = 1.3;
      c.beginPath();
      let before = null;
      this.rates.each(from, this.end, (a, b, at) => {
        const y = 4 + high * (1 - this.rates.hz[at + i] / most);
        for (const t of [a, b]) {
          const x = LEFT + ((t - from) / this.span) * wide;
          if (t === a && (before === null || a > before)) c.moveTo(x, y);
          else c.lineTo(x, y);
        }
        before = b;
      });
      c.stroke();
    }
    c.restore();
  }
}

/** The next of 1, 2, 5, 10 … that is not less. */
function nice(x) {
  const power = 10 ** Math.floor(Math.log10(x)), k = [1, 2, 5, 10].find((n) => n * power >= x * 0.999);
  return k * power;
}

/** A colour as a pixel of ImageData. */
function packed(colour) {
  const [r, g, b] = channels(colour).map((x) => Math.round(255 * x));
  return new Uint32Array(new Uint8Array([r, g, b, 255]).buffer)[0];
}

/** Text that is no wider than so many pixels. */
function clip(c, text, wide) {
  if (c.measureText(text).width <= wide) return text;
  let n = text.length;
  while (n > 1 && c.measureText(text.slice(0, n) + '…').width > wide) n--;
  return text.slice(0, n) + '…';
}
