//! The graph beside the text: live while somebody types, with the run of a finding, step by step.

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { Server } from './server';
import { type Bytes, byteOfOffset, offsetOfByte } from './text';
import type { FromGraph, Picture, ToGraph } from './webview/messages';

/** Time without a key after which the picture is drawn again. */
const QUIET = 150;

const HAS_GRAPH = ['orange-workflow', 'orange-workflow-toml'];

/** The panel, of which there is one: it follows the editor with a workflow. */
export class GraphPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private document: vscode.TextDocument | undefined;
  private shown: Picture | undefined;
  /** The finding whose run is drawn, and how many of its steps; all, if that is undefined. */
  private run: { finding: string; step: number | undefined } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly parts: vscode.Disposable;

  constructor(private readonly server: Server, private readonly extension: vscode.Uri) {
    this.parts = vscode.Disposable.from(
      server.onDidStart(() => this.later()),
      vscode.window.onDidChangeActiveTextEditor((it) => this.follow(it)),
      vscode.window.onDidChangeTextEditorSelection((it) => this.point(it.textEditor)),
      vscode.workspace.onDidChangeTextDocument((it) => it.document === this.document && this.later()),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        if (uris.some((it) => it.toString() === this.document?.uri.toString())) {
          this.later();
        }
      }),
    );
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    this.parts.dispose();
  }

  /** Shows the graph of the active editor. */
  show(): void {
    const editor = vscode.window.activeTextEditor;
    if (this.panel === undefined) {
      const options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.extension, 'dist')] };
      const beside = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      this.panel = vscode.window.createWebviewPanel('orange.graph', 'Graph', beside, options);
      this.panel.webview.onDidReceiveMessage((it: FromGraph) => void this.received(it));
      this.panel.onDidDispose(() => (this.panel = undefined));
      this.panel.webview.html = page(this.panel.webview, this.extension);
    } else {
      this.panel.reveal(undefined, true);
    }
    this.follow(editor);
  }

  private follow(editor: vscode.TextEditor | undefined): void {
    if (this.panel === undefined || editor === undefined || !HAS_GRAPH.includes(editor.document.languageId)) {
      return;
    }
    if (this.document?.uri.toString() !== editor.document.uri.toString()) {
      this.run = undefined;
    }
    this.document = editor.document;
    this.panel.title = `Graph: ${vscode.workspace.asRelativePath(editor.document.uri)}`;
    void this.draw();
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.draw(), QUIET);
  }

  private async draw(): Promise<void> {
    const document = this.document;
    if (this.panel === undefined || document === undefined) {
      return;
    }
    const client = await this.server.started();
    const textDocument = { uri: document.uri.toString() };
    const finding = this.run?.finding;
    const run = this.shown?.runs.indexOf(finding ?? '') ?? -1;
    const params = run < 0 ? { textDocument } : { textDocument, run, step: this.run?.step };
    try {
      const picture = await client?.sendRequest<Picture>('orange/graph', params);
      if (picture === undefined || document !== this.document) {
        return;
      }
      const moved = picture.runs.join('\n') !== this.shown?.runs.join('\n');
      this.shown = picture;
      if (moved && finding !== undefined) {
        // The number was one among other runs.
        this.run = picture.runs.includes(finding) ? this.run : undefined;
        return await this.draw();
      }
      const drawn = this.run && { run: picture.runs.indexOf(this.run.finding), step: this.run.step };
      this.post({ kind: 'picture', picture, ...drawn });
      this.point(vscode.window.activeTextEditor);
    } catch (error) {
      // What was drawn last stays: while somebody types, the text is often broken.
      this.post({ kind: 'problem', message: error instanceof Error ? error.message : String(error) });
    }
  }

  private point(editor: vscode.TextEditor | undefined): void {
    if (this.panel !== undefined && editor !== undefined && editor.document === this.document) {
      const offset = editor.document.offsetAt(editor.selection.active);
      this.post({ kind: 'cursor', at: byteOfOffset(editor.document.getText(), offset) });
    }
  }

  private async received(message: FromGraph): Promise<void> {
    switch (message.kind) {
      case 'ready':
        return await this.draw();
      case 'open':
        return await this.open(message.bytes);
      case 'run': {
        const finding = message.run === undefined ? undefined : this.shown?.runs[message.run];
        this.run = finding === undefined ? undefined : { finding, step: message.step };
        return await this.draw();
      }
    }
  }

  private async open(bytes: Bytes): Promise<void> {
    const document = this.document;
    if (document === undefined) {
      return;
    }
    const text = document.getText();
    const at = (byte: number) => document.positionAt(offsetOfByte(text, byte));
    const selection = new vscode.Range(at(bytes.from), at(bytes.to));
    const open = vscode.window.visibleTextEditors.find((it) => it.document === document);
    const viewColumn = open?.viewColumn ?? vscode.ViewColumn.One;
    await vscode.window.showTextDocument(document, { viewColumn, selection });
  }

  private post(message: ToGraph): void {
    void this.panel?.webview.postMessage(message);
  }
}

function page(webview: vscode.Webview, extension: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64url');
  const file = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(extension, 'dist', name)).toString();
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Graph</title>
<link rel="stylesheet" nonce="${nonce}" href="${file('graph.css')}">
</head>
<body data-nonce="${nonce}">
<header>
<label>Run <select id="runs"><option value="">none</option></select></label>
<button id="back" title="One step back (←)">←</button>
<output id="step"></output>
<button id="on" title="One step on (→)">→</button>
</header>
<p id="note" role="status"></p>
<main id="picture" tabindex="0"></main>
<script nonce="${nonce}" src="${file('graph.js')}"></script>
</body>
</html>`;
}
