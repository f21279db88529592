// What stands beside the pictures: the list of areas, and an area, a neuron or the whole run in detail.

import {button, colourOf, fit, make, say, short, styled, time, whole} from './look.js';
import {drawn} from './touch.js';
import {Refusal} from './wire.js';

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const quantity = (x, unit) => short(x) + (unit ? ' ' + unit : '');

/** The list of areas with their rates. app has the state and what to do. */
export class Areas {
  constructor(place, app) {
    Object.assign(this, {place, app, rates: []});
  }

  set() {
    const {app} = this;
    const rows = app.areas.map((a, i) => {
      const rate = make('span', {class: 'rate'});
      this.rates[i] = rate;
      const swatch = make('span', {class: 'swatch', 'data-area': String(i)});
      const row = make('li', {},
        make('input', {type: 'checkbox', checked: !app.hidden.has(i), 'aria-label': `show ${a.name}`, on: {change: () => app.toggle(i)}}),
        swatch, make('button', {type: 'button', 'aria-pressed': 'false', 'data-area': String(i), title: `${a.model}, ${whole(a.neurons)} neurons`, on: {click: () => app.choose(i)}}, a.name), rate);
      row.dataset.name = a.name.toLowerCase();
      return row;
    });
    const list = make('ul', {}, ...rows);
    const filter = make('input', {id: 'filter', type: 'search', placeholder: 'filter', 'aria-label': 'Filter areas', hidden: rows.length < 12, on: {
      input: () => rows.forEach((r) => (r.hidden = !r.dataset.name.includes(filter.value.toLowerCase()))),
    }});
    this.place.replaceChildren(make('h2', {}, 'Areas'), filter, list);
    this.look();
  }

  look() {
    for (const e of this.place.querySelectorAll('.swatch')) e.style.background = colourOf(Number(e.dataset.area));
    for (const e of this.place.querySelectorAll('button')) e.setAttribute('aria-pressed', String(Number(e.dataset.area) === this.app.area));
  }

  show(pictures) {
    for (const p of pictures) if (this.rates[p.area]) say(this.rates[p.area], `${short(Number(p.rate.toPrecision(3)))} Hz`);
  }
}

/** Details. */
export class Detail {
  constructor(place, app) {
    Object.assign(this, {place, app});
  }

  /** Shows what is chosen. */
  async set() {
    const {app} = this, turn = (this.turn = (this.turn ?? 0) + 1);
    this.trace = this.histograms = null;
    const parts = app.neuron !== null ? this.neuron() : app.area !== null ? this.area() : this.run();
    this.place.replaceChildren(...parts, ...this.copy());
    if (this.trace) this.follow(turn);
    if (this.trace) await this.synapses(turn);
    await this.refresh();
  }

  /**
   * Asks for a neuron's state while it is looked at: once a second, or more often, so that a twentieth of the time goes into it and a few
   * viewers ask ten times a second. Where nothing has changed it is asked for less often again.
   */
  async follow(turn) {
    const {app} = this;
    for (this.gap = 1000; this.turn === turn; await sleep(this.gap)) {
      if (document.hidden || app.socket.readyState !== WebSocket.OPEN) continue;
      const began = performance.now(), before = this.trace.values.at(-1)?.[0];
      let least = app.viewers <= 4 ? 100 : 1000;
      try {
        await this.look(turn);
      } catch (e) {
        if (e instanceof Refusal) app.say(e.message, true);
        least = 1000;
      }
      if (this.turn !== turn) return;
      const same = before === this.trace.values.at(-1)?.[0] ? 2 * this.gap : 0;
      this.gap = Math.min(1000, Math.max(least, same, 20 * (performance.now() - began)));
    }
  }

