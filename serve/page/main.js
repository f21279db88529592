// The page: it opens the connection, has the parts drawn, and keeps the state of the view in the address.

import {Bar} from './bar.js';
import {isDark, make, say, short, time, whole} from './look.js';
import {neuronsOf, pointOf} from './layout.js';
import {Areas, Detail} from './panels.js';
import {Raster} from './raster.js';
import {Scene} from './scene.js';
import {reproduced, Touch} from './touch.js';
import {frame, json, parseRaster, parseView, Refusal, Server, Type} from './wire.js';

const $ = (id) => document.getElementById(id);

class App {
  constructor() {
    Object.assign(this, {areas: [], projections: [], hidden: new Set(), off: new Set(), area: null, neuron: null, amount: 1, clicks: false, copyAs: 'command line', burst: 0, speed: 0, mode: '', unseen: [], views: 0, last: null});
    this.framed = window.parent !== window; // one of two runs side by side, which pair.js moves
    document.documentElement.classList.toggle('framed', this.framed);
    this.readAddress();
    this.scene = new Scene($('scene'), $('labels'), {turned: () => this.later(), picked: (x, ...at) => this.picked(x, ...at)});
    if (this.camera) this.scene.camera.text = this.camera;
    this.raster = new Raster($('raster'), $('rates'), $('cursor'), {chosen: (burst) => this.bar.seek(burst), zoomed: () => this.later()});
    if (this.span) this.raster.span = this.span;
    this.list = new Areas($('areas'), this);
    this.detail = new Detail($('detail'), this);
    this.bar = new Bar($('bar'), this);
    $('space').classList.toggle('flat', !this.scene.works);
    if (!this.scene.works) $('space').append(make('p', {class: 'flat'}, 'This browser has no WebGL2: no areas in space; raster and rates work.'));
    $('theme').addEventListener('click', () => this.setTheme(isDark() ? 'light' : 'dark'));
    $('door').addEventListener('submit', (e) => {
      e.preventDefault();
      sessionStorage.setItem('token', $('token').value.trim().replace(/^.*#token=/, ''));
      this.open();
    });
    let before = performance.now();
    const draw = (now) => {
      this.scene.frame(this.mode === 'paused' ? 0 : Math.min(0.1, (now - before) / 1000));
      before = now;
      this.raster.frame();
      requestAnimationFrame(draw);
    };
    requestAnimationFrame(draw);
  }

  /** Takes the view's state from the address, and the token out of it. */
  readAddress() {
    const x = new URLSearchParams(location.hash.slice(1));
    if (x.has('token')) sessionStorage.setItem('token', x.get('token'));
    x.delete('token');
    history.replaceState(null, '', location.pathname + location.search + (x.size ? '#' + x : ''));
    const number = (name) => (/^\d+$/.test(x.get(name) ?? '') ? Number(x.get(name)) : null);
    Object.assign(this, {camera: x.get('camera'), span: number('span'), wanted: number('burst'), area: number('area'), neuron: number('neuron'), hidden: new Set((x.get('hide') ?? '').split(',').filter(Boolean).map(Number))});
    const wanted = x.get('theme') ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    document.documentElement.dataset.theme = wanted === 'dark' ? 'dark' : 'light';
    this.theme = x.get('theme');
  }

  /** Has the state written into the address, soon. */
  later() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.writeAddress(), 150);
  }

  writeAddress() {
    const x = new URLSearchParams({camera: this.scene.camera.text, span: this.raster.span});
    if (this.area !== null) x.set('area', this.area);
    if (this.neuron !== null) x.set('neuron', this.neuron);
    if (this.hidden.size) x.set('hide', [...this.hidden].join(','));
    if (this.theme) x.set('theme', this.theme);
    const burst = this.bar.stands ?? this.wanted;
    if (burst !== null) x.set('burst', burst);
    history.replaceState(null, '', location.pathname + location.search + '#' + x.toString().replaceAll('%2C', ','));
  }

  setTheme(theme) {
    this.theme = document.documentElement.dataset.theme = theme;
    this.scene.dirty = this.raster.dirty = true;
    this.list.look();
    this.detail.refresh();
    this.later();
  }

  say(text, bad = false) {
    say($('notice'), text);
    $('notice').classList.toggle('bad', bad);
  }

  /** Does what people ask for, and tells them when it is refused. */
  async do(f) {
    try {
      await f();
      this.say('');
    } catch (e) {
      if (!(e instanceof Refusal)) throw e;
      this.say(e.message, true);
    }
  }

