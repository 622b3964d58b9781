// The reference client of the live delta protocol, in plain JavaScript: for our pages, and for yours.
//
//   const client = new TidemillStream('/api/v1/matches', 'match', { keys: ['m1'], changed: (key, record) => ... });
//   client.run();   // client.records: Map of key to { state, seq, checksum, checkedAt, changedAt, stale }
//
// It needs fetch and nothing else. After any cut, restart or restore its state is that of the server.

const DEAD_AFTER_HEARTBEATS = 2.5;
const LONGEST_WAIT = 30000;

function canonical(value) {
  if (Array.isArray(value)) return '[' + value.map(canonical).join(',') + ']';
  if (value !== null && typeof value === 'object') {
    return '{' + Object.keys(value).sort().map((key) => JSON.stringify(key) + ':' + canonical(value[key])).join(',') + '}';
  }
  return JSON.stringify(value);
}

function merge(state, patch) {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const isObject = state !== null && typeof state === 'object' && !Array.isArray(state);
  const merged = new Map(isObject ? Object.entries(state) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, merge(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

// Our own, because a page that is not on https has no crypto.subtle.
const ROUNDS = new Uint32Array(64);
const START = new Uint32Array(8);
(() => {
  let found = 0;
  for (let n = 2; found < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) { prime = false; break; }
    if (!prime) continue;
    if (found < 8) START[found] = (Math.sqrt(n) % 1) * 4294967296;
    ROUNDS[found++] = (Math.cbrt(n) % 1) * 4294967296;
  }
})();

function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  const blocks = (bytes.length + 72) >> 6;
  const data = new Uint8Array(blocks << 6);
  data.set(bytes);
  data[bytes.length] = 0x80;
  const view = new DataView(data.buffer);
  view.setUint32(data.length - 8, Math.floor(bytes.length / 536870912));
  view.setUint32(data.length - 4, (bytes.length << 3) >>> 0);
  const hash = START.slice();
  const w = new Uint32Array(64);
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let at = 0; at < data.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i++) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => { hash[i] += value; });
  }
  return Array.from(hash, (value) => value.toString(16).padStart(8, '0')).join('');
}

const checksum = (state) => sha256(canonical(state)).slice(0, 16);

class TidemillStream {
  constructor(address, name, options = {}) {
    this.address = address;
    this.name = name;
    this.options = { heartbeat: 10, wait: (ms) => new Promise((done) => setTimeout(done, ms)), ...options };
    this.records = new Map();
    this.cursor = options.after || null;
    this.connected = false;
    this.resyncs = [];
    this.gaps = 0;
    this.skew = 0;
    this.stopped = false;
    this.abort = null;
  }

  stop() {
    this.stopped = true;
    if (this.abort) this.abort.abort();
  }

  // Milliseconds since the thing was last checked, by the server's clock.
  age(key) {
    const record = this.records.get(key);
    return record && record.checkedAt ? Date.now() + this.skew - Date.parse(record.checkedAt) : NaN;
  }

  async run() {
    let failures = 0;
    while (!this.stopped) {
      let brought = false;
      try { brought = await this.followOnce(); } catch (trouble) { this.tell('error', String(trouble)); }
      failures = brought ? 0 : failures + 1;
      this.setConnected(false);
      if (this.stopped) return;
      const longest = Math.min(LONGEST_WAIT, 1000 * 2 ** Math.min(10, failures));
      await this.options.wait(longest * (0.5 + Math.random() / 2));
    }
  }

  query() {
    const query = new URLSearchParams();
    for (const key of this.options.keys || []) query.append(this.name, key);
    if (this.options.status) query.set('status', this.options.status);
    query.set('heartbeat', String(this.options.heartbeat));
    if (this.cursor) query.set('after', this.cursor);
    return query;
  }

