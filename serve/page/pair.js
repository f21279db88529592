// Two recorded runs side by side: the page of each in a frame, moved together, and the first spike in which they differ.

import {say, whole} from './look.js';

const $ = (id) => document.getElementById(id);

/** The pages in the frames, once they show their runs. */
const apps = () => [$('a'), $('b')].map((frame) => frame.contentWindow.burst).filter((app) => app?.info && app.areas.length > 0);

/** Has both do something, each within its own bursts. */
const both = (f) => Promise.all(apps().map((app) => f(app, (burst) => Math.max(app.info.first, Math.min(app.info.end, burst)))));

const seek = (burst) => both((app, within) => app.bar.seek(within(burst)));

let dragged = false, first = null;

/** Shows what is in the frames, a few times a second. */
function follow() {
  const list = apps();
  if (list.length < 2) return;
  const [a] = list, burst = Math.max(...list.map((x) => x.burst));
  $('bar').hidden = !a.bar.acts;
  $('show').hidden = !first || !a.bar.acts;
  say($('play'), a.mode === 'paused' ? 'play' : 'pause');
  $('line').min = Math.min(...list.map((x) => x.info.first));
  $('line').max = Math.max(...list.map((x) => x.info.end));
  if (!dragged) $('line').value = burst;
  say($('where'), `${whole(burst)} of ${whole(Number($('line').max))}`);
  for (const x of list) {
    if (x.raster.mark === (first?.burst ?? null)) continue;
    x.raster.mark = first.burst;
    x.raster.dirty = true;
  }
}

/** Asks in which spike the runs differ first. */
async function compare(token) {
  const answer = await fetch('v1/difference', {headers: {Authorization: 'Bearer ' + token}}), found = await answer.json();
  if (!answer.ok) {
    say($('difference'), found.error);
    return;
  }
  say($('name'), `· ${found.a} and ${found.b}`);
  first = found.first;
  say($('difference'), first === null ? 'All recorded spikes are the same.' :
    `First difference: at burst ${whole(first.burst)} neuron ${first.index} of ${first.area} fires in ${found[first.in]} alone.`);
}

const x = new URLSearchParams(location.hash.slice(1));
if (x.has('token')) sessionStorage.setItem('token', x.get('token')); // the frames, which are of this origin, find it there
history.replaceState(null, '', location.pathname);
document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
$('play').addEventListener('click', () => {
  const paused = apps()[0].mode === 'paused';
  both((app) => ((app.mode === 'paused') === paused ? app.bar.toggle() : null));
});
$('step').addEventListener('click', () => both((app) => app.bar.step(Number($('bursts').value))));
$('line').addEventListener('input', () => seek(Number($('line').value)));
$('line').addEventListener('pointerdown', () => (dragged = true));
$('line').addEventListener('pointerup', () => (dragged = false));
$('show').addEventListener('click', async () => {
  await both(async (app, within) => {
    if (app.mode !== 'paused') await app.bar.toggle();
    app.mode = 'paused'; // which the page in the frame may not have heard yet
    app.bar.seek(within(first.burst + 1 + Math.floor(app.raster.span / 4)));
    app.chooseNeuron(app.areas.findIndex((a) => a.name === first.area), first.index);
  });
});
$('a').src = './';
$('b').src = 'beside/';
setInterval(follow, 200);
compare(sessionStorage.getItem('token'));
