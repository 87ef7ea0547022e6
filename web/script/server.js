// The connection to the daemon: the session, and requests. Shows the form of `password.js` when the daemon wants a
// password. Needs `events.js`.

const RETRY_MILLISECONDS = 2000;
// How long a request may take, in milliseconds. The daemon itself gives up those that read much music after 300 s.
const patience = { usual: 30000, long: 310000 };
const LONG_REQUESTS = ["queue-set", "queue-add", "queue-insert", "offline-add", "playlist-save"];

// `rights` are the kinds of requests that this browser may send (docs/decisions/guests.md).
const server = { token: "", timer: 0, rights: [], hasPassword: false };

function mayUse(kind) {
  return server.rights.includes(kind);
}

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
  // Without it the browser waits for hours on a connection that has died without a sign. Older ones cannot end it.
  const controller = window.AbortController ? new AbortController() : { abort() {} };
  let timer = 0;
  const limit = new Promise((resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error("no answer"));
      controller.abort();
    }, LONG_REQUESTS.includes(path) ? patience.long : patience.usual);
  });
  try {
    const all = Object.assign({ credentials: "same-origin", signal: controller.signal }, options);
    const response = await Promise.race([fetch("api/" + path, all), limit]);
    status = response.status;
    reply = await Promise.race([response.json(), limit]);
  } catch (error) {
    throw new Refusal("unreachable", "HTTP " + status);
  } finally {
    clearTimeout(timer);
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
    if (refusal.code === "login") {
      // The rights have ended with the session.
      await openSession().catch(() => {});
      showLogin();
    }
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
  server.problem = session.problem;
  server.rights = session.rights;
  server.hasPassword = session.password;
  setText(byId("name"), session.name);
  player.room = session.name;
  return !session.login;
}

async function connect() {
  disconnect();
  try {
    if (!(await openSession())) showLogin();
    else if (!document.hidden) showEvents();
  } catch (refusal) {
    retryLater();
  }
}

function disconnect() {
  clearTimeout(server.timer);
  hideEvents();
}

function retryLater() {
  showConnected(false);
  disconnect();
  server.timer = setTimeout(connect, RETRY_MILLISECONDS);
}

function showConnected(isConnected) {
  const bar = byId("offline");
  setText(bar, isConnected ? "" : text("not-connected"));
  bar.hidden = isConnected;
}

// A tab that nobody sees needs no events. A phone that slept may have lost its connection without a sign.
function visibilityChanged() {
  if (document.body.classList.contains("locked")) return;
  if (document.hidden) disconnect();
  else connect();
}
