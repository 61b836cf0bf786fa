//! Functions of values for the page with the graph.

import type { Bytes } from '../text';

/** The places of a part, from its `data-span`: `12-40 96-120`. */
export function spans(attribute: string | null | undefined): Bytes[] {
  return (attribute ?? '').split(' ').flatMap((it) => {
    const [from, to] = it.split('-').map(Number);
    return from !== undefined && to !== undefined && !Number.isNaN(from + to) ? [{ from, to }] : [];
  });
}

/** Index of the part with the smallest place around a byte; -1 if there is none. */
export function partAt(parts: readonly (readonly Bytes[])[], at: number): number {
  let [best, size] = [-1, Infinity];
  parts.forEach((places, index) => {
    for (const { from, to } of places) {
      if (from <= at && at <= to && to - from < size) {
        [best, size] = [index, to - from];
      }
    }
  });
  return best;
}

/** The style of a picture for the theme of the editor, which need not be that of the system. */
export function themed(style: string, isDark: boolean): string {
  return style.replaceAll('(prefers-color-scheme: dark)', isDark ? 'all' : 'not all');
}

/** Number of the step after a key: between the first step and all, which is `steps`. */
export function stepAfter(step: number | undefined, steps: number, by: -1 | 1): number {
  return Math.min(steps, Math.max(0, (step ?? steps) + by));
}
