// The message bus of gemini-cli, asking for confirmations.
//
// `node gemini-bus.mjs CORE` answers `time N` on standard input: how many nanoseconds it takes
// to ask and be answered while N others wait. CORE is the folder of `@google/gemini-cli-core`.

import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const ROUND_MS = 200;
const LEAST = 200;
const FOREVER_MS = 2 ** 31 - 1;

const [, , core] = process.argv;
const load = (file) => import(pathToFileURL(join(core, 'dist/src', file)).href);
const { MessageBus } = await load('confirmation-bus/message-bus.js');
const { MessageBusType } = await load('confirmation-bus/types.js');
const { PolicyDecision } = await load('policy/types.js');

const REQUEST = MessageBusType.TOOL_CONFIRMATION_REQUEST;
const RESPONSE = MessageBusType.TOOL_CONFIRMATION_RESPONSE;

// Only the bus is timed, so nothing is decided.
const policy = { check: async () => ({ decision: PolicyDecision.ASK_USER }) };
const buses = new Map();

/** A bus with a person who answers, and others who wait. */
async function bus(waiting) {
  const made = new MessageBus(policy);
  made.setMaxListeners(0);
  let answers = false;
  made.subscribe(REQUEST, ({ correlationId }) => {
    if (answers) void made.publish({ type: RESPONSE, correlationId, confirmed: true });
  });
  for (let other = 0; other < waiting; other += 1) void ask(made);
  // Their requests reach the person before the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  answers = true;
  return made;
}

function ask(on) {
  const toolCall = { name: 'run_shell_command', args: { command: 'npm run build' } };
  return on.request({ type: REQUEST, toolCall }, RESPONSE, FOREVER_MS);
}

async function time(waiting) {
  if (!buses.has(waiting)) buses.set(waiting, await bus(waiting));
  const asked = buses.get(waiting);
  const listeners = asked.listenerCount(RESPONSE);
  if (listeners !== waiting) throw new Error(`${listeners} wait instead of ${waiting}`);
  let answers = 0;
  const start = performance.now();
  while (answers < LEAST || performance.now() - start < ROUND_MS) {
    const { confirmed } = await ask(asked);
    if (!confirmed) throw new Error('nobody confirmed');
    answers += 1;
  }
  return Math.round(((performance.now() - start) * 1e6) / answers);
}

for await (const request of createInterface({ input: process.stdin })) {
  const [, waiting] = request.split(' ');
  process.stdout.write(`${JSON.stringify(await time(Number(waiting)))}\n`);
}
// Those who wait would keep it running.
process.exit();
