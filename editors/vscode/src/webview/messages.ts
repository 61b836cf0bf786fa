//! Messages between the extension and its page with the graph.

import type { Bytes } from '../text';

/** Answer of `orange/graph`. */
export interface Picture {
  readonly svg: string;
  readonly note: string | null;
  readonly runs: readonly string[];
  readonly steps: number;
}

export type ToGraph =
  | { readonly kind: 'picture'; readonly picture: Picture; readonly run?: number; readonly step?: number | undefined }
  | { readonly kind: 'cursor'; readonly at: number }
  | { readonly kind: 'problem'; readonly message: string };

export type FromGraph =
  | { readonly kind: 'ready' }
  | { readonly kind: 'open'; readonly bytes: Bytes }
  | { readonly kind: 'run'; readonly run?: number; readonly step?: number };
