// What people do to a live run: inputs by a feeder's connection, and the list of it all, which can be copied as text.

import {feed, json, Refusal, Type} from './wire.js';

const LATE = '# The run was so fast that some inputs may have come a few bursts later than they are named here.\n';

export class Touch {
  /** say(text, bad) tells people. */
  constructor(server, info, say) {
    Object.assign(this, {server, info, say, acts: [], inputs: new Map(), held: new Map(), waiting: []});
  }

  /** Opens the feeder's connection, the first time. */
  async socket() {
    this.opening ??= new Promise((done, fail) => {
      const socket = this.server.open('feed', {
        hello: () => done(socket),
        bind: (bound) => this.waiting.shift()?.done(bound),
        notice: (n) => {
          if (n.code !== 'refused') return;
          const first = this.waiting.shift();
          if (first) first.fail(new Refusal(n.text));
          else this.say(n.text, true);
        },
        closed: (why) => {
          this.opening = undefined;
          this.inputs.clear();
          this.held.clear();
          for (const w of this.waiting.splice(0)) w.fail(new Refusal(why || 'the connection was lost'));
          fail(new Refusal(why || 'no connection to give input by'));
        },
      });
    });
    return this.opening;
  }

  /** Binds inputs. The answer, which names the next burst, comes when all that was sent before has been taken. */
  async bind(inputs) {
    const socket = await this.socket();
    return new Promise((done, fail) => {
      this.waiting.push({done, fail});
      socket.send(json(Type.bind, {inputs}));
    });
  }

  /** Sets an input of a whole area, which is bound anew if it cannot take so large an amount, so many bursts ahead. */
  async give(area, held, neurons, amounts, ahead) {
    const key = `${area} ${held}`, largest = amounts.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-6);
    let known = this.inputs.get(key);
    if (!known || known.largest < largest) {
      const bound = await this.bind([{area, name: area, largest, once: !held}]);
      if (known) (await this.socket()).send(feed(0, known.handle, [], []));
      this.inputs.set(key, (known = {handle: bound.inputs[0].handle, largest}));
    }
    const burst = (await this.bind([])).burst + ahead;
    const before = this.acts.find((a) => !held && a.area === area && a.held === held && a.burst === burst);
    if (before) { // whose value this one replaces
      const all = new Map(before.neurons.map((n, i) => [n, before.amounts[i]]));
      neurons.forEach((n, i) => all.set(n, amounts[i]));
      neurons = [...all.keys()].sort((a, b) => a - b);
      amounts = neurons.map((n) => all.get(n));
    }
    (await this.socket()).send(feed(burst, known.handle, neurons, amounts));
    const late = (await this.bind([])).burst > burst;
    this.did({burst, area, held, neurons: [...neurons], amounts: [...amounts], late});
  }

  /** Gives neurons of an area amounts in one burst. */
  once(area, neurons, amounts, ahead) {
    return this.give(area, false, neurons, amounts, ahead);
  }

  /** Gives neurons of an area amounts in every burst from now on, beside those held so far; an amount of 0 ends it. */
  hold(area, neurons, amounts, ahead) {
    const all = this.held.get(area) ?? new Map();
    neurons.forEach((n, i) => (amounts[i] === 0 ? all.delete(n) : all.set(n, amounts[i])));
    this.held.set(area, all);
    const list = [...all.keys()].sort((a, b) => a - b);
    return this.give(area, true, list, list.map((n) => all.get(n)), ahead);
  }

  /** Switches a stimulus of the genome. */
  async stimulus(i, on) {
    const {burst} = await this.server.control({do: 'stimulus', stimulus: i, on});
    this.did({burst, stimulus: i, on});
  }

  /** Notes an act, in place of one of the same burst that it has replaced. */
  did(act) {
    this.acts = [...this.acts.filter((a) => !act.area || a.area !== act.area || a.held !== act.held || a.burst !== act.burst), act];
    this.changed?.();
  }
}