  /** Asks the server what it runs, and connects. */
  async open() {
    const token = sessionStorage.getItem('token');
    $('door').hidden = Boolean(token);
    if (!token) return;
    this.server = new Server(token);
    try {
      [this.info, this.genome, this.projections] = await Promise.all(['v1/info', 'v1/genome', 'v1/projections'].map((p) => this.server.get(p)));
    } catch (e) {
      $('door').hidden = false;
      this.say(e instanceof Refusal ? e.message : 'the server cannot be reached', true);
      return;
    }
    this.touch = this.info.kind === 'live' && this.info.scope === 'control' ? (this.touch ?? new Touch(this.server, this.info, (...x) => this.say(...x))) : null;
    this.connect();
  }

  connect() {
    this.socket = this.server.open('view', {
      hello: (h) => this.welcome(h),
      view: (body, burst) => this.seen(burst, body),
      raster: (body, burst) => this.rastered(parseRaster(burst, body)),
      bind: (b) => (this.stale = {until: b.burst, frames: 3}),
      notice: (n) => this.noticed(n),
      closed: (why) => this.closed(why),
    });
  }

  welcome(h) {
    Object.assign(this, {areas: h.areas, mode: h.mode, burst: h.burst});
    document.title = `${h.name} · burst`;
    say($('name'), '· ' + (this.framed ? this.info.folder : h.name));
    if (this.area !== null && !this.areas[this.area]) this.area = this.neuron = null;
    if (this.neuron !== null && !(this.area !== null && this.neuron < this.areas[this.area].neurons)) this.neuron = null;
    if (this.info.kind !== 'recorded') this.wanted = null;
    this.say('');
    this.scene.hidden = this.hidden;
    this.scene.set(this.areas, this.projections);
    this.list.set();
    this.bar.set();
    this.bind();
    this.chosen();
    this.poll();
    this.bar.begin();
  }

  /** Asks for the spikes of the areas that are shown. */
  bind() {
    const places = this.raster.set(this.areas, this.hidden, this.info.timestep_ms);
    this.raster.end = this.burst;
    this.stale = {until: Infinity, frames: Infinity};
    this.socket.send(json(Type.bind, {raster: places}));
  }

  /** Takes a view. It is acknowledged at once, also where nothing is drawn because the page is not looked at. */
  seen(next, body) {
    const view = parseView(body);
    if (this.hold) this.unseen.push(next);
    else this.socket.send(frame(Type.seen, next));
    this.burst = next;
    this.views++;
    this.last = {next, ...view};
    this.scene.light(view.pictures, this.mode === 'paused');
    this.raster.addView(next, view);
    this.list.show(view.pictures);
    this.bar.at(next);
    this.count(next);
    if (this.bar.stands !== null) this.later();
  }

  /** Shows how far the run is. */
  count(burst) {
    const [bursts, since] = $('status').querySelectorAll('dd');
    if (!bursts) return;
    say(bursts, whole(burst));
    say(since, time(burst * this.info.timestep_ms));
  }

  /** Acknowledges no views, or all that came meanwhile: what a tab does that stands still. */
  stall(on) {
    this.hold = on;
    if (!on) for (const next of this.unseen.splice(0)) this.socket.send(frame(Type.seen, next));
  }

  /** Takes a raster, unless it is one of the neurons that were chosen before: those end before the burst of the answer to bind. */
  rastered(r) {
    if (this.stale && r.first + r.bursts + r.lost <= this.stale.until && this.stale.frames-- > 0) return;
    this.stale = null;
    this.raster.addRaster(r);
  }

  noticed(n) {
    if (n.code === 'mode') {
      this.mode = n.text;
      this.bar.mode();
      this.later();
    } else if (n.code === 'refused') {
      this.say(n.text, true);
    }
  }

  closed(why) {
    if (why) {
      this.say(why === 'the run ends' ? 'The run has ended.' : why, why !== 'the run ends');
      return;
    }
    this.say('The connection was lost; trying again.', true);
    setTimeout(() => this.open(), 2000);
  }

  /** Asks for the status, once a second. */
  async poll() {
    clearTimeout(this.polling);
    if (this.socket.readyState !== WebSocket.OPEN) return;
    const polled = this.socket;
    try {
      const s = await this.server.get('v1/status');
      this.status(s);
      if (!document.hidden) await this.detail.refresh();
    } catch (e) {
      if (e instanceof Refusal) this.say(e.message, true);
    }
    if (polled === this.socket) this.polling = setTimeout(() => this.poll(), 1000);
  }

