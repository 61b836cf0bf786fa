//! The extension: everything about the language comes from `orange-workflow lsp`.

import * as vscode from 'vscode';
import { GraphPanel } from './graph';
import { Recognition } from './recognise';
import { ScenarioTests } from './scenarios';
import { Server } from './server';

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  server = new Server();
  const graph = new GraphPanel(server, context.extensionUri);
  context.subscriptions.push(
    server,
    graph,
    new Recognition(server),
    new ScenarioTests(server),
    vscode.commands.registerCommand('orange.graph', () => graph.show()),
    vscode.commands.registerCommand('orange.restart', () => server?.restart()),
    vscode.commands.registerCommand('orange.simulate', (it: { uri: string; state: string }) => simulate(it)),
  );
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

/** Simulates a task in a terminal, from this state. The program gets its words as they are, without a shell. */
async function simulate({ uri, state }: { uri: string; state: string }): Promise<void> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  if (server === undefined || !(await document.save())) {
    return;
  }
  const shellArgs = ['simulate', document.uri.fsPath, '--from', state];
  vscode.window.createTerminal({ name: `simulate: ${state}`, shellPath: server.program, shellArgs }).show();
}
