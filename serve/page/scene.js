// Areas in space, drawn by WebGL2: boxes, a point for each voxel, which glows when it fires and fades, and projections as arcs.

import {Camera} from './camera.js';
import {ball, middle, place, pointAt} from './layout.js';
import {channels, colourOf, fit, isDark, styled} from './look.js';
import {mark} from './wire.js';

const FADE = 0.25; // seconds in which a glow falls to a third
const ARC = 24; // pieces of an arc

const pointShader = `#version 300 es
precision highp float;
uniform mat4 view;
uniform vec3 at, step;
uniform ivec3 dims;
uniform float now, size, small;
in float stamp;
in float amount;
out float glow;
void main() {
  int i = gl_VertexID, plane = dims.y * dims.z;
  vec3 n = vec3(i / plane, (i / dims.z) % dims.y, i % dims.z);
  gl_Position = view * vec4(at + (n + 0.5) * step, 1.0);
  glow = exp((stamp - now) / ${FADE.toFixed(3)}) * (0.4 + 0.6 * sqrt(amount));
  gl_PointSize = clamp(size / gl_Position.w, small, 40.0 * small) * (1.0 + 0.5 * glow);
}`;
const pointPaint = `#version 300 es
precision highp float;
uniform vec3 colour, bright;
uniform float rest;
in float glow;
out vec4 paint;
void main() {
  float r = length(gl_PointCoord - 0.5) * 2.0;
  float shape = 1.0 - smoothstep(0.6, 1.0, r);
  paint = vec4(mix(colour, bright, glow * 0.6), 1.0) * shape * max(rest, glow);
}`;
const lineShader = `#version 300 es
uniform mat4 view;
in vec3 spot;
void main() { gl_Position = view * vec4(spot, 1.0); }`;
const linePaint = `#version 300 es
precision mediump float;
uniform vec4 colour;
out vec4 paint;
void main() { paint = vec4(colour.rgb * colour.a, colour.a); }`;

export class Scene {
  /** on has picked({area, point, edge}, x, y, click) and turned(). */
  constructor(canvas, labels, on) {
    Object.assign(this, {canvas, labels, areas: [], boxes: [], edges: [], marks: [], hidden: new Set(), clock: 0, glowing: 0, dirty: true});
    this.camera = new Camera(canvas, () => {
      this.dirty = true;
      on.turned();
    }, (x, y, click) => on.picked(this.pick(x, y), x, y, click));
    this.gl = canvas.getContext('webgl2', {antialias: true, preserveDrawingBuffer: false});
    if (!this.gl) return;
    canvas.addEventListener('webglcontextlost', (e) => e.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => {
      this.prepare();
      this.set(this.areas, this.projections);
    });
    this.prepare();
  }

  get works() {
    return Boolean(this.gl);
  }

  prepare() {
    const {gl} = this;
    this.points = program(gl, pointShader, pointPaint);
    this.lines = program(gl, lineShader, linePaint);
    gl.enable(gl.BLEND);
  }

  /** Shows areas, as a hello or v1/areas has them, and projections. */
  set(areas, projections) {
    Object.assign(this, {areas, projections, boxes: place(areas), dirty: true});
    const full = this.boxes.filter((b) => b.points > 0);
    this.camera.ball = ball(full);
    this.camera.corners = full.flatMap((b) => [0, 1, 2, 3, 4, 5, 6, 7].map((k) => corner(b, k)));
    this.marks = areas.map((a) => ({stamps: new Float32Array(a.points).fill(-1e9), amounts: new Uint8Array(a.points)}));
    this.edges = edges(areas, this.boxes, projections);
    if (this.gl) this.upload();
  }