  run() {
    const {info, genome} = this.app;
    const rows = [['network', info.network], ['seed', info.seed], ['run seed', info.run_seed], ['timestep', time(info.timestep_ms)], ['neurons', whole(info.neurons)],
      ['backend', `${info.backend} ${info.device}`], ['folder', info.folder || 'none'], ['program', info.program]];
    return [make('h2', {}, 'Run'), table(rows), ...this.stimuli(genome.stimuli.map((s, i) => [s, i]))];
  }

  stimuli(list) {
    const {app} = this;
    if (list.length === 0) return [];
    const rows = list.map(([s, i]) => {
      const when = s.every ? `every ${s.every} bursts` : `at burst ${whole(s.at)}`, off = app.off.has(i);
      return make('p', {class: 'row'}, app.touch && make('button', {type: 'button', 'aria-pressed': String(!off), on: {click: (e) => app.do(async () => {
        await app.touch.stimulus(i, app.off.has(i));
        if (!app.off.delete(i)) app.off.add(i);
        e.target.setAttribute('aria-pressed', String(!app.off.has(i)));
        say(e.target, app.off.has(i) ? 'off' : 'on');
      })}}, off ? 'off' : 'on'), `${s.area}, ${when}, ${whole(s.neurons)} neurons`);
    });
    return [make('h3', {}, 'Stimuli'), ...rows];
  }

  area() {
    const {app} = this, i = app.area, a = app.areas[i], g = app.genome.areas[i];
    const parameters = g.parameters.map((p) => make('tr', {title: p.about}, make('th', {scope: 'row'}, p.name), make('td', {}, p.varied ? 'varies' : p.choice || quantity(p.value, p.unit))));
    const parts = [make('h2', {}, a.name), table([['model', a.model], ['neurons', whole(a.neurons)], ['size', a.size.join(' × ')]]), make('p', {class: 'soft'}, g.about)];
    if (parameters.length) parts.push(make('h3', {}, 'Parameters'), make('table', {}, make('tbody', {}, ...parameters)));
    const find = make('input', {type: 'number', min: '0', max: String(a.neurons - 1), value: '0', 'aria-label': 'Neuron'});
    if (a.neurons) parts.push(make('form', {on: {submit: (e) => (e.preventDefault(), app.chooseNeuron(i, Number(find.value)))}}, 'neuron', find, make('button', {}, 'look')));
    parts.push(...this.projections(a), ...this.stimuli(app.genome.stimuli.map((s, k) => [s, k]).filter(([s]) => s.area === a.name)), ...this.stimulate(i, null));
    return parts;
  }

  /** The projections to and from an area, with the histograms of those that learn. */
  projections(a) {
    const {app} = this, parts = [];
    this.histograms = [];
    for (const [title, mine, other] of [['Projections from here', 'from', 'to'], ['Projections to here', 'to', 'from']]) {
      const list = app.projections.map((p, k) => [p, k]).filter(([p]) => p[mine] === a.name);
      if (list.length === 0) continue;
      parts.push(make('h3', {}, title));
      for (const [p, k] of list.slice(0, 60)) {
        const at = app.areas.findIndex((x) => x.name === p[other]);
        parts.push(make('p', {}, at < 0 ? p[other] || 'all' : button(p[other], 'show it', () => app.choose(at), {class: 'link'}), ' ' + app.told(p)));
        if (!p.plastic || app.info.kind !== 'live' || mine === 'to' && p.from === a.name) continue;
        const canvas = make('canvas', {role: 'img', 'aria-label': 'Histogram of its weights'}), note = make('p', {class: 'soft'});
        parts.push(canvas, note);
        this.histograms.push({k, canvas, note});
      }
    }
    return parts;
  }

  neuron() {
    const {app} = this, i = app.area, a = app.areas[i];
    const canvas = make('canvas', {role: 'img', 'aria-label': 'Its potential over time'});
    this.state = make('div');
    this.trace = app.info.kind === 'live' ? {canvas, note: make('p', {class: 'soft'}), values: []} : null;
    this.lists = make('div');
    const mine = app.rows(i, app.neuron);
    return [make('h2', {}, button(a.name, 'show the area', () => app.choose(i), {class: 'link'}), ` neuron ${app.neuron}`),
      make('p', {class: 'soft'}, `number ${whole(a.first + app.neuron)} of the network${mine ? '' : '; it has no row in the raster'}`),
      this.state, ...(this.trace ? [canvas, this.trace.note] : []), ...this.stimulate(i, app.neuron), this.lists];
  }

