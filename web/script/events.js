// The events of the page, from the worker of all tabs, or where a browser has none from a stream of its own. Hands them
// to `receive` of `player.js`. Needs `event-stream.js`.

// How long the worker may take to start.
const START_MILLISECONDS = 5000;

const events = { isWanted: false, port: null, own: null, timer: 0 };

// Asks for events, the first of which is the status; also while they come.
function showEvents() {
  events.isWanted = true;
  if (!events.own && !events.port) startWorker();
  if (events.own) events.own.open();
  else events.port.postMessage("show");
}

function hideEvents() {
  events.isWanted = false;
  if (events.own) events.own.close();
  if (events.port) events.port.postMessage("hide");
}

function startWorker() {
  try {
    const worker = new SharedWorker("events.js");
    worker.addEventListener("error", useOwnStream);
    events.port = worker.port;
    events.port.onmessage = message => receiveFromWorker(message.data);
    events.timer = setTimeout(useOwnStream, START_MILLISECONDS);
  } catch (error) {
    useOwnStream();
  }
}

function receiveFromWorker(message) {
  clearTimeout(events.timer);
  if (!events.isWanted || events.own) return;
  if (message.interrupted) eventsInterrupted(message.isRefused);
  else if (message.name) receive(message.name, message.data);
}

// Chrome on Android has no such workers, but shows one tab at a time.
function useOwnStream() {
  clearTimeout(events.timer);
  if (events.own) return;
  if (events.port) events.port.postMessage("hide");
  events.port = null;
  events.own = new EventStream(receive, eventsInterrupted);
  if (events.isWanted) events.own.open();
}

function eventsInterrupted(isRefused) {
  showConnected(false);
  if (isRefused) retryLater();
}
