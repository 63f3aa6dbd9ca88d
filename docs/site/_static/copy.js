/* A button beside each piece of code copies it: of a session with prompts, what is typed, without prompts and output. */
function typed(text) {
  const lines = text.split("\n");
  const prompted = lines.filter(line => /^(>>>|\.\.\.)( |$)/.test(line));
  return prompted.length ? prompted.map(line => line.slice(4)).join("\n") + "\n" : text;
}

document.addEventListener("DOMContentLoaded", () => {
  // Pages that come over an insecure connection may not write to the clipboard.
  if (!navigator.clipboard) return;
  for (const code of document.querySelectorAll(".bd-article div.highlight")) {
    if (code.closest(".sphx-glr-script-out")) continue;
    const button = document.createElement("button");
    Object.assign(button, { className: "copy", type: "button", textContent: "Copy" });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(typed(code.querySelector("pre").textContent));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    code.append(button);
  }
});
