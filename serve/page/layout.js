// Where areas lie in the page's space, and the arithmetic of points.

/** How many points an area has along x, y and z. */
const across = (area) => area.size.map((n) => Math.ceil(n / area.grain));

/** Whether two boxes have more than a border in common. */
const meet = (a, b) => [0, 1, 2].every((k) => a.at[k] < b.at[k] + b.dims[k] * b.step[k] && b.at[k] < a.at[k] + a.dims[k] * a.step[k]);

/**
 * Places areas: a box each, with its first corner at, dims points along x, y and z, and step from one point to the next.
 * They lie where the genome puts them, unless boxes would lie in each other; then they are laid out in rows, and long rows of
 * neurons are folded into sheets. Point i lies at x = i / (dims[1]·dims[2]), y = i / dims[2] mod dims[1], z = i mod dims[2].
 */
export function place(areas) {
  const boxes = areas.map((a) => ({at: [...a.position], dims: across(a), step: [a.grain, a.grain, a.grain], points: a.points}));
  const full = boxes.filter((b) => b.points > 0);
  const apart = areas.length < 2000 && full.every((a, i) => full.every((b, k) => k <= i || !meet(a, b)));
  if (apart && (full.length > 1 || full.every((b) => Math.max(...b.dims) <= 64 * Math.min(...b.dims)))) return boxes;
  for (const b of boxes) {
    if (b.dims[1] * b.dims[2] === 1 && b.points > 16) {
      const wide = Math.ceil(Math.sqrt(b.points));
      b.dims = [wide, Math.ceil(b.points / wide), 1];
    }
    b.step = [1, 1, 1];
  }
  const gap = Math.max(2, 0.15 * Math.max(0, ...boxes.map((b) => Math.max(...b.dims))));
  const sum = boxes.reduce((s, b) => s + (b.dims[0] + gap) * (b.dims[1] + gap), 0), most = 1.3 * Math.sqrt(sum);
  let x = 0, y = 0, high = 0;
  for (const b of boxes) {
    if (x > 0 && x + b.dims[0] > most) [x, y, high] = [0, y - high - gap, 0];
    b.at = [x, y - b.dims[1], -b.dims[2] / 2];
    x += b.dims[0] + gap;
    high = Math.max(high, b.dims[1]);
  }
  return boxes;
}

/** The middle of a box. */
export const middle = (b) => b.at.map((p, k) => p + (b.dims[k] * b.step[k]) / 2);

/** The middle of a point of a box. */
export function pointAt(b, i) {
  const [, high, deep] = b.dims;
  const at = [Math.floor(i / (high * deep)), Math.floor(i / deep) % high, i % deep];
  return at.map((n, k) => b.at[k] + (n + 0.5) * b.step[k]);
}

/** The smallest ball around the corners of all boxes: its middle and radius. */
export function ball(boxes) {
  const low = [Infinity, Infinity, Infinity], top = [-Infinity, -Infinity, -Infinity];
  for (const b of boxes) {
    for (let k = 0; k < 3; k++) {
      low[k] = Math.min(low[k], b.at[k]);
      top[k] = Math.max(top[k], b.at[k] + b.dims[k] * b.step[k]);
    }
  }
  if (low[0] === Infinity) return {middle: [0, 0, 0], radius: 1};
  return {middle: low.map((x, k) => (x + top[k]) / 2), radius: Math.max(1, Math.hypot(...low.map((x, k) => top[k] - x)) / 2)};
}

/** The neurons of an area that lie in one of its points, by their numbers in the area. */
export function neuronsOf(area, point) {
  const {grain, size: [wide, high, deep]} = area, each = Math.max(1, area.neurons_per_voxel);
  const list = [];
  const add = (x, y, z) => {
    const first = ((x * high + y) * deep + z) * each;
    for (let n = first; n < first + each && n < area.neurons; n++) list.push(n);
  };
  const [, ny, nz] = across(area);
  const x0 = Math.floor(point / (ny * nz)) * grain, y0 = (Math.floor(point / nz) % ny) * grain, z0 = (point % nz) * grain;
  for (let x = x0; x < Math.min(x0 + grain, wide); x++) {
    for (let y = y0; y < Math.min(y0 + grain, high); y++) for (let z = z0; z < Math.min(z0 + grain, deep); z++) add(x, y, z);
  }
  return list;
}

/** The point of a neuron of an area, by its number in the area. */
export function pointOf(area, neuron) {
  const [, high, deep] = area.size, voxel = Math.floor(neuron / Math.max(1, area.neurons_per_voxel)), [, ny, nz] = across(area);
  const cube = (n) => Math.floor(n / area.grain);
  return (cube(Math.floor(voxel / deep / high)) * ny + cube(Math.floor(voxel / deep) % high)) * nz + cube(voxel % deep);
}
