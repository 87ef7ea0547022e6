// What a person without a shell wants to know of the speaker, a part of the settings. Needs no other view.

// Returns the part; `update` asks again.
function machineState() {
  const element = make("div", { class: "machine" });
  const update = async () => {
    if (!mayUse("system")) return;
    const { name, addresses, volumes, report } = await request("machine");
    replaceChildren(element, make("p", { text: [name].concat(addresses).join(" · ") }),
      ...volumes.map(volume => make("p", { class: "note", text: text("machine.free", { path: volume.path,
        free: megabytes(volume.free), size: megabytes(volume.size) }) })),
      report && make("p", { class: "note report", text: text("machine.report", { report }) }));
  };
  return { element, update: () => attempt(update()) };
}
