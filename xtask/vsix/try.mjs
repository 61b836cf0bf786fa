// Somebody installs the extension in VS Code and works with a workflow: node try.mjs MODULES PACKAGE PROGRAMS [PICTURES].
//
// Without PICTURES it makes no pictures. MODULES has code-server and playwright-core, PROGRAMS has orange-workflow. Nothing here waits for a time: each step waits until VS Code
// shows what it expects, and says in vain for what it has waited.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const [modules, vsix, programs, pictures] = process.argv.slice(2);
const { chromium } = createRequire(path.join(modules, 'x.js'))('playwright-core');
const PATIENCE = 60_000;

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'orange-vsix-'));
const work = path.join(scratch, 'work');
const file = (name) => path.join(work, name);
const read = (name) => fs.readFileSync(file(name), 'utf8');

// One that ships, with a mistake in a name, and with a gate that accepts an old handoff.
const shipped = fs.readFileSync('workflows/minimal.yml', 'utf8');
const WORKFLOW = shipped.replace('    to: working\n', '    to: workng\n').replace('      fresh: true\n', '');
const PLAIN = 'services:\n  web: {image: nginx}\n';
const OF_GITHUB = 'name: ci\non: push\nstates: {}\ntransitions: []\n';

function write(name, text) {
  fs.mkdirSync(path.dirname(file(name)), { recursive: true });
  fs.writeFileSync(file(name), text);
}

write('minimal.yml', WORKFLOW);
write('minimal.test.yml', fs.readFileSync('workflows/minimal.test.yml', 'utf8'));
write('values.yml', PLAIN);
write('.github/workflows/ci.yml', OF_GITHUB);
write('../data/User/settings.json', JSON.stringify({
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
  'extensions.ignoreRecommendations': true,
  'files.autoSave': 'off',
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'window.autoDetectColorScheme': false,
  'workbench.colorTheme': 'Light Modern',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
}));

const entry = path.join(modules, 'code-server/out/node/entry.js');
const env = { ...process.env, HOME: scratch, PATH: '/usr/bin:/bin', SHELL: '/bin/sh', XDG_CONFIG_HOME: scratch, XDG_DATA_HOME: scratch };
delete env.PORT;
const folders = ['--user-data-dir', path.join(scratch, 'data'), '--extensions-dir', path.join(scratch, 'extensions')];

