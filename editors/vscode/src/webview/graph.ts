//! The page with the graph, in the webview.

import { partAt, spans, stepAfter, themed } from './parts';
import type { FromGraph, Picture, ToGraph } from './messages';

declare function acquireVsCodeApi(): { postMessage(message: FromGraph): void };

const api = acquireVsCodeApi();
const nonce = document.body.dataset['nonce'] ?? '';
const [picture, note, runs, output] = [found('picture'), found('note'), found<HTMLSelectElement>('runs'), found('step')];
const [back, on] = [found<HTMLButtonElement>('back'), found<HTMLButtonElement>('on')];

let [steps, run, step]: [number, number | undefined, number | undefined] = [0, undefined, undefined];
let cursor: number | undefined;
let svg = '';
let drawn = '';

function found<E extends HTMLElement = HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}

function isDark(): boolean {
  const { classList } = document.body;
  return classList.contains('vscode-dark') || (classList.contains('vscode-high-contrast') && !classList.contains('vscode-high-contrast-light'));
}

/** Draws the picture. An equal one stays: replaced under the mouse, it would get no click. */
function draw(): void {
  const dark = isDark();
  if (drawn === `${dark} ${svg}`) {
    return point();
  }
  drawn = `${dark} ${svg}`;
  const read = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
  if (read.localName !== 'svg') {
    return;
  }
  for (const style of read.querySelectorAll('style')) {
    style.setAttribute('nonce', nonce);
    style.textContent = themed(style.textContent ?? '', dark);
  }
  picture.replaceChildren(document.importNode(read, true));
  point();
}

function point(): void {
  const parts = [...picture.querySelectorAll('[data-span]')];
  const at = cursor === undefined ? -1 : partAt(parts.map((it) => spans(it.getAttribute('data-span'))), cursor);
  parts.forEach((it, index) => it.classList.toggle('at-cursor', index === at));
}

function show(shown: Picture): void {
  svg = shown.svg;
  steps = shown.steps;
  note.textContent = shown.note ?? '';
  const options = ['none', ...shown.runs].map((text, index) => new Option(text, index === 0 ? '' : String(index - 1)));
  runs.replaceChildren(...options);
  runs.value = run === undefined ? '' : String(run);
  runs.disabled = shown.runs.length === 0;
  const now = step ?? steps;
  output.textContent = run === undefined ? '' : `${now} of ${steps}`;
  back.disabled = run === undefined || now === 0;
  on.disabled = run === undefined || now >= steps;
  draw();
}

function choose(chosen: number | undefined, at?: number): void {
  api.postMessage({ kind: 'run', ...(chosen === undefined ? {} : { run: chosen }), ...(at === undefined ? {} : { step: at }) });
}

function move(by: -1 | 1): void {
  if (run !== undefined) {
    const next = stepAfter(step, steps, by);
    choose(run, next === steps ? undefined : next);
  }
}

window.addEventListener('message', ({ data }: MessageEvent<ToGraph>) => {
  switch (data.kind) {
    case 'picture':
      [run, step] = [data.run, data.step];
      return show(data.picture);
    case 'cursor':
      cursor = data.at;
      return point();
    case 'problem':
      note.textContent = data.message;
      return undefined;
  }
});
picture.addEventListener('click', ({ target }) => {
  const part = target instanceof Element ? target.closest('[data-span]') : null;
  const [bytes] = spans(part?.getAttribute('data-span'));
  if (bytes !== undefined) {
    api.postMessage({ kind: 'open', bytes });
  }
});
window.addEventListener('keydown', ({ key, target }) => {
  if (target !== runs && (key === 'ArrowLeft' || key === 'ArrowRight')) {
    move(key === 'ArrowLeft' ? -1 : 1);
  }
});
runs.addEventListener('change', () => choose(runs.value === '' ? undefined : Number(runs.value)));
back.addEventListener('click', () => move(-1));
on.addEventListener('click', () => move(1));
new MutationObserver(draw).observe(document.body, { attributeFilter: ['class'] });
api.postMessage({ kind: 'ready' });
