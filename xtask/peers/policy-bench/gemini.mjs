// The policy engine of gemini-cli, on the same rules and calls as the others.
//
// `node gemini.mjs CORE WORKLOAD` answers `decide` and `time` on standard input like
// `policy-bench` does. CORE is the folder of `@google/gemini-cli-core`, WORKLOAD the file
// that `policy-bench` writes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const ROUND_MS = 20;
const PRIORITY = { allow: 2.5, ask: 2.55, deny: 2.6 };

const [, , core, workload] = process.argv;
const load = (file) => import(pathToFileURL(join(core, 'dist/src', file)).href);
const { PolicyEngine } = await load('policy/policy-engine.js');
const { buildArgsPatterns, escapeRegex } = await load('policy/utils.js');
const { initializeShellParsers, parseBashCommandDetails } = await load('utils/shell-utils.js');

// Its messages go to the console, which costs more than deciding.
for (const level of ['debug', 'log', 'info', 'warn']) console[level] = () => {};

const { rules, shell } = JSON.parse(readFileSync(workload, 'utf8'));
const engine = new PolicyEngine({ rules: rules.map(rule) });
await initializeShellParsers();
if (!parseBashCommandDetails('true')) throw new Error('the parser for shell does not load');

// As its loader of policy files makes them.
function rule({ tool, about, decision }) {
  const made = { toolName: toolName(tool), decision, priority: PRIORITY[decision] };
  const pattern = argsPattern(about);
  if (pattern) made.argsPattern = new RegExp(pattern);
  return made;
}

function toolName(tool) {
  if (tool === 'shell') return 'run_shell_command';
  return tool.replace(/^mcp__(.*)__/, 'mcp_$1_');
}

function argsPattern(about) {
  if (about.words) return buildArgsPatterns(undefined, about.words)[0];
  if (about.folder) return escapeRegex(`"file_path":"${about.folder}/`);
  return undefined;
}

async function decide() {
  const decisions = [];
  for (const { line, expected } of shell) {
    const decision = await check(line);
    if (decision !== expected) throw new Error(`gemini-cli decides ${decision} about ${line}`);
    decisions.push(decision);
  }
  return decisions;
}

async function check(command) {
  const { decision } = await engine.check({ name: 'run_shell_command', args: { command } });
  return decision === 'ask_user' ? 'ask' : decision;
}

async function time() {
  let decisions = 0;
  const start = performance.now();
  while (decisions === 0 || performance.now() - start < ROUND_MS) {
    for (const { line } of shell) await check(line);
    decisions += shell.length;
  }
  return Math.round(((performance.now() - start) * 1e6) / decisions);
}

for await (const request of createInterface({ input: process.stdin })) {
  const [word] = request.split(' ');
  const answer = word === 'decide' ? await decide() : await time();
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