async function main() {
  const installed = spawnSync(process.execPath, [entry, ...folders, '--install-extension', vsix], { env, encoding: 'utf8' });
  check('the package is installed', installed.status === 0, installed.stdout + installed.stderr);
  const quiet = ['--auth', 'none', '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
  const server = spawn(process.execPath, [entry, ...folders, ...quiet, '--bind-addr', '127.0.0.1:0'], { env, cwd: scratch, detached: true });
  let browser;
  try {
    const address = await listens(server);
    browser = await chromium.launch({ executablePath: program('chromium'), args: ['--no-sandbox', '--disable-gpu'] });
    const context = await browser.newContext({ viewport: { width: 1180, height: 720 } });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.goto(`${address}/?folder=${work}`);
    try {
      await work_with(new Editor(page));
    } catch (error) {
      await page.screenshot({ path: path.join(scratch, 'failure.png') });
      throw error;
    }
  } finally {
    await browser?.close();
    // It and the processes that it started are a group.
    process.kill(-server.pid, 'SIGKILL');
  }
}

async function work_with(editor) {
  const { page } = editor;

  await editor.open('minimal.yml');
  await editor.shows('.notifications-toasts', '`orange-workflow` is not there: install orange-workflow');
  ok('a missing program is named');
  write('../data/Machine/settings.json', JSON.stringify({ 'orange.server.path': path.join(programs, 'orange-workflow') }));
  await editor.language('Orange workflow');
  await editor.command('Notifications: Clear All Notifications');
  ok('a workflow gets its language as soon as the setting names the program');

  await editor.command('View: Toggle Problems');
  await editor.shows('.markers-panel', 'unknown state `workng`');
  ok('the mistake is shown');
  await editor.goTo('workng');
  await editor.fix('working');
  await editor.gone('.markers-panel', 'workng');
  await editor.save('minimal.yml', (text) => !text.includes('workng') && text.includes('to: working'));
  ok('a quick fix changes the text');

  await editor.shows('.markers-panel', 'accepts a `## Handoff` that was written in an earlier visit');
  await editor.shows('.markers-panel', '1. ');
  await editor.shows('.markers-panel', '→ working');
  ok('a finding has the steps of its run as related places');

  await editor.goTo('    to: reviewing');
  await editor.picture('editor-findings.png');
  await editor.command('View: Toggle Panel Visibility');
  await page.locator('.markers-panel').first().waitFor({ state: 'hidden' });
  await editor.goTo('name: minimal');
  await editor.shows('.codelens-decoration', 'prove: ');
  await editor.shows('.codelens-decoration', 'in · ');
  ok('lenses stand above the parts');
  await page.locator('.codelens-decoration a', { hasText: 'prove: ' }).first().click();
  await page.locator('.tab.active', { hasText: 'proof.txt' }).waitFor();
  await editor.shows('.editor-group-container.active .view-lines', 'every');
  ok('a click on a lens shows the page');
  await editor.command('View: Close Editor');
  await editor.goTo('section: "## Handoff"');
  await editor.fix('explain C49');
  await editor.frame('h1:has-text("stale-artifact")');
  ok('the page of a check is shown as it is meant to look');
  await editor.command('View: Close Editor');
  await editor.command('View: Focus First Editor Group');
  await editor.goTo('- from: reviewing');
  await editor.shows('.view-lines', HINT);
  ok('hints stand between the words');

  await editor.command('Orange: Show the graph beside the text');
  const graph = await editor.frame('#picture svg');
  ok('the graph is beside the text');
  await graph.locator('#picture [data-name="stuck"]').first().click();
  await editor.cursorIn('  stuck:');
  ok('a click in the graph leads to the source');
  await graph.locator('#picture .at-cursor[data-name="stuck"]').first().waitFor();
  ok('the part at the cursor is marked in the graph');
  await graph.locator('#runs').selectOption({ index: 1 });
  await graph.locator('#picture .marked').first().waitFor();
  const steps = await graph.locator('#step').textContent();
  await graph.locator('#back').click();
  await graph.locator('#step', { hasText: `${Number(steps.split(' ')[0]) - 1} of` }).waitFor();
  ok('the run of a finding is drawn and stepped through');
  await graph.locator('#on').click();
  await graph.locator('#step', { hasText: steps }).waitFor();
  await editor.picture('editor-graph.png');

  await editor.command('View: Focus First Editor Group');
  await editor.goTo('states:', 'end');
  await page.keyboard.press('Enter');
  await page.keyboard.type('waiting: {}');
  await graph.locator('#picture [data-name="waiting"]').first().waitFor();
  ok('the graph follows what somebody types');
  await editor.command('File: Revert File');
  await graph.locator('#picture [data-name="waiting"]').first().waitFor({ state: 'detached' });
  await graph.locator('#runs').selectOption({ index: 0 });

  await editor.command('View: Close All Editors');
  await editor.revert('minimal.yml');
  await editor.open('minimal.yml');
  await editor.language('Orange workflow');
  await editor.goTo('to: cancelled');
  await page.keyboard.press('End');
  for (let i = 0; i < 'cancelled'.length; i++) await page.keyboard.press('Backspace');
  await page.keyboard.press('Control+Space');
  await page.locator('.suggest-widget .monaco-list-row', { hasText: 'reviewing' }).first().waitFor();
  await page.locator('.suggest-widget .monaco-list-row', { hasText: 'cancelled' }).first().waitFor();
  await editor.picture('editor-completion.png');
  await page.keyboard.type('canc');
  await page.keyboard.press('Enter');
  await editor.save('minimal.yml', (text) => text === WORKFLOW.replace('workng', 'working'));
  ok('a state is completed');

  await editor.rename('  reviewing:', 'done');
  await editor.shows('.notifications-toasts', '`done` is a name already');
  ok('a rename to a name that stands already is refused, with the reason');
  await page.keyboard.press('Escape');
  await editor.rename('  working:', 'coding');
  await editor.shows('.view-lines', 'coding:');
  await editor.command('File: Save All');
  const files = ['minimal.yml', 'minimal.test.yml'];
  await until('the name is another one in each file', () => files.every((it) => read(it).includes('coding')));
  const rest = files.map(read).join('').match(/(to|from|status|then|clarify|request): working/g);
  check('no place has the old name', rest === null, rest);
  ok('a rename changes the workflow and its scenarios');

  await editor.command('Test: Run All Tests');
  await editor.command('Testing: Focus on Test Explorer View');
  await editor.shows('.test-explorer', 'minimal.test.yml');
  const passed = page.locator('.test-explorer .testing-run-state-passed, .test-explorer [class*="testing-passed"]');
  await passed.first().waitFor();
  ok('the scenarios run in the test explorer');

  for (const name of ['values.yml', 'ci.yml']) {
    await editor.open(name);
    await editor.language('YAML');
  }
  await editor.command('View: Toggle Problems');
  await editor.open('values.yml');
  check('files of other programs keep their texts', read('values.yml') === PLAIN && read('.github/workflows/ci.yml') === OF_GITHUB);
  await editor.language('YAML');
  const found = await page.locator('.markers-panel').textContent();
  check('nothing is found in them', !found.includes('values.yml') && !found.includes('ci.yml'), found);
  ok('files of other programs stay untouched');
}

/** What is done in VS Code, by its keys. */
class Editor {
  constructor(page) {
    this.page = page;
  }

  async choose(key, text) {
    await this.page.keyboard.press(key);
    const box = this.page.locator('.quick-input-widget input.input');
    await box.waitFor();
    await box.fill(text);
  }

  async open(name) {
    await this.page.locator('.monaco-workbench').waitFor();
    await this.choose('Control+p', name);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().click();
    await this.page.locator('.tab.active', { hasText: name }).first().waitFor();
    await this.page.locator('.editor-group-container.active .monaco-editor .view-line').first().waitFor();
  }

  async command(name) {
    await this.choose('F1', `>${name}`);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().click();
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  }

  async language(name) {
    await this.page.locator('#status\\.editor\\.mode', { hasText: name }).waitFor();
  }

  async shows(selector, text) {
    const normal = (it) => it.replaceAll('\u00a0', ' ');
    let last = '';
    await until(`${selector} shows ${text}`, async () => {
      last = normal((await this.page.locator(selector).allInnerTexts()).join('\n'));
      return last.includes(text);
    }, () => last);
  }

  async gone(selector, text) {
    await until(`${selector} shows ${text} no more`, async () => {
      return !(await this.page.locator(selector).allTextContents()).join('\n').includes(text);
    });
  }

  /** Puts the cursor at the first place of a text. */
  async goTo(text, end) {
    const lines = (await this.text()).split('\n');
    const line = lines.findIndex((it) => it.includes(text));
    check(`\`${text}\` is in the text`, line >= 0, lines.join('\n'));
    const column = lines[line].indexOf(text) + 1 + (end === 'end' ? text.length : Math.min(text.length - 1, text.search(/\S/) + 1));
    await this.choose('Control+g', `:${line + 1}:${column}`);
    await this.page.keyboard.press('Enter');
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    await this.cursorIn(text);
  }

  /** Takes the first fix at the cursor that has this text. The list is asked for again until it is there. */
  async fix(text) {
    const row = this.page.locator('.action-widget').getByText(text).first();
    await until(`a fix has ${text}`, async () => {
      await this.page.keyboard.press('Control+.');
      return await row.waitFor({ timeout: 3_000 }).then(() => true, () => false);
    });
    await row.click();
  }

  async rename(place, name) {
    await this.goTo(place);
    await this.page.keyboard.press('F2');
    await this.page.locator('.rename-box input:focus').waitFor();
    await this.page.keyboard.press('Control+a');
    await this.page.keyboard.type(name);
    await this.page.keyboard.press('Enter');
  }

  /** The text of the file, which is saved before. */
  async text() {
    return read('minimal.yml');
  }

  async cursorIn(text) {
    const line = (await this.text()).split('\n').findIndex((it) => it.includes(text)) + 1;
    await this.page.locator('#status\\.editor\\.selection', { hasText: `Ln ${line},` }).waitFor();
  }

  async save(name, holds) {
    await this.page.keyboard.press('Control+s');
    await until(`${name} is saved`, () => holds(read(name)), () => read(name));
  }

  async revert(name) {
    check(`${name} is as it was`, read(name) === WORKFLOW.replace('workng', 'working'), read(name));
  }

  /** The innermost frame that has an element. */
  async frame(selector) {
    let found;
    await until(`a frame has ${selector}`, async () => {
      for (const frame of this.page.frames()) {
        if ((await frame.locator(selector).count().catch(() => 0)) > 0) found = frame;
      }
      return found !== undefined;
    });
    return found;
  }

  async picture(name) {
    if (pictures === undefined) return;
    await this.page.screenshot({ path: path.join(pictures, name), caret: 'hide' });
  }
}

function program(name) {
  const found = (process.env.PATH ?? '').split(':').map((it) => path.join(it, name)).find((it) => fs.existsSync(it));
  check(`${name} is on PATH`, found !== undefined, 'Debian: apt-get install chromium');
  return found;
}

function listens(server) {
  return new Promise((done, failed) => {
    let said = '';
    const hear = (part) => {
      said += part;
      const address = /HTTP server listening on (http:\S+?)\/?\s/.exec(said);
      if (address !== null) done(address[1]);
    };
    server.stdout.on('data', hear);
    server.stderr.on('data', hear);
    server.on('exit', () => failed(new Error(`code-server ended: ${said}`)));
  });
}

async function until(what, holds, instead = () => '') {
  const begun = Date.now();
  while (!(await holds())) {
    if (Date.now() - begun > PATIENCE) throw new Error(`waited in vain until ${what}; instead: ${instead()}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

function check(what, holds, instead = '') {
  if (!holds) throw new Error(`not as expected: ${what}\n${instead}`);
}

function ok(what) {
  console.log(`ok: ${what}`);
}

const HINT = 'by anyone';

main().then(
  () => fs.rmSync(scratch, { recursive: true, force: true }),
  (error) => {
    console.error(`${error.stack ?? error}\nwhat was written is in ${scratch}`);
    process.exitCode = 1;
  },
);
