// Moves a row of `list.js` with the finger or the mouse. The list itself moves the entry when the row is dropped.

const SCROLL_EDGE = 90;
const SCROLL_STEP = 12;

// A row that follows the finger or the mouse. Near an edge of the window the page scrolls. The list is not loaded again
// before the end.
class Drag {
  constructor(row, event) {
    this.row = row;
    this.list = row.list;
    this.list.moving += 1;
    this.pointer = event.clientY;
    this.offset = event.clientY - row.element.getBoundingClientRect().top;
    this.marker = make("div", { class: "marker" });
    this.list.box.append(this.marker);
    row.element.classList.add("dragged");
    row.grip.setPointerCapture(event.pointerId);
    this.handlers = {
      pointermove: moved => { this.pointer = moved.clientY; this.follow(); },
      pointerup: () => this.end(true),
      pointercancel: () => this.end(false)
    };
    Object.keys(this.handlers).forEach(name => row.grip.addEventListener(name, this.handlers[name]));
    this.scroll();
    this.follow();
  }

  // The index under the pointer.
  target() {
    const y = this.pointer - this.list.box.getBoundingClientRect().top;
    return Math.max(0, Math.min(this.list.count - 1, Math.floor(y / this.list.rowHeight())));
  }

  follow() {
    const height = this.list.rowHeight();
    const y = this.pointer - this.offset - this.list.box.getBoundingClientRect().top - this.row.index * height;
    this.row.element.style.transform = "translateY(" + y + "px)";
    const target = this.target();
    this.marker.style.top = (target > this.row.index ? target + 1 : target) * height + "px";
  }

  scroll() {
    if (this.hasEnded) return;
    const header = byId("tabs").getBoundingClientRect();
    const bottom = header.top > SCROLL_EDGE ? header.top : window.innerHeight;
    const isUp = this.pointer < SCROLL_EDGE;
    if (isUp || this.pointer > bottom - SCROLL_EDGE) {
      window.scrollBy(0, isUp ? -SCROLL_STEP : SCROLL_STEP);
      this.follow();
    }
    requestAnimationFrame(() => this.scroll());
  }

  end(isDropped) {
    this.hasEnded = true;
    Object.keys(this.handlers).forEach(name => this.row.grip.removeEventListener(name, this.handlers[name]));
    this.marker.remove();
    this.row.element.classList.remove("dragged");
    this.row.element.style.transform = "";
    this.list.moving -= 1;
    if (isDropped) this.list.moveEntry(this.row.index, this.target());
    if (this.list.wantsRefresh) this.list.refresh();
    this.list.drawSoon();
  }
}
