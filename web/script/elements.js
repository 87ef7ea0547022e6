// Makes, finds and changes elements of the page, shows short messages, and speaks to screen readers. Needs no other
// part.

function byId(id) {
  return document.getElementById(id);
}

// Makes an element. `options`: class, text, label (for screen readers), click, and attributes by their names.
function make(tag, options, ...children) {
  const element = document.createElement(tag);
  if (tag === "button") element.type = "button";
  Object.keys(options || {}).forEach(name => {
    const value = options[name];
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else if (name === "label") element.setAttribute("aria-label", value);
    else if (name === "click") element.addEventListener("click", value);
    else if (typeof value === "boolean") element[name] = value;
    else element.setAttribute(name, value);
  });
  element.append(...children.filter(child => child));
  return element;
}

// Makes an element of a picture.
function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.keys(attributes).forEach(name => element.setAttribute(name, attributes[name]));
  element.append(...children);
  return element;
}

function icon(name) {
  const picture = draw("svg", { class: "icon", "aria-hidden": "true" }, draw("use", {}));
  setIcon(picture, name);
  return picture;
}

// Safari 12 needs the old name of the attribute.
function setIcon(picture, name) {
  picture.firstElementChild.setAttributeNS("http://www.w3.org/1999/xlink", "xlink:href", "#icon-" + name);
}

// Shows an icon in a button that has no text.
function showIcon(button, name) {
  if (button.firstElementChild) setIcon(button.firstElementChild, name);
  else button.append(icon(name));
}

function replaceChildren(element, ...children) {
  element.textContent = "";
  element.append(...children.filter(child => child));
}

// Sets a text only if it is another one, so that screen readers do not read it again.
function setText(element, line) {
  if (element.textContent !== line) element.textContent = line;
}

function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

function setPressed(button, isPressed) {
  setAttribute(button, "aria-pressed", String(isPressed));
}

let noticeTimer = 0;

// Shows a short message for some seconds.
function notify(line, isError) {
  const notice = byId("notice");
  replaceChildren(notice, make("p", { text: line, class: isError ? "error" : "" }));
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => replaceChildren(notice), isError ? 10000 : 5000);
}

// Says something to screen readers alone.
function announce(line) {
  setText(byId("announcement"), line);
}
