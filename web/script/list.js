// A list of any length, of which only the rows in sight exist. `list-row.js` has its rows, and `list-move.js` moves one
// by hand.

const PAGE = 100;
const MOST_PAGES = 20;
const SPARE_ROWS = 8;
const SETTLE_MILLISECONDS = 80;

// A list of any length. Only the rows in sight exist as elements, and pages of 100 entries are loaded when needed.
//
// Options:
//   label     the list's name for screen readers
//   load      (from, count) → a promise of { count, entries }
//   describe  (entry, index) → a row: title, detail, side, href or click, isCurrent, actions
//   empty     the text for no entries
//   first     the reply with the first page, if it is known
//   settled   (entries) → a promise; the rows in sight are drawn again after it
//   move      (entry, index) → a promise; with it, rows can be moved
class PagedList {
  constructor(options) {
    this.options = options;
    this.pages = new Map();
    this.rows = new Map();
    this.count = null;
    this.generation = 0;
    this.moving = 0;
    this.moves = Promise.resolve();
    this.box = make("div", { class: "list", role: "list", label: options.label });
    this.message = make("p", { class: "note", text: text("loading") });
    this.element = make("div", {}, this.message, this.box);
    this.onScroll = () => this.drawSoon();
    window.addEventListener("scroll", this.onScroll, { passive: true });
    window.addEventListener("resize", this.onScroll);
    this.ready = options.first ? this.accept(0, options.first, 0) : this.loadPage(0);
  }

  stop() {
    window.removeEventListener("scroll", this.onScroll);
    window.removeEventListener("resize", this.onScroll);
    clearTimeout(this.timer);
    this.isStopped = true;
  }

  // Loads the rows in sight again. The old ones stay until then. Waits for the end of moves.
  refresh() {
    this.wantsRefresh = this.moving > 0;
    if (this.wantsRefresh) return;
    this.generation += 1;
    this.loadPage(Math.floor(this.range()[0] / PAGE));
  }

  entry(index) {
    const page = this.pages.get(Math.floor(index / PAGE));
    return page && page.entries ? page.entries[index % PAGE] : undefined;
  }

  async loadPage(number) {
    const generation = this.generation;
    const page = this.pages.get(number) || {};
    if (page.asked === generation) return;
    page.asked = generation;
    this.pages.set(number, page);
    try {
      const reply = await this.loadWhole(number * PAGE);
      const isCurrent = generation === this.generation && this.moving === 0 && !this.isStopped;
      if (isCurrent) this.accept(number, reply, generation);
    } catch (refusal) {
      page.asked = -1;
      this.showRefusal(refusal);
    }
  }

  // A reply has fewer entries where a line has no room for more.
  async loadWhole(from) {
    const reply = await this.options.load(from, PAGE);
    const entries = reply.entries;
    while (entries.length > 0 && entries.length < Math.min(PAGE, reply.count - from)) {
      const rest = await this.options.load(from + entries.length, PAGE - entries.length);
      if (rest.entries.length === 0) break;
      entries.push(...rest.entries);
    }
    return { count: reply.count, entries };
  }

  accept(number, reply, generation) {
    this.pages.set(number, { entries: reply.entries, asked: generation });
    this.count = reply.count;
    setText(this.message, reply.count === 0 ? this.options.empty : "");
    this.message.hidden = reply.count > 0;
    this.forgetPages(number);
    this.draw();
    this.settleSoon();
  }

  // A phone has no room for all pages of a long list.
  forgetPages(near) {
    const far = (a, b) => Math.abs(b - near) - Math.abs(a - near);
    Array.from(this.pages.keys()).sort(far).slice(0, Math.max(0, this.pages.size - MOST_PAGES))
      .forEach(number => this.pages.delete(number));
  }

  showRefusal(refusal) {
    this.message.hidden = false;
    replaceChildren(this.message, refusalText(refusal) + " ",
      make("button", { text: text("retry"), click: () => this.refresh() }));
  }

