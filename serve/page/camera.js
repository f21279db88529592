// A camera that turns around a point: drag or arrows turn, wheel, pinch or +/- zoom, shift or two fingers move, 0 shows all.

const NARROW = 0.5; // tangent of half the angle of view
const YAW = 0.4, PITCH = 0.3; // the first direction

export class Camera {
  /** changed is called after each turn; picked(x, y, click) when the pointer rests on or clicks a place, in pixels of the page. */
  constructor(canvas, changed, picked) {
    Object.assign(this, {canvas, changed, yaw: YAW, pitch: PITCH, zoom: 1, shift: [0, 0, 0], ball: {middle: [0, 0, 0], radius: 1}, corners: []});
    const fingers = new Map();
    let moved = 0, spread = 0;
    const at = (e) => {
      const r = canvas.getBoundingClientRect();
      return [e.clientX - r.left, e.clientY - r.top];
    };
    canvas.addEventListener('pointerdown', (e) => {
      canvas.setPointerCapture(e.pointerId);
      fingers.set(e.pointerId, at(e));
      [moved, spread] = [0, 0];
    });
    canvas.addEventListener('pointermove', (e) => {
      const before = fingers.get(e.pointerId), now = at(e);
      if (!before) return picked(...now, false);
      fingers.set(e.pointerId, now);
      const dx = now[0] - before[0], dy = now[1] - before[1];
      moved += Math.abs(dx) + Math.abs(dy);
      if (fingers.size > 1) {
        const [a, b] = [...fingers.values()], apart = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (spread > 0) this.by(spread / apart);
        spread = apart;
      }
      if (fingers.size > 1 || e.shiftKey || e.buttons & 4) this.move(dx, dy);
      else this.turn(-dx / 200, dy / 200);
    });
    const up = (e) => {
      if (fingers.delete(e.pointerId) && e.type === 'pointerup' && moved < 4) picked(...at(e), true);
    };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    canvas.addEventListener('pointerleave', () => picked(-1e9, -1e9, false));
    canvas.addEventListener('wheel', (e) => {
      e.preventDefault();
      this.by(Math.exp(Math.max(-50, Math.min(50, e.deltaY)) / 300));
    }, {passive: false});
    const keys = {
      ArrowLeft: () => this.turn(-0.1, 0), ArrowRight: () => this.turn(0.1, 0), ArrowUp: () => this.turn(0, 0.1), ArrowDown: () => this.turn(0, -0.1),
      '+': () => this.by(0.9), '-': () => this.by(1.1), 0: () => this.home(),
    };
    canvas.addEventListener('keydown', (e) => {
      const key = e.key === '=' ? '+' : e.key;
      if (e.ctrlKey || e.metaKey || e.altKey || !keys[key]) return;
      e.preventDefault();
      keys[key]();
    });
  }

  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + pitch));
    this.changed();
  }

  by(factor) {
    this.zoom = Math.max(0.02, Math.min(10, this.zoom * factor));
    this.changed();
  }

  /** Moves the point that it looks at, by pixels. */
  move(dx, dy) {
    const {right, up} = this.axes(), pixel = (2 * NARROW * this.away()) / Math.max(1, this.canvas.clientHeight);
    this.shift = this.shift.map((s, k) => s + pixel * (dy * up[k] - dx * right[k]));
    this.changed();
  }

  home() {
    Object.assign(this, {yaw: YAW, pitch: PITCH, zoom: 1, shift: [0, 0, 0]});
    this.changed();
  }

  /** How far away it is: so far that all corners are seen from the first direction, times the zoom. */
  away() {
    const wide = this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight), {right, up, back} = axes(YAW, PITCH);
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const need = this.corners.map((c) => {
      const from = c.map((x, k) => x - this.ball.middle[k]);
      return dot(from, back) + 1.1 * Math.max(Math.abs(dot(from, right)) / wide, Math.abs(dot(from, up)) * 1.15) / NARROW;
    });
    return Math.max(1, ...need) * this.zoom;
  }

  axes() {
    return axes(this.yaw, this.pitch);
  }

  /** The matrix from space to the screen, column by column. */
  matrix() {
    const {right, up, back} = this.axes(), d = this.away(), target = this.ball.middle.map((m, k) => m + this.shift[k]);
    const eye = target.map((t, k) => t + d * back[k]), dot = (a) => a[0] * eye[0] + a[1] * eye[1] + a[2] * eye[2];
    const wide = this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight), f = 1 / NARROW;
    const near = d / 1000, far = d + 4 * this.ball.radius, a = (far + near) / (near - far), b = (2 * far * near) / (near - far);
    const rows = [[...right, -dot(right)].map((x) => (x * f) / wide), [...up, -dot(up)].map((x) => x * f), [...back, -dot(back)]];
    const m = new Float32Array(16);
    for (let k = 0; k < 4; k++) {
      m[4 * k] = rows[0][k];
      m[4 * k + 1] = rows[1][k];
      m[4 * k + 2] = a * rows[2][k] + (k === 3 ? b : 0);
      m[4 * k + 3] = -rows[2][k];
    }
    return m;
  }

  /** Pixels of the page for one unit of space at the distance w. */
  scale(w) {
    return this.canvas.clientHeight / 2 / NARROW / w;
  }

  /** Where a place in space is seen: x, y in pixels of the page, and its distance; null behind the camera. */
  project(m, [x, y, z]) {
    const w = m[3] * x + m[7] * y + m[11] * z + m[15];
    if (w <= 0) return null;
    const px = (m[0] * x + m[4] * y + m[8] * z + m[12]) / w, py = (m[1] * x + m[5] * y + m[9] * z + m[13]) / w;
    return [((px + 1) / 2) * this.canvas.clientWidth, ((1 - py) / 2) * this.canvas.clientHeight, w];
  }

  /** What an address holds of it. */
  get text() {
    return [this.yaw, this.pitch, this.zoom, ...this.shift].map((x) => Number(x.toFixed(3))).join(',');
  }

  set text(text) {
    const n = text.split(',').map(Number);
    if (n.length !== 6 || !n.every(Number.isFinite)) return;
    [this.yaw, this.pitch, this.zoom] = n;
    this.shift = n.slice(3);
  }
}

function axes(yaw, pitch) {
  const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  return {right: [cy, 0, -sy], up: [-sy * sp, cp, -cy * sp], back: [sy * cp, sp, cy * cp]};
}