  /** Controls that give input to a neuron's point, or to all of an area. */
  stimulate(i, neuron) {
    const {app} = this, a = app.areas[i], g = app.genome.areas[i];
    if (!app.touch || !a.neurons || app.info.lock_step) return [];
    const amount = make('input', {type: 'number', step: 'any', value: String(app.amount), 'aria-label': `Amount${g.input ? ' in ' + g.input : ''}`, on: {change: () => (app.amount = Number(amount.value))}});
    const give = (how, x) => app.give(how, a, neuron === null ? Array.from({length: a.neurons}, (_, n) => n) : [neuron], x);
    const parts = [make('h3', {}, neuron === null ? 'Stimulate all of it' : 'Stimulate'),
      make('p', {class: 'row'}, amount, g.input, button('once', 'in one burst', () => give('once', Number(amount.value))),
        button('hold', 'in every burst', () => give('hold', Number(amount.value))), button('release', 'hold it no longer', () => give('hold', 0))),
      make('p', {}, make('label', {}, make('input', {type: 'checkbox', checked: app.clicks, on: {change: (e) => (app.clicks = e.target.checked)}}), 'a click on a point gives it once'))];
    if (neuron !== null) return parts;
    const file = make('input', {type: 'file', accept: 'image/*', 'aria-label': 'Picture to hold on the area', on: {change: () => app.do(async () => {
      if (!file.files[0]) return;
      const x = await drawn(file.files[0], a, Number(amount.value));
      await app.touch.hold(a.name, x.neurons, x.amounts, app.soon());
    })}});
    return [...parts, make('p', {}, make('label', {}, 'picture', file))];
  }

  /** What was done by hand, as text. */
  copy() {
    const {app} = this, text = make('pre', {tabindex: '0', 'aria-label': 'Text to copy'}), kinds = ['command line', 'Python', 'YAML'];
    const kind = make('select', {'aria-label': 'Copy as', on: {change: () => show()}}, ...kinds.map((k) => make('option', {selected: k === app.copyAs}, k)));
    const show = () => {
      app.copyAs = kind.value;
      text.textContent = app.text(kind.value);
    };
    this.changed = show;
    if (app.touch) app.touch.changed = show;
    show();
    return [make('h3', {}, app.touch ? 'What was done here' : 'The same run'), make('p', {class: 'row'}, kind, button('copy', 'to the clipboard', () => {
      show();
      app.do(() => navigator.clipboard.writeText(text.textContent));
    })), text];
  }

  async synapses(turn) {
    const {app} = this, id = app.areas[app.area].first + app.neuron, lists = this.lists;
    for (const [path, title, key] of [['inputs', 'Receives from', 'source'], ['synapses', 'Sends to', 'target']]) {
      const x = await app.server.get(`v1/neurons/${id}/${path}`);
      if (this.turn !== turn) return;
      const rows = x.synapses.slice(0, 40).map((s) => {
        const at = app.areas.findIndex((a) => s[key] >= a.first && s[key] < a.first + a.neurons), n = s[key] - app.areas[at].first;
        return make('tr', {}, make('td', {}, button(`${app.areas[at].name} ${n}`, 'show it', () => app.chooseNeuron(at, n), {class: 'link'})), make('td', {class: 'n'}, short(s.weight)), make('td', {class: 'n'}, time(s.delay_bursts * app.info.timestep_ms)));
      });
      const head = make('thead', {}, make('tr', {}, ...['neuron', 'weight', 'delay'].map((t) => make('th', {scope: 'col'}, t))));
      lists.append(make('h3', {}, `${title} ${whole(x.total)}${x.total > 40 ? ', of which 40' : ''}`), make('table', {}, head, make('tbody', {}, ...rows)));
    }
  }