  upload() {
    const {gl} = this;
    for (const b of this.buffers ?? []) gl.deleteBuffer(b);
    this.buffers = [];
    const filled = (data) => {
      const b = gl.createBuffer();
      this.buffers.push(b);
      gl.bindBuffer(gl.ARRAY_BUFFER, b);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
      return b;
    };
    for (const m of this.marks) Object.assign(m, {stampBuffer: filled(m.stamps), amountBuffer: filled(m.amounts)});
    this.boxBuffer = filled(new Float32Array(this.boxes.flatMap(outline)));
    this.edgeBuffer = filled(new Float32Array(this.edges.flatMap((e) => e.arc.flat())));
  }

  /** Lights what a view shows. While the run is paused all that has glowed before goes out. */
  light(pictures, paused) {
    if (paused) this.clock += 100 * FADE;
    this.last = Math.fround(this.clock);
    for (const p of pictures) {
      const m = this.marks[p.area];
      const [first, end] = mark(p, m.stamps, m.amounts, this.clock);
      if (end === 0) continue;
      this.glowing = this.clock + 8 * FADE;
      if (!this.gl) continue;
      const {gl} = this;
      gl.bindBuffer(gl.ARRAY_BUFFER, m.stampBuffer);
      gl.bufferSubData(gl.ARRAY_BUFFER, 4 * first, m.stamps, first, end - first);
      gl.bindBuffer(gl.ARRAY_BUFFER, m.amountBuffer);
      gl.bufferSubData(gl.ARRAY_BUFFER, first, m.amounts, first, end - first);
    }
    this.dirty = true;
  }

  /** The points of an area that the last view has lit. */
  lit(area) {
    return [...this.marks[area].stamps.keys()].filter((i) => this.marks[area].stamps[i] === this.last);
  }

  /** Lets time pass, by which glows fade, and draws if something is to be seen anew. */
  frame(seconds) {
    if (seconds > 0 && this.clock < this.glowing) {
      this.clock += seconds;
      this.dirty = true;
    }
    if (fit(this.canvas) || fit(this.labels)) this.dirty = true;
    if (!this.dirty || !this.gl) return;
    this.dirty = false;
    this.draw();
  }

  draw() {
    const {gl, camera} = this, m = camera.matrix(), dark = isDark(), ratio = this.canvas.height / Math.max(1, this.canvas.clientHeight);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...channels(styled('--back')), 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.blendFunc(gl.ONE, dark ? gl.ONE : gl.ONE_MINUS_SRC_ALPHA); // light adds up; on white, colour covers
    gl.useProgram(this.lines.it);
    gl.uniformMatrix4fv(this.lines.view, false, m);
    this.boxes.forEach((b, i) => this.line(this.boxBuffer, 24 * i, 24, gl.LINES, channels(colourOf(i)), this.hidden.has(i) || !b.points ? 0 : i === this.chosen ? 1 : 0.45));
    this.edges.forEach((e, i) => {
      const seen = !this.hidden.has(e.from) && !this.hidden.has(e.to), near = e === this.edge || e.from === this.chosen || e.to === this.chosen;
      const colour = channels(e.weight < 0 ? colourOf(5) : colourOf(1));
      this.line(this.edgeBuffer, (ARC + 1) * i, ARC + 1, gl.LINE_STRIP, colour, !seen ? 0 : near ? 0.9 : dark ? 0.22 : 0.35);
    });
    gl.useProgram(this.points.it);
    const p = this.points;
    gl.uniformMatrix4fv(p.view, false, m);
    gl.uniform1f(p.now, this.clock);
    gl.uniform1f(p.small, 1.5 * ratio);
    gl.uniform1f(p.rest, dark ? 0.16 : 0.3);
    this.boxes.forEach((b, i) => {
      if (!b.points || this.hidden.has(i)) return;
      const colour = channels(colourOf(i));
      gl.uniform3fv(p.at, b.at);
      gl.uniform3fv(p.step, b.step);
      gl.uniform3iv(p.dims, b.dims);
      gl.uniform1f(p.size, 0.62 * b.step[0] * camera.scale(1) * ratio);
      gl.uniform3fv(p.colour, colour);
      gl.uniform3fv(p.bright, dark ? colour.map((c) => 0.4 + 0.6 * c) : colour.map((c) => 0.55 * c));
      attribute(gl, p.stamp, this.marks[i].stampBuffer, 1, gl.FLOAT, false);
      attribute(gl, p.amount, this.marks[i].amountBuffer, 1, gl.UNSIGNED_BYTE, true);
      gl.drawArrays(gl.POINTS, 0, b.points);
    });
    gl.disableVertexAttribArray(p.amount);
    this.write(m, ratio);
  }

