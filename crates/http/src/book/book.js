"use strict";

// Addresses of the API reference before it moved, such as /docs#/Agents/createAgent.
if (location.pathname === "/docs" && location.hash.startsWith("#/")) {
  location.replace("/docs/api" + location.hash);
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// Search: the index is loaded when somebody begins to search.

const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

function score(section, query) {
  let total = 0;
  for (const word of query) {
    const fields = [[section.heading, 8], [section.page, 4], [section.text, 1]];
    const found = fields.filter(([text]) => text.toLowerCase().includes(word));
    if (found.length === 0) return 0;
    for (const [text, weight] of found) total += words(text).includes(word) ? 2 * weight : weight;
  }
  return total;
}

function excerpt(text, query) {
  const lower = text.toLowerCase();
  const places = query.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - 40);
  const piece = text.slice(start, start + 140);
  const parts = [start > 0 ? "…" : ""];
  const found = lower.slice(start, start + 140);
  let position = 0;
  while (position < piece.length) {
    const next = query
      .map((word) => [found.indexOf(word, position), word.length])
      .filter(([place]) => place >= 0)
      .sort(([one], [other]) => one - other)[0];
    if (!next) break;
    parts.push(piece.slice(position, next[0]));
    parts.push(element("mark", { textContent: piece.slice(next[0], next[0] + next[1]) }));
    position = next[0] + next[1];
  }
  parts.push(piece.slice(position), start + 140 < text.length ? "…" : "");
  return parts;
}

function search() {
  const form = document.querySelector("form.search");
  const input = form.querySelector("input");
  const found = form.querySelector("#found");
  const status = found.querySelector("[role=status]");
  const list = found.querySelector("ol");
  let index;
  form.hidden = false;

  const load = () => {
    index ??= fetch("/docs/search-index").then((response) => {
      if (!response.ok) throw new Error(String(response.status));
      return response.json();
    });
    return index;
  };
  const close = () => {
    found.hidden = true;
  };
  const show = async () => {
    const query = words(input.value);
    if (query.length === 0) return close();
    let sections;
    try {
      sections = await load();
    } catch {
      index = undefined;
      list.replaceChildren();
      status.textContent = "The search cannot be loaded. Try again.";
      found.hidden = false;
      return;
    }
    if (words(input.value).join(" ") !== query.join(" ")) return;
    const best = sections
      .map((section) => [score(section, query), section])
      .filter(([points]) => points > 0)
      .sort(([one], [other]) => other - one)
      .slice(0, 10);
    list.replaceChildren(
      ...best.map(([, section]) => {
        const title = element("strong", { textContent: section.heading || section.page });
        const page = element("span", { className: "page", textContent: section.page });
        const text = element("span", { className: "excerpt" }, ...excerpt(section.text, query));
        return element("li", {}, element("a", { href: section.url }, title, page, text));
      }),
    );
    status.textContent = best.length === 0 ? "Nothing found." : best.length === 1 ? "1 section" : `${best.length} sections`;
    found.hidden = false;
  };

  input.addEventListener("focus", () => load().catch(() => (index = undefined)));
  input.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  form.addEventListener("keydown", (event) => {
    const links = [input, ...list.querySelectorAll("a")];
    const position = links.indexOf(document.activeElement);
    if (event.key === "Escape") {
      close();
      input.focus();
    } else if (!found.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      links.at((position + (event.key === "ArrowDown" ? 1 : -1)) % links.length).focus();
    }
  });
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) setTimeout(close, 150);
  });
  list.addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    // The field may be in the chat.
    const isTyping = event.composedPath()[0].matches?.("input, textarea");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    }
  });
}

// Examples in several languages: one is shown, and the choice is kept.

const remembered = {
  get: () => {
    try {
      return localStorage.getItem("cicerone-language");
    } catch {
      return null;
    }
  },
  set: (language) => {
    try {
      localStorage.setItem("cicerone-language", language);
    } catch {
      // The choice holds for this page.
    }
  },
};

function examples() {
  const groups = [];
  const choose = (language) => groups.forEach((choice) => choice(language));
  document.querySelectorAll(".examples").forEach((group, number) => {
    const blocks = [...group.children];
    const languages = [...new Set(blocks.map((block) => block.dataset.language))];
    if (languages.length < 2) return;
    const tabs = languages.map((language) => element("button", { type: "button", textContent: language }));
    const bar = element("div", { className: "tabs" }, ...tabs);
    bar.setAttribute("role", "tablist");
    bar.setAttribute("aria-label", "Language of the example");
    tabs.forEach((tab, place) => {
      tab.setAttribute("role", "tab");
      tab.id = `tab-${number}-${place}`;
      const own = blocks.filter((block) => block.dataset.language === languages[place]);
      const panel = element("div", { id: `panel-${number}-${place}` }, ...own);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      tab.setAttribute("aria-controls", panel.id);
      group.append(panel);
      tab.addEventListener("click", () => {
        // What is read stays in place, although the examples above may change their height.
        const before = bar.getBoundingClientRect().top;
        choose(languages[place]);
        scrollBy(0, bar.getBoundingClientRect().top - before);
        remembered.set(languages[place]);
      });
    });
    bar.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = tabs.at((tabs.indexOf(document.activeElement) + step) % tabs.length);
      next.click();
      next.focus();
    });
    group.prepend(bar);
    groups.push((language) => {
      if (!languages.includes(language)) return;
      tabs.forEach((tab, place) => {
        const isChosen = languages[place] === language;
        tab.setAttribute("aria-selected", String(isChosen));
        tab.tabIndex = isChosen ? 0 : -1;
        document.getElementById(tab.getAttribute("aria-controls")).hidden = !isChosen;
      });
    });
    groups.at(-1)(languages[0]);
  });
  const language = remembered.get();
  if (language) choose(language);
}

// Browsers allow pages to copy only if they were loaded securely.

function copying() {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll(".code")) {
    const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.querySelector("code").textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
    block.append(button);
  }
}

search();
examples();
copying();
