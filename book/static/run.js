// Run buttons of a chapter. What runs the cells is loaded at the first press.

for (const bar of document.querySelectorAll(".cell-bar:has(button)"))
  bar.addEventListener("click", async ({ target }) => {
    const press = target.closest("button[data-does]");
    if (press) (await import("./chapter.js")).pressed(bar, press.dataset.does);
  });
