import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advice, byteOfOffset, isAsked, offsetOfByte, scenariosOf, serverOptions } from './text';
import { partAt, spans, stepAfter, themed } from './webview/parts';

test('bytes and offsets are translated both ways', () => {
  const text = 'é → 🍊 x';
  const letters = [...text];
  letters.reduce((offset, letter) => {
    assert.equal(offsetOfByte(text, byteOfOffset(text, offset)), offset);
    return offset + letter.length;
  }, 0);
  assert.equal(offsetOfByte(text, 999), text.length);
  assert.equal(byteOfOffset(text, text.indexOf('x')), 12);
});

test('only YAML and TOML outside .github is asked about', () => {
  assert.ok(isAsked('/a/flow.yml', 'yaml'));
  assert.ok(isAsked('/a/flow.toml', 'toml'));
  assert.ok(isAsked('/a/flow.toml', 'plaintext'));
  assert.ok(!isAsked('/a/notes.txt', 'plaintext'));
  assert.ok(!isAsked('/a/.github/workflows/ci.yml', 'yaml'));
  assert.ok(!isAsked('/a/flow.yml', 'orange-workflow'));
  assert.ok(!isAsked('/a/flow.yml', 'dockercompose'));
});

test('a program that cannot be started has an advice', () => {
  assert.match(advice('ow', { code: 'ENOENT', message: '' }), /is not there: install/);
  assert.match(advice('ow', { code: 'EACCES', message: '' }), /make it executable/);
  assert.match(advice('ow', { code: 2, message: '' }), /too old/);
  assert.match(advice('ow', { code: null, message: 'killed' }), /killed/);
});

test('settings become options of the server', () => {
  const settings = { baseline: '', hints: { ranges: false }, lenses: true };
  assert.deepEqual(serverOptions(settings), { hints: { ranges: false }, lenses: true, commands: ['orange.simulate'] });
  assert.equal(serverOptions({ ...settings, baseline: 'known.json' }).baseline, 'known.json');
});

test('an answer without scenarios says why', () => {
  const scenario = { name: 'a', passed: true, failures: [], line: 1, column: 1, end_line: 1, end_column: 2 };
  const answer = JSON.stringify({ files: [{ file: 'a.test.yml', scenarios: [scenario] }] });
  assert.deepEqual(scenariosOf(answer, ''), [scenario]);
  assert.equal(scenariosOf('{"files":[]}', 'error: no workflow\n'), 'error: no workflow');
  assert.equal(scenariosOf('', 'error: no workflow\n'), 'error: no workflow');
});

test('the smallest part around the cursor is found', () => {
  assert.deepEqual(spans('12-40 96-120'), [{ from: 12, to: 40 }, { from: 96, to: 120 }]);
  assert.deepEqual(spans(null), []);
  assert.deepEqual(spans('x-1'), []);
  const parts = [spans('0-100'), spans('10-20 50-55'), []];
  assert.equal(partAt(parts, 52), 1);
  assert.equal(partAt(parts, 30), 0);
  assert.equal(partAt(parts, 101), -1);
});

test('a picture has the colours of the editor', () => {
  const style = 'a {} @media (prefers-color-scheme: dark) { a {} }';
  assert.equal(themed(style, true), 'a {} @media all { a {} }');
  assert.equal(themed(style, false), 'a {} @media not all { a {} }');
});

test('steps stay between none and all', () => {
  assert.equal(stepAfter(undefined, 3, -1), 2);
  assert.equal(stepAfter(0, 3, -1), 0);
  assert.equal(stepAfter(2, 3, 1), 3);
  assert.equal(stepAfter(undefined, 3, 1), 3);
});
