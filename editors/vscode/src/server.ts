//! The language server: finds its program, starts it, and says how it is.

import { execFile } from 'node:child_process';
import * as vscode from 'vscode';
import { LanguageClient, type LanguageClientOptions, State } from 'vscode-languageclient/node';
import { LANGUAGES, advice, serverOptions } from './text';

const SELECTOR = LANGUAGES.map((language) => ({ language }));

/** The server, started when the first document may need it. */
export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private starting: Promise<LanguageClient | undefined> | undefined;
  private readonly status = vscode.languages.createLanguageStatusItem('orange', SELECTOR);
  private readonly begun = new vscode.EventEmitter<void>();
  private readonly parts: vscode.Disposable[] = [this.begun];

  /** Fires whenever the server begins to answer. */
  readonly onDidStart = this.begun.event;

  constructor() {
    this.status.name = 'Orange';
    this.status.command = { command: 'orange.restart', title: 'restart' };
    this.say('not started', vscode.LanguageStatusSeverity.Information);
    this.parts.push(
      this.status,
      vscode.workspace.onDidChangeConfiguration((it) => it.affectsConfiguration('orange') && void this.restart()),
    );
  }

  /** The program that the settings name. */
  get program(): string {
    return vscode.workspace.getConfiguration('orange').get('server.path', 'orange-workflow') || 'orange-workflow';
  }

  /** The running client; none where the program cannot be started, which the person was told. */
  started(): Promise<LanguageClient | undefined> {
    this.starting ??= this.start();
    return this.starting;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.started();
  }

  async stop(): Promise<void> {
    await this.starting;
    const client = this.client;
    this.client = undefined;
    this.starting = undefined;
    await client?.dispose();
  }

  dispose(): void {
    vscode.Disposable.from(...this.parts).dispose();
  }

  private async start(): Promise<LanguageClient | undefined> {
    const program = this.program;
    const problem = await tried(program);
    if (problem !== undefined) {
      this.say(problem, vscode.LanguageStatusSeverity.Error);
      void this.complain(problem);
      return undefined;
    }
    const client = new LanguageClient('orange', 'Orange', { command: program, args: ['lsp'] }, this.options());
    client.onDidChangeState(({ newState }) => {
      const version = client.initializeResult?.serverInfo?.version ?? '';
      if (newState === State.Running) {
        this.say(`running ${version}`.trim(), vscode.LanguageStatusSeverity.Information);
      } else if (newState === State.Stopped) {
        this.say('stopped', vscode.LanguageStatusSeverity.Warning);
      }
    });
    try {
      await client.start();
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      this.say(said, vscode.LanguageStatusSeverity.Error);
      void this.complain(`\`${program} lsp\` does not answer: ${said}`);
      return undefined;
    }
    this.client = client;
    this.begun.fire();
    return client;
  }

  private options(): LanguageClientOptions {
    const settings = vscode.workspace.getConfiguration('orange');
    const initializationOptions = serverOptions({
      baseline: settings.get('baseline', ''),
      hints: settings.get('hints', {}),
      lenses: settings.get('lenses', true),
    });
    return {
      // A prompt in an editor counts as it is there.
      documentSelector: [...SELECTOR, { language: 'markdown' }],
      initializationOptions,
      middleware: {
        // While the workflow has an error, a page in a tab says so, and nothing pops up at each key.
        provideTextDocumentContent: async (uri) => {
          try {
            const client = await this.started();
            const page = await client?.sendRequest<{ text: string }>('workspace/textDocumentContent', { uri: uri.toString() });
            return page?.text;
          } catch (error) {
            return error instanceof Error ? error.message : String(error);
          }
        },
        window: {
          showDocument: async (params, token, next) => {
            const uri = vscode.Uri.parse(params.uri);
            if (uri.scheme !== 'orange' || !uri.path.endsWith('.md')) {
              return await next(params, token);
            }
            await vscode.commands.executeCommand('markdown.showPreviewToSide', uri);
            return { success: true };
          },
        },
      },
    };
  }

  private say(text: string, severity: vscode.LanguageStatusSeverity): void {
    this.status.text = `Orange: ${text}`;
    this.status.severity = severity;
  }

  private async complain(problem: string): Promise<void> {
    const [settings, again] = ['Open the setting', 'Try again'];
    const chosen = await vscode.window.showErrorMessage(`Orange: ${problem}`, settings, again);
    if (chosen === settings) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'orange.server.path');
    } else if (chosen === again) {
      await this.restart();
    }
  }
}

/** Asks the program for its help of `lsp`; gives what to do where it has none. */
function tried(program: string): Promise<string | undefined> {
  return new Promise((done) => {
    execFile(program, ['lsp', '--help'], { timeout: 10_000 }, (error) => done(error ? advice(program, error) : undefined));
  });
}