  async followOnce() {
    this.abort = new AbortController();
    const dead = DEAD_AFTER_HEARTBEATS * this.options.heartbeat * 1000;
    let alive = setTimeout(() => this.abort.abort(), dead);
    let brought = false;
    try {
      const answer = await fetch(`${this.address}/stream?${this.query()}`, { signal: this.abort.signal, cache: 'no-store' });
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      const date = Date.parse(answer.headers.get('date') || '');
      if (!Number.isNaN(date)) this.skew = date - Date.now();
      this.setConnected(true);
      const decoder = new TextDecoder();
      const reader = answer.body.getReader();
      let pending = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return brought;
        clearTimeout(alive);
        alive = setTimeout(() => this.abort.abort(), dead);
        const blocks = (pending + decoder.decode(value, { stream: true })).split('\n\n');
        pending = blocks.pop();
        for (const block of blocks) brought = (await this.takeBlock(block)) || brought;
      }
    } finally {
      clearTimeout(alive);
      this.abort.abort();
    }
  }

  async takeBlock(block) {
    const event = { kind: 'message', id: null, data: [] };
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = line.slice(colon + 1).replace(/^ /, '');
      if (name === 'event') event.kind = value;
      else if (name === 'id') event.id = value;
      else if (name === 'data') event.data.push(value);
    }
    if (!event.data.length) return false;
    const data = JSON.parse(event.data.join('\n'));
    const missing = this.apply(event.kind, data);
    if (event.id) this.cursor = event.id;
    if (missing !== null) await this.fetchWhole(missing);
    this.tell(event.kind, data);
    return true;
  }

  // What an event does to what is held; returns the key of a record that has a gap.
  apply(kind, data) {
    const key = data[this.name];
    if (kind === 'snapshot') this.put(key, data.state, data.seq, data.checksum, data.checked_at, data.changed_at);
    else if (kind === 'delta' || kind === 'correction' || kind === 'status') return this.patch(key, data);
    else if ((kind === 'stale' || kind === 'fresh') && this.records.has(key)) {
      this.records.get(key).stale = kind === 'stale' ? data : null;
    } else if (kind === 'heartbeat') {
      for (const [each, age] of Object.entries(data.ages)) {
        if (this.records.has(each)) this.records.get(each).checkedAt = new Date(Date.parse(data.at) - 1000 * age).toISOString();
      }
    } else if (kind === 'resync') {
      this.resyncs.push(data.reason);
      if (data.reason !== 'too_far') this.records.clear();
    }
    return null;
  }

  put(key, state, seq, digest, checkedAt, changedAt) {
    const held = this.records.get(key);
    if (held && seq < held.seq) return;
    this.records.set(key, { state, seq, checksum: digest, checkedAt, changedAt, stale: held ? held.stale : null });
  }

  patch(key, data) {
    const held = this.records.get(key) || { state: {}, seq: 0, stale: null, checkedAt: '' };
    if (data.seq <= held.seq) return null;
    const state = merge(held.state, data.patch);
    if (data.prev !== held.seq || checksum(state) !== data.checksum) {
      this.gaps += 1;
      return key;
    }
    const checkedAt = data.checked_at || held.checkedAt;
    const changedAt = data.changed_at || held.changedAt;
    this.records.set(key, { state, seq: data.seq, checksum: data.checksum, checkedAt, changedAt, stale: held.stale });
    return null;
  }

  async fetchWhole(key) {
    const answer = await fetch(`${this.address}/${encodeURIComponent(key)}`, { cache: 'no-store' });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const { _metadata: about, ...state } = await answer.json();
    this.put(key, state, about.seq, about.checksum.slice(0, 16), about.scraped_at, about.changed_at);
  }

  setConnected(connected) {
    if (connected !== this.connected) {
      this.connected = connected;
      this.tell(connected ? 'connected' : 'disconnected', null);
    }
  }

  tell(kind, data) {
    if (this.options.heard) this.options.heard(kind, data);
  }
}

if (typeof module !== 'undefined') module.exports = { TidemillStream, canonical, merge, sha256, checksum };
