//! Gives documents that the server recognises their language, and leaves all others alone.

import * as vscode from 'vscode';
import type { Server } from './server';
import { isAsked } from './text';

export class Recognition implements vscode.Disposable {
  /** Documents that got a language here. If a person chooses another afterwards, that one stays while the document is open. */
  private readonly given = new Set<string>();
  private readonly parts: vscode.Disposable;

  constructor(private readonly server: Server) {
    this.parts = vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument((it) => void this.recognise(it)),
      vscode.workspace.onDidSaveTextDocument((it) => void this.recognise(it)),
      server.onDidStart(() => this.recogniseAll()),
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        for (const { input } of closed) {
          if (input instanceof vscode.TabInputText) {
            this.given.delete(input.uri.toString());
          }
        }
      }),
    );
    this.recogniseAll();
  }

  dispose(): void {
    this.parts.dispose();
  }

  private recogniseAll(): void {
    vscode.workspace.textDocuments.forEach((it) => void this.recognise(it));
  }

  private async recognise(document: vscode.TextDocument): Promise<void> {
    const name = document.uri.toString();
    const isText = ['file', 'untitled', 'vscode-remote'].includes(document.uri.scheme);
    if (!isText || !isAsked(document.uri.path, document.languageId) || this.given.has(name)) {
      return;
    }
    const client = await this.server.started();
    const params = { textDocument: { uri: name }, text: document.getText() };
    const answer = await client?.sendRequest<{ languageId: string | null }>('orange/recognise', params);
    if (answer?.languageId && !document.isClosed) {
      this.given.add(name);
      await vscode.languages.setTextDocumentLanguage(document, answer.languageId);
    }
  }
}
