// The state of the player, as events bring it up to date. `player-view.js` draws it, and the view in sight gets each
// event after that.

// The members of `status`, and: `room`, the speaker's name; `heardAt`, when the position was `position`.
const player = { state: "stopped", entry: null, file: null, problems: [], position: 0, heardAt: 0, room: "Tonearm" };
// The events whose members are those of `status`.
const STATUS_EVENTS = ["status", "state", "track", "queue", "volume", "position", "problems"];
// Sliders that a person moves are not moved by events.
const held = { position: false, volume: false };

function receive(name, data) {
  const before = { entry: player.entry, file: player.file, title: player.title };
  if (name === "status") {
    showConnected(true);
    begin();
  }
  if (STATUS_EVENTS.includes(name)) {
    Object.assign(player, data);
    if (data.position !== undefined || player.entry !== before.entry) setPosition(data.position || 0);
  }
  if (["state", "problems", "volume"].includes(name)) askSoon();
  if (name === "library") library.forget();
  if (name === "failed") {
    notify(text("failed", { title: nameOf(data.file || ""), message: data.message || data.code }), true);
  }
  if (player.file !== before.file || name === "status" || name === "library") drawFavourite();
  if (player.entry !== before.entry || player.title !== before.title) announceTrack();
  drawPlayer();
  if (view.receive) view.receive(name, data);
}

function setPosition(seconds) {
  player.position = seconds;
  player.heardAt = performance.now();
}

// The position now, in seconds: events come once a second.
function position() {
  const advance = player.state === "playing" ? (performance.now() - player.heardAt) / 1000 : 0;
  return Math.min((player.position || 0) + advance, player.duration || Infinity);
}

function currentTitle() {
  if (player.entry === null) return text("player.empty");
  return player.title || nameOf(player.file || "");
}

function announceTrack() {
  if (player.entry === null) return;
  const values = { title: currentTitle(), artist: player.artist };
  announce(text(player.artist ? "player.now-by" : "player.now", values));
}

const ASK_MILLISECONDS = 400;
let askTimer = 0;

// Only the status says why an entry waits, and the path of an event may be that of before the change.
function askSoon() {
  clearTimeout(askTimer);
  askTimer = setTimeout(async () => {
    const status = await request("status").catch(() => player);
    Object.assign(player, { wait: status.wait, path: status.path });
    drawPlayer();
  }, ASK_MILLISECONDS);
}
