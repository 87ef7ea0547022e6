// The worker of all tabs of a browser: a browser has six connections to a speaker, and each stream takes one. Tabs that
// are in sight send `show` and get the events, others send `hide`. Needs `event-stream.js`.

const ports = new Set();
const stream = new EventStream(
  (name, data) => ports.forEach(port => port.postMessage({ name, data })),
  isRefused => {
    ports.forEach(port => port.postMessage({ interrupted: true, isRefused }));
    // Each tab asks for the session again.
    if (isRefused) ports.clear();
  });

function change(port, wish) {
  if (wish === "show") {
    ports.add(port);
    // All tabs get the status.
    stream.open();
  } else {
    ports.delete(port);
    if (ports.size === 0) stream.close();
  }
}

self.addEventListener("connect", event => {
  const port = event.ports[0];
  port.onmessage = message => change(port, message.data);
  port.postMessage({ isRunning: true });
});
