// Runs the reference client and answers each line of input with what it holds.
const { TidemillStream, canonical, sha256 } = require('../../src/tidemill/web/static/stream.js');

const { address, name, ...wanted } = JSON.parse(process.argv[2]);
const wait = () => new Promise((done) => setTimeout(done, 20));
const client = new TidemillStream(address, name, { ...wanted, heartbeat: 5, wait });
client.run();
require('readline').createInterface({ input: process.stdin }).on('line', () => {
  const held = {};
  for (const [key, record] of client.records) held[key] = [record.seq, sha256(canonical(record.state))];
  process.stdout.write(JSON.stringify({ held, resyncs: client.resyncs, gaps: client.gaps }) + '\n');
}).on('close', () => process.exit(0));
