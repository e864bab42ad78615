// JSON, buffers, worker threads, zlib and crypto on the thread pool; prints digests.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { createHash, pbkdf2 } = require('crypto');
const { execFileSync } = require('child_process');
const { promisify } = require('util');
const zlib = require('zlib');

const digest = (data) => createHash('sha256').update(data).digest('hex').slice(0, 16);

function documents(seed, count) {
  let state = seed;
  const next = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8;
  return Array.from({ length: count }, (_, id) => ({
    id,
    name: `user-${next().toString(16)}`,
    tags: Array.from({ length: 6 }, () => next() % 100),
    note: 'x'.repeat(next() % 400),
  }));
}

// Buffers of every size live outside the JavaScript heap, in malloc blocks.
function buffers(rounds) {
  const live = new Array(500).fill(Buffer.alloc(0));
  let sum = 0;
  for (let i = 0; i < rounds; i++) {
    const block = Buffer.alloc((i * 7919) % 60000, i % 256);
    live[i % live.length] = block;
    sum = (sum + block.length + (block[block.length - 1] || 0)) >>> 0;
  }
  return `${sum} ${digest(Buffer.concat(live))}`;
}

function worker(seed) {
  return new Promise((resolve, reject) => {
    const thread = new Worker(__filename, { workerData: seed });
    thread.once('message', resolve);
    thread.once('error', reject);
  });
}

async function main() {
  console.log('workers:', (await Promise.all([1, 2, 3, 4].map(worker))).join(' '));
  console.log('buffers:', buffers(20000));

  const text = JSON.stringify(documents(9, 20000));
  const pack = promisify(zlib.gzip);
  const unpack = promisify(zlib.gunzip);
  const packed = await Promise.all([1, 6, 9].map((level) => pack(text, { level })));
  const unpacked = await Promise.all(packed.map((data) => unpack(data)));
  console.log('zlib:', unpacked.map(digest).join(' '), packed.map((data) => data.length).join(' '));
  console.log('brotli:', zlib.brotliCompressSync(text.slice(0, 200000)).length);

  const keys = await Promise.all(
    Array.from({ length: 8 }, (_, i) => promisify(pbkdf2)(`secret${i}`, 'salt', 2000, 64, 'sha512')));
  console.log('crypto:', keys.map(digest).join(' '));

  const child = execFileSync(process.execPath, ['-e', 'console.log([..."hakmem"].reverse().join(""))']);
  console.log('child:', child.toString().trim());
}

if (isMainThread) {
  main();
} else {
  parentPort.postMessage(digest(JSON.stringify(documents(workerData, 10000))));
}
