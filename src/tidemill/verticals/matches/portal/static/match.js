// Keeps the page of a match moving: the state comes from the stream, and the age is counted each second.
// All text is set as text: whatever was scraped, nothing of it becomes markup.
'use strict';

const STALE_AFTER = 15;
const ON_BREAK = 45;
const match = document.getElementById('match');
const key = match.dataset.match;
const place = (name) => document.querySelector(`[data-shows="${name}"]`);
let stateShown = '';

function setText(name, text) {
  if (place(name).textContent !== text) place(name).textContent = text;
}

function element(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function timeSpan(seconds) {
  for (const [size, unit] of [[86400, 'd'], [3600, 'h'], [60, 'min']]) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  return `${Math.max(0, Math.floor(seconds))} s ago`;
}

function resultWords(result) {
  const won = result.winner ? `${result.winner} won` : result.outcome || '';
  return won + (result.by ? ` by ${result.by}` : '') + (result.method ? ` (${result.method})` : '');
}

function inningsRow(innings, teams) {
  const row = document.createElement('tr');
  const team = element('th', (teams[innings.team] || {}).name || '');
  team.scope = 'row';
  const notes = ['declared', 'follow_on', 'super_over'].filter((name) => innings[name]).map((name) => name.replace('_', ' '));
  if (innings.target !== undefined) notes.push(`target ${innings.target}`);
  row.append(team, element('td', `${innings.runs}/${innings.wickets}`, 'n'), element('td', innings.overs, 'n'), element('td', notes.join(', ')));
  return row;
}

function ballItem(where, ball) {
  const item = element('li', '', ball.wicket ? 'wicket' : '');
  const words = ball.runs + (ball.extra ? ` ${ball.extra}` : '') + (ball.wicket ? ` W ${ball.wicket}` : '');
  item.append(element('span', where.slice(where.indexOf('.') + 1), 'dim'), ` ${words}`);
  return item;
}

function newestFirst(one, other) {
  const [a, b] = [one, other].map((where) => where.split('.').map(Number));
  return b[0] - a[0] || b[1] - a[1] || b[2] - a[2];
}

function showRecord(record) {
  const state = record.state;
  setText('title', state.title || key);
  setText('pause', state.break || '');
  setText('result', resultWords(state.result || {}));
  setText('seq', String(record.seq));
  setText('last', (state.last_event || {}).description || '');
  const innings = Object.entries(state.innings || {}).sort(([a], [b]) => a - b).map(([, each]) => each);
  if (innings.length) place('innings').replaceChildren(...innings.map((each) => inningsRow(each, state.teams || {})));
  const balls = state.balls || {};
  place('balls').replaceChildren(...Object.keys(balls).sort(newestFirst).map((where) => ballItem(where, balls[where])));
}

function showState(words, colour) {
  if (words === stateShown) return;
  stateShown = words;
  place('state').replaceChildren(element('span', words, `badge ${colour}`));
  match.className = `health${colour === 'warn' || colour === 'bad' ? ` ${colour}` : ''}`;
}

// What the page may claim: nothing is live that is stale, and nothing is known while the connection is gone.
function showAge() {
  const record = client.records.get(key);
  if (!client.connected) showState('disconnected', 'bad');
  if (!record) return;
  const age = client.age(key) / 1000;
  setText('checked', Number.isNaN(age) ? 'never' : timeSpan(age));
  setText('changed', timeSpan((Date.now() + client.skew - Date.parse(record.changedAt || record.checkedAt)) / 1000));
  const isLive = record.state.status === 'live';
  const isStale = isLive && (record.stale || age > (record.state.break ? ON_BREAK : STALE_AFTER));
  setText('trouble', isStale && record.stale ? String(record.stale.reason || '').replace(/_/g, ' ') : '');
  if (!client.connected) return;
  if (isStale) showState('stale', 'warn');
  else showState(record.state.status || 'unknown', isLive ? 'good' : 'plain');
}

const client = new TidemillStream(match.dataset.stream, 'match', {
  keys: [key],
  heartbeat: 5,
  heard: () => {
    const record = client.records.get(key);
    if (record) showRecord(record);
    showAge();
  },
});
client.run();
setInterval(showAge, 1000);