  line(buffer, first, n, how, colour, alpha) {
    if (alpha === 0) return;
    const {gl} = this;
    attribute(gl, this.lines.spot, buffer, 3, gl.FLOAT, false);
    gl.uniform4f(this.lines.colour, ...colour, alpha);
    gl.drawArrays(how, first, n);
  }

  /** Writes the names of areas, and rings the chosen neuron. */
  write(m, ratio) {
    const c = this.labels.getContext('2d'), taken = [];
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, this.labels.clientWidth, this.labels.clientHeight);
    c.font = '12px system-ui, "DejaVu Sans", sans-serif';
    c.textAlign = 'center';
    c.lineWidth = 3;
    c.strokeStyle = styled('--back');
    this.boxes.forEach((b, i) => {
      if (!b.points || this.hidden.has(i)) return;
      const [x, y, z] = middle(b), at = this.camera.project(m, [x, b.at[1] + b.dims[1] * b.step[1], z]);
      const width = at && c.measureText(this.areas[i].name).width;
      if (!at || taken.some((t) => Math.abs(t[0] - at[0]) < (t[2] + width) / 2 + 4 && Math.abs(t[1] - at[1]) < 14)) return;
      taken.push([at[0], at[1], width]);
      c.strokeText(this.areas[i].name, at[0], at[1] - 6);
      c.fillStyle = colourOf(i);
      c.fillText(this.areas[i].name, at[0], at[1] - 6);
    });
    if (!this.ring || this.hidden.has(this.ring.area)) return;
    const at = this.camera.project(m, pointAt(this.boxes[this.ring.area], this.ring.point));
    if (!at) return;
    c.strokeStyle = styled('--text');
    c.lineWidth = 1.5;
    c.beginPath();
    c.arc(at[0], at[1], Math.max(5, this.camera.scale(at[2]) * 0.6), 0, 7);
    c.stroke();
  }

  /** What lies under a place of the canvas: the nearest point within reach, else the nearest arc; null: nothing. */
  pick(x, y) {
    if (x < -1e8) return null;
    const m = this.camera.matrix();
    let best = null;
    this.boxes.forEach((b, area) => {
      if (this.hidden.has(area) || !b.points || !this.near(m, b, x, y)) return;
      for (let point = 0; point < b.points; point++) {
        const at = this.camera.project(m, pointAt(b, point));
        if (!at) continue;
        const off = Math.hypot(at[0] - x, at[1] - y), reach = Math.max(4, 0.6 * b.step[0] * this.camera.scale(at[2]));
        if (off < reach && (!best || off + at[2] / 1e3 < best.off)) best = {area, point, off: off + at[2] / 1e3};
      }
    });
    if (best) return best;
    let off = 6;
    for (const edge of this.edges) {
      if (this.hidden.has(edge.from) || this.hidden.has(edge.to)) continue;
      let before = null;
      for (const spot of edge.arc) {
        const at = this.camera.project(m, spot), d = at && before ? distance(x, y, before, at) : Infinity;
        if (d < off) [off, best] = [d, {edge}];
        before = at;
      }
    }
    return best;
  }

  /** Whether a box can lie under a place: by the ball around it. */
  near(m, b, x, y) {
    const {middle: centre, radius} = ball([b]), at = this.camera.project(m, centre);
    return !at || at[2] < 1.5 * radius || Math.hypot(at[0] - x, at[1] - y) < this.camera.scale(at[2] - radius) * radius + 6;
  }

  /** The picture as it is seen, names included. */
  snapshot() {
    this.draw();
    const copy = document.createElement('canvas');
    copy.width = this.canvas.width;
    copy.height = this.canvas.height;
    const c = copy.getContext('2d');
    c.drawImage(this.canvas, 0, 0);
    c.drawImage(this.labels, 0, 0);
    return copy;
  }
}

