/* A button beside each piece of code copies it: of a session with prompts, what is typed, without prompts and output. */
function typed(text) {
  const lines = text.split("\n");
  const prompted = lines.filter(line => /^(>>>|\.\.\.)( |$)/.test(line));
  if (!prompted.length) return text;
  const indented = line => /^\.\.\. \s/.test(line ?? "");
  return prompted
    // To Python, an empty line is the end of a block: none within, and one behind it.
    .filter((line, at) => line.trim() !== "..." || !indented(prompted[at + 1]))
    .map((line, at, kept) => line.slice(4) + (indented(line) && !kept[at + 1]?.startsWith("...") ? "\n\n" : "\n"))
    .join("");
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
