// The row of controls: play, pause, step, rate, checkpoint and picture, and of a recorded run its timeline.

import {button, make, save, say, time, whole} from './look.js';

export class Bar {
  constructor(place, app) {
    Object.assign(this, {place, app});
    document.addEventListener('keydown', (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input, select, button, textarea')) return;
      if (e.key === ' ') this.press(e, () => this.toggle());
      if (e.key === '.') this.press(e, () => this.step(1));
    });
  }

  press(e, f) {
    if (!this.acts) return;
    e.preventDefault();
    f();
  }

  /** Whether this page may act on the run. */
  get acts() {
    const {info} = this.app;
    return info && info.scope === 'control' && info.kind !== 'watched';
  }

  set() {
    const {app} = this, {info} = app;
    const picture = button('picture', 'save what is seen as PNG', () => this.picture());
    if (!this.acts) {
      this.place.replaceChildren(picture);
      return;
    }
    this.play = button('play', 'go on or pause (space)', () => this.toggle(), {disabled: info.lock_step});
    const n = make('input', {type: 'number', min: '1', value: '1', 'aria-label': 'Bursts to step'});
    const rate = this.rate = make('input', {list: 'speeds', size: '8', placeholder: 'no limit', 'aria-label': 'Bursts a second', disabled: info.lock_step, on: {
      change: () => app.do(() => app.server.control({do: 'rate', rate: rate.value.trim()})),
    }});
    const rates = [...new Set(['1', '10', '100', '1kHz', String(1000 / info.timestep_ms)])];
    const parts = [this.play, make('label', {}, button('step', 'run so many bursts (. runs one)', () => this.step(Number(n.value))), n), make('label', {}, 'rate', rate),
      make('datalist', {id: 'speeds'}, ...rates.map((r) => make('option', {value: r})))];
    if (info.kind === 'live') parts.push(button('checkpoint', 'save the state in the run’s folder', () => app.do(() => app.server.control({do: 'checkpoint'}))));
    parts.push(picture);
    this.line = null;
    if (info.kind === 'recorded') {
      this.line = make('input', {type: 'range', min: String(info.first), max: String(info.end), step: '1', 'aria-label': 'Burst', on: {
        input: () => this.seek(Number(this.line.value)),
        pointerdown: () => (this.dragged = true), pointerup: () => (this.dragged = false),
      }});
      this.where = make('output', {}, '');
      parts.push(this.line, this.where);
    }
    this.place.replaceChildren(...parts);
    this.mode();
  }

  /** The burst at which a recorded run is paused; else null. */
  get stands() {
    return this.line && this.app.mode === 'paused' ? this.app.burst : null;
  }

  /** A recorded run that the address has at a burst goes there; one that is paused when the page opens is shown where it stands. */
  async begin() {
    const {app} = this, to = app.wanted;
    if (!this.line || (to === null && app.mode !== 'paused')) return;
    if (app.mode !== 'paused') {
      await app.do(() => app.server.control({do: 'pause'}));
      app.mode = 'paused';
    }
    app.wanted = null;
    this.seek(Math.max(app.info.first, Math.min(app.info.end, to ?? app.burst)));
  }

  mode() {
    if (this.play) say(this.play, this.app.mode === 'paused' ? 'play' : 'pause');
  }

  /** Shows the rate that the run holds, where no other is being typed. */
  paced(rate) {
    if (this.rate) this.rate.placeholder = rate || 'no limit';
  }

  at(burst) {
    if (!this.line) return;
    if (!this.dragged && !this.seeking) this.line.value = String(burst);
    say(this.where, `${whole(burst)} of ${whole(this.app.info.end)}, ${time(burst * this.app.info.timestep_ms)}`);
  }

  toggle() {
    const {app} = this;
    return app.do(async () => {
      if (app.mode === 'paused' && this.line && app.burst >= app.info.end) await this.go(app.info.first);
      await app.server.control({do: app.mode === 'paused' ? 'resume' : 'pause'});
    });
  }

  step(n) {
    return this.app.do(() => this.app.server.control({do: 'step', bursts: Math.max(1, Math.floor(n) || 1)}));
  }

  /** Goes to a burst of a recorded run. Of several asked for meanwhile the last one counts. */
  seek(burst) {
    if (!this.line) return;
    this.wanted = burst;
    this.seeking ??= this.app.do(async () => {
      while (this.wanted !== null) {
        const to = this.wanted;
        this.wanted = null;
        await this.go(to);
      }
    }).finally(() => (this.seeking = null));
  }

  /** Goes to a burst. Of a paused run the bursts before it are played, so that the raster shows them. */
  async go(burst) {
    const {app} = this, before = app.mode === 'paused' ? Math.min(burst - app.info.first, app.raster.span, 20_000) : 0;
    await app.server.control({do: 'seek', burst: burst - before});
    app.raster.jump(burst - before);
    app.stale = null;
    app.burst = burst - before;
    this.at(burst);
    if (before > 0) await app.server.control({do: 'step', bursts: before});
  }

  /** Saves areas, raster and rates as one PNG. */
  picture() {
    const {scene, raster, chart} = {scene: this.app.scene, raster: this.app.raster.raster, chart: this.app.raster.chart};
    const parts = [...(scene.works ? [scene.snapshot()] : []), raster, chart], all = make('canvas');
    all.width = Math.max(...parts.map((p) => p.width));
    all.height = parts.reduce((sum, p) => sum + p.height, 0);
    const c = all.getContext('2d');
    c.fillStyle = getComputedStyle(document.body).backgroundColor;
    c.fillRect(0, 0, all.width, all.height);
    let y = 0;
    for (const p of parts) {
      c.drawImage(p, 0, y);
      y += p.height;
    }
    return new Promise((done) => all.toBlob((blob) => {
      save(`${this.app.info.name}-${this.app.burst}.png`, blob);
      done(blob);
    }, 'image/png'));
  }
}
