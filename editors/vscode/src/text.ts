//! Functions of values: places in texts, documents that may be ours, pictures.

/** Languages that this extension declares. */
export const LANGUAGES: readonly string[] = ['orange-workflow', 'orange-workflow-toml', 'orange-scenarios'];

/** Bytes of a text, as the server counts them. */
export interface Bytes {
  readonly from: number;
  readonly to: number;
}

/** The offset in UTF-16 of a byte of this text in UTF-8. */
export function offsetOfByte(text: string, byte: number): number {
  let seen = 0;
  let offset = 0;
  for (const letter of text) {
    if (seen >= byte) {
      return offset;
    }
    seen += Buffer.byteLength(letter);
    offset += letter.length;
  }
  return offset;
}

/** The byte in UTF-8 of an offset in UTF-16. */
export function byteOfOffset(text: string, offset: number): number {
  return Buffer.byteLength(text.slice(0, offset));
}

/** True if the server is asked about a document: it has no language of ours yet, and may be a workflow or scenarios. */
export function isAsked(path: string, languageId: string): boolean {
  if (/(^|[\\/])\.github[\\/]/.test(path)) {
    return false;
  }
  // Without an extension for TOML its files are plain text.
  const isToml = languageId === 'plaintext' && path.toLowerCase().endsWith('.toml');
  return languageId === 'yaml' || languageId === 'toml' || isToml;
}

/** What to do where the program cannot be started, from the error of the attempt. */
export function advice(program: string, error: { code?: string | number | null; message: string }): string {
  if (error.code === 'ENOENT') {
    return `\`${program}\` is not there: install orange-workflow, or name its path in the setting orange.server.path.`;
  }
  if (error.code === 'EACCES') {
    return `\`${program}\` may not be run: make it executable, or name another in the setting orange.server.path.`;
  }
  if (typeof error.code === 'number') {
    return `\`${program}\` has no command \`lsp\`: it is too old. Install a newer orange-workflow, or name its path in the setting orange.server.path.`;
  }
  return `\`${program}\` cannot be started: ${error.message}`;
}

/** Commands of this extension that lenses of the server may ask for. */
export const COMMANDS: readonly string[] = ['orange.simulate'];

/** Options of the server from the settings. */
export function serverOptions(settings: { baseline: string; hints: Record<string, unknown>; lenses: boolean }) {
  const { baseline, hints, lenses } = settings;
  return { ...(baseline === '' ? {} : { baseline }), hints, lenses, commands: COMMANDS };
}

/** Result of `orange-workflow test --format json`. */
export interface TestAnswer {
  readonly files: readonly {
    readonly file: string;
    readonly scenarios: readonly Scenario[];
  }[];
}

/** A scenario and its result. Lines and columns count from 1. */
export interface Scenario extends Place {
  readonly name: string;
  readonly passed: boolean;
  readonly failures: readonly (Place & { readonly message: string })[];
}

/** Begin and end of a part of a file. */
export interface Place {
  readonly line: number;
  readonly column: number;
  readonly end_line: number;
  readonly end_column: number;
}

/** The scenarios of an answer, or why there are none: the first lines of what the program says. */
export function scenariosOf(out: string, err: string): readonly Scenario[] | string {
  let answer: TestAnswer | undefined;
  try {
    answer = JSON.parse(out) as TestAnswer;
  } catch {
    answer = undefined;
  }
  const scenarios = answer?.files.flatMap((it) => it.scenarios) ?? [];
  const said = err.trim();
  return scenarios.length === 0 && said !== '' ? said : scenarios;
}
