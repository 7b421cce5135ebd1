// What the theme leaves out for who uses keys or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll("p.caption[role=heading]")) caption.setAttribute("aria-level", "2");
  document.querySelector("aside.sidebar-drawer")?.setAttribute("aria-label", "Site navigation");
  for (const code of document.querySelectorAll("div.highlight pre, div.table-wrapper")) if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
});
