"use strict";
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
  if (!body || body.rows.length < 2) continue;
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[column];
        return cell && cell.dataset.key !== undefined ? Number(cell.dataset.key) : null;
      };
      const text = (row) => (row.cells[column] ? row.cells[column].textContent : "");
      const sign = falling ? -1 : 1;
      const rows = [...body.rows].sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        // Cells without a number stand last.
        if (x !== null && y !== null) return sign * (x - y);
        if (x !== null || y !== null) return x !== null ? -1 : 1;
        return sign * text(a).localeCompare(text(b));
      });
      body.append(...rows);
    });
  });
}
for (const cards of document.querySelectorAll(".cards")) {
  const all = [...cards.querySelectorAll(":scope > details")];
  if (all.length < 2) continue;
  const tools = document.createElement("div");
  tools.className = "tools";
  for (const [name, open] of [["Open all", true], ["Close all", false]]) {
    const button = document.createElement("button");
    button.textContent = name;
    button.addEventListener("click", () => all.forEach((card) => { card.open = open; }));
    tools.append(button);
  }
  cards.prepend(tools);
}