  /** Shows a neuron's state as it is now. */
  async look(turn) {
    const {app} = this, x = await app.server.get(`v1/neurons/${app.areas[app.area].first + app.neuron}`);
    if (this.turn !== turn) return;
    const rows = Object.entries(x.state).map(([name, v]) => [name, quantity(v, x.units[name])]);
    this.state.replaceChildren(table([['voxel', x.voxel.join(', ')], ...rows, ['refractory', `${x.refractory_bursts} bursts`]]));
    if (x.potential && x.burst !== this.trace.values.at(-1)?.[0]) this.trace.values.push([x.burst, x.state[x.potential]]);
    if (this.trace.values.length > 600) this.trace.values.shift();
    drawTrace(this.trace, x.potential, x.units[x.potential], app.info.timestep_ms);
  }

  /** Asks anew for what changes: histograms, and what was done. */
  async refresh() {
    const {app, turn} = this;
    if (getSelection().isCollapsed) this.changed?.(); // or what is being marked would go
    for (const h of this.histograms ?? []) {
      const bytes = await app.server.bytes(`v1/projections/${h.k}/weights`);
      if (this.turn !== turn) return;
      drawHistogram(h, new DataView(bytes));
    }
  }
}

const table = (rows) => make('table', {}, make('tbody', {}, ...rows.map(([k, v]) => make('tr', {}, make('th', {scope: 'row'}, k), make('td', {}, String(v))))));

/** A potential over bursts, as often as it was asked for, and in words where its scale begins and ends. */
function drawTrace({canvas, note, values}, name, unit, timestep) {
  canvas.hidden = values.length < 2;
  if (canvas.hidden) return;
  fit(canvas);
  const c = canvas.getContext('2d'), [w, h] = [canvas.width, canvas.height], last = values.at(-1)[0], first = values[0][0];
  const low = Math.min(...values.map((v) => v[1])), top = Math.max(...values.map((v) => v[1])), range = top - low || 1;
  say(note, `${name} from ${short(low)} to ${quantity(top, unit)}, ${time(first * timestep)} to ${time(last * timestep)}, ${values.length} values`);
  c.clearRect(0, 0, w, h);
  c.strokeStyle = styled('--strong');
  c.lineWidth = 1.5;
  c.beginPath();
  for (const [t, v] of values) c.lineTo(((t - first) / (last - first)) * w, h - 6 - ((v - low) / range) * (h - 12));
  c.stroke();
}

/** Weights in 40 bins. Rows are of 16 bytes, the weight the last number of each. */
function drawHistogram({canvas, note}, rows) {
  const n = rows.byteLength / 16, bins = new Array(40).fill(0);
  let low = Infinity, top = -Infinity, sum = 0;
  for (let i = 0; i < n; i++) {
    const w = rows.getFloat32(16 * i + 12, true);
    low = Math.min(low, w);
    top = Math.max(top, w);
    sum += w;
  }
  for (let i = 0; i < n; i++) bins[Math.min(39, Math.floor(((rows.getFloat32(16 * i + 12, true) - low) / (top - low || 1)) * 40))]++;
  fit(canvas);
  const c = canvas.getContext('2d'), most = Math.max(...bins), step = canvas.width / 40;
  c.clearRect(0, 0, canvas.width, canvas.height);
  c.fillStyle = styled('--strong');
  bins.forEach((count, k) => {
    const high = count ? Math.max(1, (count / most) * (canvas.height - 4)) : 0;
    c.fillRect(k * step + 1, canvas.height - high, step - 1, high);
  });
  say(note, n ? `${whole(n)} weights from ${short(low)} to ${short(top)}, mean ${short(sum / n)}` : 'no synapses');
}