  status(s) {
    const {info} = this, rows = {burst: whole(s.burst), time: time(s.burst * info.timestep_ms), mode: s.mode};
    if (this.before && s.burst >= this.before[0] && s.uptime_s > this.before[1]) {
      this.speed = (s.burst - this.before[0]) / (s.uptime_s - this.before[1]);
      rows.speed = `${short(this.speed)} bursts/s`;
    }
    this.before = [s.burst, s.uptime_s];
    rows.late = whole(s.late) + (s.lateness.p99 > 0 ? ` (99 % within ${time(s.lateness.p99 / 1000)})` : '');
    rows.drops = whole(s.dropped);
    this.viewers = rows.viewers = s.viewers;
    rows.neurons = whole(info.neurons);
    rows.backend = info.backend;
    $('status').replaceChildren(...Object.entries(rows).map(([k, v]) => make('div', {}, make('dt', {}, k), make('dd', {class: (k === 'late' && s.late > 0) || (k === 'drops' && s.dropped > 0) ? 'bad' : ''}, String(v)))));
    this.mode = s.mode;
    this.bar.mode();
    this.bar.paced(s.rate);
  }

  toggle(i) {
    if (!this.hidden.delete(i)) this.hidden.add(i);
    this.scene.dirty = true;
    this.bind();
    this.later();
  }

  choose(area) {
    [this.area, this.neuron] = [area === this.area && this.neuron === null ? null : area, null];
    this.chosen();
  }

  chooseNeuron(area, neuron) {
    if (!(neuron >= 0 && neuron < this.areas[area].neurons)) return;
    [this.area, this.neuron] = [area, neuron];
    this.chosen();
  }

  chosen() {
    this.scene.chosen = this.area;
    this.scene.ring = this.neuron === null ? null : {area: this.area, point: pointOf(this.areas[this.area], this.neuron)};
    this.scene.dirty = true;
    this.list.look();
    this.do(() => this.detail.set());
    this.later();
  }

  /** Tells what lies under the pointer, and chooses it at a click. */
  picked(x, left, top, click) {
    const near = x?.edge ?? null;
    if (this.scene.edge !== near) this.scene.dirty = true;
    this.scene.edge = near;
    const e = $('hover');
    e.hidden = !x;
    if (!x) return;
    if (x.edge) {
      const lines = x.edge.list.slice(0, 8).map((k) => this.told(this.projections[k]));
      e.textContent = `${this.areas[x.edge.from].name} → ${this.areas[x.edge.to].name}\n` + lines.join('\n') + (x.edge.list.length > 8 ? `\nand ${x.edge.list.length - 8} more` : '');
    } else {
      const a = this.areas[x.area], [first, ...more] = neuronsOf(a, x.point);
      e.textContent = `${a.name} neuron ${first}${more.length ? ` and ${more.length} more` : ''}`;
      if (click) this.chooseNeuron(x.area, first);
      if (click && this.clicks && this.touch) this.give('once', a, [first, ...more]);
    }
    e.style.left = Math.max(0, Math.min(left + 14, $('space').clientWidth - e.offsetWidth - 4)) + 'px';
    e.style.top = Math.max(0, Math.min(top + 14, $('space').clientHeight - e.offsetHeight - 4)) + 'px';
  }

  /** Gives neurons of an area the amount that is chosen, or another one: once, or to hold. */
  give(how, area, neurons, amount = this.amount) {
    return this.do(() => this.touch[how](area.name, neurons, neurons.map(() => amount), this.soon()));
  }

  /** What was done here up to a burst, and the run, as text of a kind. */
  text(kind, end = this.burst) {
    return reproduced(kind, this.info, this.touch?.acts ?? [], end);
  }

  /** A projection in words. */
  told(p) {
    const unit = this.genome.areas.find((a) => a.name === p.to)?.input ?? '';
    return `${p.rule}, weight ${short(p.mean_weight)}${unit ? ' ' + unit : ''}, delay ${time(p.mean_delay_bursts * this.info.timestep_ms)}${p.plastic ? ', learns' : ''}`;
  }

  /** How many bursts ahead an input is to be given, so that the run has not begun them when it arrives: a twentieth of a second. */
  soon() {
    return this.mode === 'paused' ? 0 : Math.ceil(this.speed / 20) + 1;
  }

  /** Whether a neuron has a row in the raster. */
  rows(area, neuron) {
    const b = this.raster.bands.find((x) => x.area === area);
    return Boolean(b) && neuron % b.every === 0 && neuron / b.every < b.rows;
  }
}

const app = new App();
window.burst = app; // for the browser's console, and for tests
app.open();