/** How far a place is from the line between two others. */
function distance(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay], t = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(ax + t * dx - x, ay + t * dy - y);
}

/** The twelve edges of a box, as pairs of corners. */
function outline(b) {
  const list = [];
  for (let k = 0; k < 8; k++) for (let axis = 0; axis < 3; axis++) if (!((k >> axis) & 1)) list.push(...corner(b, k), ...corner(b, k | (1 << axis)));
  return list;
}

/** One of the eight corners of a box. */
const corner = (b, k) => [0, 1, 2].map((axis) => b.at[axis] + ((k >> axis) & 1) * b.dims[axis] * b.step[axis]);

/** Arcs between areas. Projections between the same two share one, whose weight is the sum of theirs. */
function edges(areas, boxes, projections) {
  const number = new Map(areas.map((a, i) => [a.name, i])), found = new Map();
  projections.forEach((p, i) => {
    const from = number.get(p.from), to = number.get(p.to);
    if (from === undefined || to === undefined || !boxes[from].points || !boxes[to].points) return;
    const key = from * areas.length + to;
    if (!found.has(key)) found.set(key, {from, to, weight: 0, list: [], arc: arc(boxes[from], boxes[to])});
    const e = found.get(key);
    e.weight += p.mean_weight;
    e.list.push(i);
  });
  return [...found.values()];
}

/** A bow from the middle of one box to that of another, or a loop above a box. There and back are bent to different sides. */
function arc(a, b) {
  const from = middle(a), to = middle(b), far = Math.hypot(...from.map((x, k) => to[k] - x));
  const size = Math.max(...a.dims.map((n, k) => n * a.step[k]));
  return Array.from({length: ARC + 1}, (_, i) => {
    const t = i / ARC, bow = 4 * t * (1 - t);
    if (far === 0) {
      const turn = 2 * Math.PI * t, r = 0.18 * size + 0.5;
      return [from[0] + r * Math.sin(turn), a.at[1] + a.dims[1] * a.step[1] + r * (1 - Math.cos(turn)), from[2]];
    }
    const side = [to[1] - from[1], from[0] - to[0]];
    return [from[0] + t * (to[0] - from[0]) + 0.08 * bow * side[0], from[1] + t * (to[1] - from[1]) + 0.08 * bow * side[1], from[2] + t * (to[2] - from[2]) + 0.25 * far * bow];
  });
}

function attribute(gl, at, buffer, size, type, scaled) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(at);
  gl.vertexAttribPointer(at, size, type, scaled, 0, 0);
}

/** Compiles a program, and finds its uniforms and attributes by name. */
function program(gl, ...sources) {
  const it = gl.createProgram();
  sources.forEach((source, i) => {
    const shader = gl.createShader(i === 0 ? gl.VERTEX_SHADER : gl.FRAGMENT_SHADER);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(it, shader);
  });
  gl.linkProgram(it);
  if (!gl.getProgramParameter(it, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error('BUG: ' + gl.getProgramInfoLog(it));
  const found = {it};
  for (let i = 0; i < gl.getProgramParameter(it, gl.ACTIVE_UNIFORMS); i++) {
    const {name} = gl.getActiveUniform(it, i);
    found[name] = gl.getUniformLocation(it, name);
  }
  for (let i = 0; i < gl.getProgramParameter(it, gl.ACTIVE_ATTRIBUTES); i++) {
    const {name} = gl.getActiveAttrib(it, i);
    found[name] = gl.getAttribLocation(it, name);
  }
  return found;
}
