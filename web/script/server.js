// The connection to the daemon: the session, requests and events. Hands events to `receive` of `player.js`, and shows
// the form of `password.js` when the daemon wants a password.

const RETRY_MILLISECONDS = 2000;
const EVENTS = ["status", "state", "track", "queue", "volume", "position", "configuration", "problems", "failed",
  "library", "playlists", "offline"];

const server = { token: "", source: null, timer: 0 };

// Why a request was refused. `code` is one of docs/control.md, or `unreachable`.
class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// Returns a text for people. The daemon's own message names details, but is English.
function refusalText(refusal) {
  const key = "error." + refusal.code;
  return hasText(key) ? text(key) : refusal.message;
}

async function fetchReply(path, options) {
  let reply = null;
  let status = 0;
  try {
    const response = await fetch("api/" + path, Object.assign({ credentials: "same-origin" }, options));
    status = response.status;
    reply = await response.json();
  } catch (error) {
    throw new Refusal("unreachable", "HTTP " + status);
  }
  if (!reply.ok) throw new Refusal(reply.error.code, reply.error.message);
  return reply;
}

function post(name, fields) {
  return fetchReply(name, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Tonearm-Token": server.token },
    body: JSON.stringify(fields || {})
  });
}

// Sends a request of docs/control.md and returns its reply, or throws a Refusal.
async function request(name, fields) {
  try {
    return await postAgain(name, fields);
  } catch (refusal) {
    if (refusal.code === "login") showLogin();
    throw refusal;
  }
}

// Sends a request, and once more with a new token: the daemon has another one after each start.
async function postAgain(name, fields) {
  try {
    return await post(name, fields);
  } catch (refusal) {
    if (refusal.code !== "token") throw refusal;
    await openSession();
    return post(name, fields);
  }
}

// Waits for a request that a person has started, and shows why it was refused.
async function attempt(promise) {
  try {
    return await promise;
  } catch (refusal) {
    notify(refusal instanceof Refusal ? refusalText(refusal) : String(refusal), true);
    return null;
  }
}

// Returns whether requests can be sent; otherwise a password is needed first.
async function openSession() {
  const session = await fetchReply("session");
  server.token = session.token;
  setText(byId("name"), session.name);
  player.room = session.name;
  return !session.login;
}

async function connect() {
  disconnect();
  try {
    if (await openSession()) listen();
    else showLogin();
  } catch (refusal) {
    retryLater();
  }
}

function disconnect() {
  clearTimeout(server.timer);
  if (server.source) server.source.close();
  server.source = null;
}

function retryLater() {
  showConnected(false);
  disconnect();
  server.timer = setTimeout(connect, RETRY_MILLISECONDS);
}

// The browser connects again by itself after an interruption, but not after a refusal.
function listen() {
  const source = new EventSource("api/events");
  server.source = source;
  EVENTS.forEach(name => source.addEventListener(name, event => receive(name, JSON.parse(event.data))));
  source.addEventListener("error", () => {
    showConnected(false);
    if (source.readyState === EventSource.CLOSED && server.source === source) retryLater();
  });
}

function showConnected(isConnected) {
  const bar = byId("offline");
  setText(bar, isConnected ? "" : text("not-connected"));
  bar.hidden = isConnected;
}

// A phone that slept may have lost its connection without a sign.
function wakeUp() {
  if (!document.hidden && !byId("player").hidden) connect();
}
