// One row of a list, with its menu and its grip, and lists of few rows. A `PagedList` of `list.js` says what a row
// shows; `list-move.js` moves it.

// One row of a list. Its elements stay, and show another entry when the list changes, so that the focus stays as well.
class Row {
  constructor(list, canMove) {
    this.list = list;
    this.title = make("span", { class: "row-title" });
    this.detail = make("span", { class: "row-detail" });
    this.side = make("span", { class: "row-side" });
    this.main = null;
    this.more = make("button", { class: "round", click: () => this.openMenu() }, icon("more"));
    this.grip = canMove ? make("button", { class: "round grip" }, icon("grip")) : null;
    this.element = make("div", { class: "row", role: "listitem" });
    this.element.append(...[this.grip, this.more].filter(part => part));
    if (this.grip) this.watchGrip();
  }

  describe(description, index, count) {
    this.description = description;
    this.index = index;
    const title = description.title;
    setText(this.title, title);
    setText(this.detail, description.detail || "");
    setText(this.side, description.side || "");
    this.setMain(description);
    setAttribute(this.element, "aria-posinset", String(index + 1));
    setAttribute(this.element, "aria-setsize", String(count));
    this.element.classList.toggle("current", Boolean(description.isCurrent));
    this.more.hidden = !description.actions;
    setAttribute(this.more, "aria-label", text("more-of", { title }));
    if (this.grip) setAttribute(this.grip, "aria-label", text("row.move", { title }));
  }

  // The main part is a link to a page, or a button that plays.
  setMain(description) {
    const tag = description.href ? "A" : "BUTTON";
    if (!this.main || this.main.tagName !== tag) {
      if (this.main) this.main.remove();
      this.main = make(tag.toLowerCase(), { class: "row-main" }, make("span", { class: "row-text" }, this.title,
        this.detail), this.side);
      if (tag === "BUTTON") this.main.addEventListener("click", () => this.run());
      this.element.insertBefore(this.main, this.more);
    }
    if (description.href) setAttribute(this.main, "href", description.href);
    if (description.isCurrent) setAttribute(this.main, "aria-current", "true");
    else this.main.removeAttribute("aria-current");
  }

  run() {
    if (this.description.click) this.description.click();
  }

  openMenu() {
    const [list, index] = [this.list, this.index];
    const move = (key, to) => [text(key), list.guarded(index, () => list.moveEntry(index, to))];
    const moves = !this.grip ? [] : [
      index > 0 ? move("row.top", 0) : null,
      index > 0 ? move("row.up", index - 1) : null,
      index < list.count - 1 ? move("row.down", index + 1) : null
    ];
    openMenu(this.description.title, this.description.actions().concat(moves));
  }

  watchGrip() {
    this.grip.addEventListener("keydown", event => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.list.moveByKey(this.index, this.index + step);
    });
    // Safari 12 has no pointer events: there the menu moves entries.
    this.grip.addEventListener("pointerdown", event => {
      if (event.isPrimary && event.button === 0) new Drag(this, event);
    });
  }
}

// A list of few rows, which all exist.
function shortList(label, descriptions) {
  const list = { count: descriptions.length };
  return make("div", { class: "short list", role: "list", label }, ...descriptions.map((description, index) => {
    const row = new Row(list, false);
    row.describe(description, index, descriptions.length);
    return row.element;
  }));
}
