//! The test explorer: the scenarios beside workflows, run by `orange-workflow test`.

import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import type { Server } from './server';
import { LANGUAGES, type Place, type Scenario, scenariosOf } from './text';

const FILES = '**/*.test.{yml,yaml}';
const NOT_OURS = '**/{node_modules,.github,target}/**';

export class ScenarioTests implements vscode.Disposable {
  private readonly tests = vscode.tests.createTestController('orange', 'Orange scenarios');
  private readonly parts: vscode.Disposable[] = [this.tests];

  constructor(private readonly server: Server) {
    this.tests.resolveHandler = async (item) => {
      if (item === undefined) {
        await this.find();
      } else if (item.uri !== undefined) {
        await this.list(item.uri);
      }
    };
    this.tests.refreshHandler = () => this.find();
    const run = (request: vscode.TestRunRequest, token: vscode.CancellationToken) => this.run(request, token);
    this.tests.createRunProfile('Run', vscode.TestRunProfileKind.Run, run, true);
    const watcher = vscode.workspace.createFileSystemWatcher(FILES);
    watcher.onDidCreate((uri) => void this.list(uri));
    watcher.onDidChange((uri) => void this.list(uri));
    watcher.onDidDelete((uri) => this.tests.items.delete(uri.toString()));
    this.parts.push(watcher);
  }

  dispose(): void {
    vscode.Disposable.from(...this.parts).dispose();
  }

  private async find(): Promise<void> {
    const files = await vscode.workspace.findFiles(FILES, NOT_OURS);
    await Promise.all(files.map((uri) => this.list(uri)));
  }

  /** Lists the scenarios of a file. A run of all is the list with its places, and takes milliseconds. */
  private async list(uri: vscode.Uri): Promise<readonly Scenario[] | string | undefined> {
    const client = await this.server.started();
    const answer = await client?.sendRequest<{ languageId: string | null }>('orange/recognise', {
      textDocument: { uri: uri.toString() },
    });
    if (answer?.languageId !== 'orange-scenarios') {
      return undefined;
    }
    const scenarios = await this.tested(uri);
    const name = vscode.workspace.asRelativePath(uri);
    const file = this.tests.items.get(uri.toString()) ?? this.tests.createTestItem(uri.toString(), name, uri);
    file.canResolveChildren = true;
    if (typeof scenarios === 'string') {
      file.error = scenarios;
    } else {
      file.error = undefined;
      file.children.replace(
        scenarios.map((it, index) => {
          const item = this.tests.createTestItem(`${uri.toString()}#${index}`, it.name, uri);
          item.range = range(it);
          return item;
        }),
      );
    }
    this.tests.items.add(file);
    return scenarios;
  }

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const run = this.tests.createTestRun(request);
    const all = request.include ?? [...this.tests.items].map(([, item]) => item);
    const excluded = new Set(request.exclude?.map((it) => it.id));
    for (const uri of new Set(all.map((it) => it.uri?.toString() ?? ''))) {
      if (token.isCancellationRequested || uri === '') {
        continue;
      }
      await saved(vscode.Uri.parse(uri));
      const scenarios = await this.list(vscode.Uri.parse(uri));
      const file = this.tests.items.get(uri);
      if (typeof scenarios === 'string') {
        all.filter((it) => it.uri?.toString() === uri).forEach((it) => run.errored(it, new vscode.TestMessage(scenarios)));
        continue;
      }
      scenarios?.forEach((scenario, index) => {
        const item = file?.children.get(`${uri}#${index}`);
        const isAsked = item !== undefined && all.some((it) => it.id === item.id || it.id === uri) && !excluded.has(item.id);
        if (isAsked) {
          report(run, item, scenario);
        }
      });
    }
    run.end();
  }

  /** Runs a file as it is on the disk. */
  private async tested(uri: vscode.Uri): Promise<readonly Scenario[] | string> {
    const folder = dirname(uri.fsPath);
    return await new Promise((done) => {
      const words = ['test', uri.fsPath, '--format', 'json'];
      execFile(this.server.program, words, { cwd: folder, maxBuffer: 1 << 26, timeout: 60_000 }, (error, out, err) => {
        const said = err.trim() === '' && out === '' ? (error?.message ?? '') : err;
        done(scenariosOf(out, said));
      });
    });
  }
}

/** Saves the scenarios and the workflows beside them. */
async function saved(uri: vscode.Uri): Promise<void> {
  const folder = dirname(uri.fsPath);
  const isBeside = (it: vscode.TextDocument) => dirname(it.uri.fsPath) === folder && LANGUAGES.includes(it.languageId);
  await Promise.all(vscode.workspace.textDocuments.filter((it) => it.isDirty && isBeside(it)).map((it) => it.save()));
}

function report(run: vscode.TestRun, item: vscode.TestItem, scenario: Scenario): void {
  run.started(item);
  if (scenario.passed) {
    run.passed(item);
    return;
  }
  const messages = scenario.failures.map((it) => {
    const message = new vscode.TestMessage(it.message);
    if (item.uri !== undefined) {
      message.location = new vscode.Location(item.uri, range(it));
    }
    return message;
  });
  run.failed(item, messages);
}

function range(place: Place): vscode.Range {
  return new vscode.Range(place.line - 1, place.column - 1, place.end_line - 1, place.end_column - 1);
}