/** What was done to a run up to a burst, and the run, as text of a kind: command line, Python or YAML. */
export function reproduced(kind, info, acts, end) {
  const {folder, name, seed, run_seed: runSeed} = info, genome = folder ? `runs/${folder}/genome.yaml` : name;
  const inputs = acts.filter((a) => a.area), others = acts.filter((a) => !a.area);
  const log = folder ? `\n# All that was done, exactly: burst replay runs/${folder}` : '';
  if (kind === 'Python') return python(acts, genome, seed, runSeed, end);
  const notes = (inputs.some((a) => a.late) ? LATE : '') + others.map((a) => `# from burst ${a.burst} on: stimulus ${a.stimulus} switched ${a.on ? 'on' : 'off'}\n`).join('');
  const stimuli = inputs.flatMap((a, i) => {
    const until = inputs.slice(i + 1).find((b) => b.held && a.held && b.area === a.area)?.burst;
    return groups(a).map(([amount, neurons]) => ({...a, amount, neurons, until}));
  });
  if (kind === 'YAML') {
    const when = (s) => (s.held ? `every: 1, from: ${s.burst}${s.until === undefined ? '' : `, until: ${s.until}`}` : `at: ${s.burst}`);
    return `${notes}stimuli:${stimuli.length ? '' : ' []'}\n` + stimuli.map((s) => `  - {area: ${s.area}, ${when(s)}, neurons: [${s.neurons.join(', ')}], amount: ${s.amount}}\n`).join('') + log.trimStart();
  }
  const when = (s) => (s.held ? `every 1 from ${s.burst}${s.until === undefined ? '' : ` until ${s.until}`}` : `at ${s.burst}`);
  return `${notes}burst run ${genome} --seed ${seed} --run-seed ${runSeed} --bursts ${end}` +
    stimuli.map((s) => ` \\\n  --stimulate '${s.area}=${s.neurons.join(' ')} ${when(s)} amount ${s.amount}'`).join('') + log;
}

/** Neurons of an act by their amount. */
function groups({neurons, amounts}) {
  const found = new Map();
  neurons.forEach((n, i) => found.set(amounts[i], [...(found.get(amounts[i]) ?? []), n]));
  return [...found];
}

function python(acts, genome, seed, runSeed, end) {
  const lines = [...(acts.some((a) => a.late) ? [LATE.trimEnd()] : []), 'import burst', '', `with burst.load("${genome}", seed=${seed}, run_seed=${runSeed}) as net:`], names = new Map();
  for (const a of acts.filter((x) => x.area)) {
    const key = `${a.area} ${Boolean(a.held)}`, known = names.get(key) ?? {name: `in${names.size}`, largest: 0, area: a.area, once: !a.held};
    known.largest = Math.max(known.largest, ...a.amounts.map(Math.abs));
    names.set(key, known);
  }
  for (const n of names.values()) lines.push(`    ${n.name} = net.input("${n.area}", largest=${n.largest}${n.once ? ', once=True' : ''})`);
  let at = 0;
  const go = (burst) => {
    if (burst > at) lines.push(`    net.run(${burst - at})`);
    at = Math.max(at, burst);
  };
  for (const burst of [...new Set(acts.map((a) => a.burst))].sort((a, b) => a - b)) {
    go(burst);
    const now = acts.filter((a) => a.burst === burst);
    for (const a of now.filter((x) => !x.area)) lines.push(`    net.switch(${a.stimulus}, ${a.on ? 'True' : 'False'})`);
    const values = now.filter((x) => x.area).map((a) => `${names.get(`${a.area} ${Boolean(a.held)}`).name}: ([${a.neurons.join(', ')}], [${a.amounts.join(', ')}])`);
    if (values.length === 0) continue;
    lines.push(`    net.step(1, {${values.join(', ')}})`);
    at++;
  }
  go(end);
  lines.push('    print(net.digest)');
  return lines.join('\n');
}

/** The amounts of a picture for the voxels of an area: its levels of grey times most, with x to the right and y down. */
export async function drawn(file, area, most) {
  const [wide, high, deep] = area.size, canvas = document.createElement('canvas');
  canvas.width = wide;
  canvas.height = high;
  const c = canvas.getContext('2d');
  c.drawImage(await createImageBitmap(file), 0, 0, wide, high);
  const {data} = c.getImageData(0, 0, wide, high), each = Math.max(1, area.neurons_per_voxel), neurons = [], amounts = [];
  for (let n = 0; n < area.neurons; n++) {
    const voxel = Math.floor(n / each), x = Math.floor(voxel / deep / high), y = Math.floor(voxel / deep) % high, at = 4 * (y * wide + x);
    const grey = ((0.299 * data[at] + 0.587 * data[at + 1] + 0.114 * data[at + 2]) / 255) * (data[at + 3] / 255);
    neurons.push(n);
    amounts.push(Number((grey * most).toPrecision(4)));
  }
  return {neurons, amounts};
}