  rowHeight() {
    return 3.75 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  // The rows in sight, and some more: from, and to without it.
  range() {
    const [height, top] = [this.rowHeight(), this.box.getBoundingClientRect().top];
    const from = Math.floor(-top / height) - SPARE_ROWS;
    const to = Math.ceil((window.innerHeight - top) / height) + SPARE_ROWS;
    const limit = this.count || 0;
    return [Math.max(0, Math.min(from, limit)), Math.max(0, Math.min(to, limit))];
  }

  drawSoon() {
    if (!this.isWaiting) requestAnimationFrame(() => {
      this.isWaiting = false;
      if (!this.isStopped) this.draw();
    });
    this.isWaiting = true;
    this.settleSoon();
  }

  draw() {
    const height = this.rowHeight();
    const [from, to] = this.range();
    this.box.style.height = (this.count || 0) * height + "px";
    this.rows.forEach((row, index) => {
      const isUsed = row.element.contains(document.activeElement) || row.element.classList.contains("dragged");
      if (index >= (this.count || 0) || ((index < from || index >= to) && !isUsed)) this.removeRow(index);
    });
    for (let index = from; index < to; index++) this.drawRow(index, height);
  }

  removeRow(index) {
    this.rows.get(index).element.remove();
    this.rows.delete(index);
  }

  drawRow(index, height) {
    const row = this.rows.get(index) || this.addRow(index);
    const entry = this.entry(index);
    const description = entry === undefined ? { title: "…" } : this.options.describe(entry, index);
    row.describe(description, index, this.count);
    row.element.style.top = index * height + "px";
  }

  // Rows stand in the order of the list, for the keyboard and for screen readers.
  addRow(index) {
    const row = new Row(this, Boolean(this.options.move));
    const later = Array.from(this.rows.keys()).filter(other => other > index).sort((a, b) => a - b)[0];
    this.box.insertBefore(row.element, later === undefined ? null : this.rows.get(later).element);
    this.rows.set(index, row);
    return row;
  }

  // Loads what is in sight when the list has stopped moving.
  settleSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(), SETTLE_MILLISECONDS);
  }

  async settle() {
    const [from, to] = this.range();
    if (this.moving === 0 && to > from) {
      for (let page = Math.floor(from / PAGE); page <= Math.floor((to - 1) / PAGE); page++) this.loadPage(page);
    }
    if (!this.options.settled) return;
    const seen = [];
    for (let index = from; index < to; index++) seen.push(this.entry(index));
    await this.options.settled(seen.filter(entry => entry !== undefined));
    if (!this.isStopped) this.draw();
  }

  // Returns an action for the entry at `index`. It is refused if another client has put another entry there meanwhile.
  guarded(index, run) {
    const name = entry => entry && (entry.entry || entry.path);
    const before = name(this.entry(index));
    return () => {
      if (name(this.entry(index)) === before) run();
      else notify(text("error.no-such-entry"), true);
    };
  }

  // Moves an entry here at once, and at the daemon in the order of the moves.
  moveEntry(from, to) {
    const entry = this.entry(from);
    if (entry === undefined || to < 0 || to >= this.count || to === from) return;
    this.moveHere(from, to);
    this.moving += 1;
    this.moves = this.moves.then(() => attempt(this.options.move(entry, to, from))).then(() => {
      this.moving -= 1;
      if (this.moving === 0 && !this.isStopped) this.refresh();
    });
    const title = this.options.describe(entry, to).title;
    announce(text("row.moved", { title, position: to + 1, count: this.count }));
  }

  moveHere(from, to) {
    const step = from < to ? 1 : -1;
    const entry = this.entry(from);
    for (let index = from; index !== to; index += step) this.put(index, this.entry(index + step));
    this.put(to, entry);
    this.draw();
  }

  put(index, entry) {
    const page = this.pages.get(Math.floor(index / PAGE));
    if (page && page.entries) page.entries[index % PAGE] = entry;
  }

  // Moves by the keyboard: the focus stays with the entry.
  moveByKey(from, to) {
    if (to < 0 || to >= this.count) return;
    this.moveEntry(from, to);
    if (!this.rows.has(to)) this.drawRow(to, this.rowHeight());
    const row = this.rows.get(to);
    row.grip.focus({ preventScroll: true });
    row.element.scrollIntoView({ block: "nearest" });
  }

  scrollTo(index) {
    const top = window.pageYOffset + this.box.getBoundingClientRect().top + index * this.rowHeight();
    window.scrollTo(0, Math.max(0, top - window.innerHeight / 3));
  }
}
