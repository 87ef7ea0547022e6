// The form for the page's password, in place of everything else, and the note for guests that leads to it. Needs the
// session of `server.js`, and `mount` of `views.js`.

// Says what guests cannot do here, and why; nothing for others.
function guestNote() {
  if (mayUse("system")) return null;
  const keys = server.hasPassword ? ["guest.login"] : ["guest.no-password", "guest.set-password"];
  return make("div", { class: "guest" },
    make("p", { class: "note", text: keys.map(key => text(key)).join(" ") }),
    server.hasPassword && make("div", { class: "actions" },
      make("button", { text: text("login.title"), click: showLogin })));
}

// Shows the form for the password in place of everything else.
function showLogin() {
  disconnect();
  shownHash = null;
  showConnected(true);
  document.body.classList.add("locked");
  ["player", "mini"].forEach(id => { byId(id).hidden = true; });
  const input = make("input", { type: "password", id: "password", autocomplete: "current-password", required: true });
  const problem = make("p", { class: "error", role: "alert" });
  const form = make("form", { class: "stack" },
    make("h2", { text: text("login.title") }),
    make("label", { for: "password", text: text("login.password") }), input, problem,
    make("button", { type: "submit", class: "main", text: text("login.send") }),
    mayUse("music") && make("button", { text: text("login.later"), click: unlock }));
  form.addEventListener("submit", event => {
    event.preventDefault();
    logIn(input.value, problem);
  });
  // Without its password or certificate the speaker lets nobody in, and says why.
  mount({ title: text("login.title"), element: server.problem
    ? make("p", { class: "error", role: "alert", text: server.problem }) : form });
  if (!server.problem) input.focus();
}

async function logIn(password, problem) {
  try {
    await postAgain("login", { password });
  } catch (refusal) {
    const key = { "wrong-password": "login.wrong", "too-many-attempts": "login.wait" }[refusal.code];
    setText(problem, key ? text(key) : refusalText(refusal));
    return;
  }
  unlock();
}

// Shows the page again, with the rights that this browser has now.
function unlock() {
  document.body.classList.remove("locked");
  connect();
}
