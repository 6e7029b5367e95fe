// What the theme leaves out for readers with a keyboard or a screen reader.

const attributes = {
  ".sidebar-drawer": { "aria-label": "All pages" },
  ".toc-drawer": { "aria-label": "On this page" },
  ".sidebar-tree .caption": { "aria-level": "2" },
  "th:not(:has(p:not(:empty)))": { role: "presentation" }, // a corner without a heading
  ".highlight pre, .table-wrapper": { tabindex: "0" }, // they scroll
};

addEventListener("DOMContentLoaded", () => {
  const results = document.querySelector("#search-results");
  if (results) {
    const heading = document.createElement("h1");
    heading.textContent = "Search";
    results.before(heading);
  }
  for (const [selector, values] of Object.entries(attributes)) {
    for (const element of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
    }
  }
});
