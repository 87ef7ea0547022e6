// The language of the page, and how it writes texts with values, numbers, times, sizes and names. Needs the table of
// `texts.js` alone.

const LANGUAGE = /^de\b/.test(navigator.language) ? "de" : "en";
const FORM = LANGUAGE === "de" ? 1 : 0;

// Returns a text of the page with values in place of the braces.
function text(key, values) {
  let line = TEXTS[key][FORM];
  Object.keys(values || {}).forEach(name => {
    line = line.split("{" + name + "}").join(values[name]);
  });
  return line;
}

function hasText(key) {
  return TEXTS[key] !== undefined;
}

// Returns a text with a number, such as "1 track" or "2,000 tracks".
function counted(key, number) {
  return text(key + (number === 1 ? ".one" : ".other"), { count: number.toLocaleString(LANGUAGE) });
}

// Returns seconds as 3:05 or 1:02:03.
function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = number => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return (hours ? hours + ":" + two(minutes) : minutes) + ":" + two(whole % 60);
}

function megabytes(bytes) {
  return Math.round(bytes / 1048576).toLocaleString(LANGUAGE) + " MB";
}

function dateAndTime(seconds) {
  return new Date(seconds * 1000).toLocaleString(LANGUAGE, { dateStyle: "medium", timeStyle: "short" });
}

// Names of files that are not UTF-8 have a character of U+EF80 to U+EFFF for each such byte (docs/control.md).
function printable(name) {
  return name.replace(/[\uef80-\uefff]/g, letter => "\\x" + (letter.charCodeAt(0) - 0xef00).toString(16));
}

// Returns a name for music without a title, from its path or address.
function nameOf(path) {
  const product = /^tonearm:(track|video)\/(.*)$/.exec(path);
  if (product) return text("product." + product[1], { id: product[2] });
  return printable(path.replace(/\/+$/, "").split("/").pop().replace(/\.\w{2,5}$/, ""));
}
