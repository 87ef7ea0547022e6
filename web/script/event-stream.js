// The stream of events from the daemon. The page uses it, and the worker that has one stream for all tabs.

const EVENTS = ["status", "state", "track", "queue", "volume", "position", "configuration", "problems", "failed",
  "library", "playlists", "offline"];
// How long a stream may say nothing, in milliseconds. The daemon sends at least an event each 15 s.
const silence = { limit: 40000 };

class EventStream {
  // `receive` is called with the name and the data of an event, the first of which is `status`. `interrupted` is called
  // when events fail to come: with false when the browser tries again, with true when the daemon has refused it.
  constructor(receive, interrupted) {
    Object.assign(this, { receive, interrupted, source: null, timer: 0 });
  }

  // Opens the stream, again if it is open: only a new one is sure to be alive, and begins with the status.
  open() {
    this.close();
    const source = new EventSource("api/events?alive");
    this.source = source;
    EVENTS.forEach(name => source.addEventListener(name, event => {
      this.watch();
      this.receive(name, JSON.parse(event.data));
    }));
    source.addEventListener("alive", () => this.watch());
    source.addEventListener("error", () => {
      if (this.source !== source) return;
      const isRefused = source.readyState === EventSource.CLOSED;
      if (isRefused) this.close();
      this.interrupted(isRefused);
    });
    this.watch();
  }

  close() {
    clearTimeout(this.timer);
    if (this.source) this.source.close();
    this.source = null;
  }

  // A connection may die without a sign.
  watch() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.interrupted(false);
      this.open();
    }, silence.limit);
  }
}
