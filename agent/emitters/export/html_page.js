"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (query, root = document) => Array.from(root.querySelectorAll(query));
  const root = document.documentElement;
  const main = $("main");
  const search = $("search");
  const goals = all(".goal", main).map((node) => ({
    node,
    head: node.querySelector("header"),
    units: Array.from(node.children).filter((child) => child.tagName !== "HEADER"),
  }));
  const loose = Array.from(main.children).filter((child) => !child.classList.contains("goal") && child.id !== "nothing");
  const entries = new Map(all("[data-goal]").map((node) => [node.dataset.goal, node]));
  const commands = all(".cmd", main);
  const texts = new WeakMap();
  let filter = "";
  let words = [];

  const text = (node) => {
    if (!texts.has(node)) texts.set(node, node.textContent.toLowerCase());
    return texts.get(node);
  };
  const has = (node) => words.every((word) => text(node).includes(word));
  const wanted = (node) => !filter || (node.dataset.kinds || "").split(" ").includes(filter);

  const show = () => {
    let seen = 0;
    let shown = 0;
    for (const goal of goals) {
      const whole = !filter && has(goal.head);
      let any = whole;
      for (const unit of goal.units) {
        const fits = whole || (wanted(unit) && has(unit));
        unit.hidden = !fits;
        any = any || fits;
        if (fits && unit.classList.contains("cmd")) seen += 1;
      }
      goal.node.hidden = !any;
      shown += any ? 1 : 0;
      const entry = entries.get(goal.node.id);
      if (entry) entry.hidden = !any;
    }
    for (const node of loose) {
      node.hidden = Boolean(filter) || !has(node);
      shown += node.hidden ? 0 : 1;
    }
    $("nothing").hidden = shown > 0;
    $("count").textContent = filter || words.length ? `${seen} of ${commands.length} commands` : "";
    mark();
  };

  const mark = () => {
    if (!window.Highlight || !CSS.highlights) return;
    CSS.highlights.delete("found");
    if (!words.length) return;
    const found = new Highlight();
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    let left = 1000;
    let scanned = 4000000;
    for (let node = walker.nextNode(); node && left > 0 && scanned > 0; node = walker.nextNode()) {
      if (node.parentElement.closest("[hidden]")) continue;
      const lower = node.data.toLowerCase();
      scanned -= lower.length;
      if (lower.length !== node.data.length) continue;
      for (const word of words) {
        for (let at = lower.indexOf(word); at >= 0 && left > 0; at = lower.indexOf(word, at + word.length)) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + word.length);
          found.add(range);
          left -= 1;
        }
      }
    }
    CSS.highlights.set("found", found);
  };

  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      show();
    }, 120);
  });
  for (const button of all("[data-filter]")) {
    button.addEventListener("click", () => {
      filter = button.dataset.filter;
      for (const other of all("[data-filter]")) other.setAttribute("aria-pressed", String(other === button));
      show();
    });
  }

  const problems = () => commands.filter((node) => !node.closest("[hidden]") && /\b(failed|high|refused)\b/.test(node.dataset.kinds));
  const jump = (step) => {
    const list = problems();
    if (!list.length) {
      $("count").textContent = "no failure and no high risk";
      return;
    }
    const here = list.findIndex((node) => `#${node.id}` === location.hash);
    const edge = $("tools").getBoundingClientRect().bottom + 24;
    let next;
    if (here >= 0) next = here + step;
    else if (step > 0) next = list.findIndex((node) => node.getBoundingClientRect().top > edge);
    else next = list.findLastIndex((node) => node.getBoundingClientRect().top < edge);
    const target = list[(Math.max(next, -1) + list.length) % list.length];
    location.hash = target.id;
    $("count").textContent = `problem ${list.indexOf(target) + 1} of ${list.length}`;
  };
  $("next").addEventListener("click", () => jump(1));
  $("previous").addEventListener("click", () => jump(-1));

  let before = null;
  const unfold = (open) => {
    for (const node of all("details", main)) node.open = open;
  };
  $("unfold").addEventListener("click", (event) => {
    const button = event.currentTarget;
    const open = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(open));
    button.textContent = open ? "Fold all" : "Unfold all";
    unfold(open);
  });
  addEventListener("beforeprint", () => {
    before = all("details", main).map((node) => [node, node.open]);
    unfold(true);
  });
  addEventListener("afterprint", () => {
    for (const [node, open] of before || []) node.open = open;
    before = null;
  });

  const themes = ["auto", "light", "dark"];
  const paint = (theme) => {
    root.dataset.theme = theme;
    $("theme-name").textContent = theme;
  };
  let stored = null;
  try {
    stored = localStorage.getItem("agent-shell-report-theme");
  } catch {
    stored = null;
  }
  paint(themes.includes(stored) ? stored : "auto");
  $("theme").addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
    paint(next);
    try {
      localStorage.setItem("agent-shell-report-theme", next);
    } catch {
      return;
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === "Escape") {
        search.value = "";
        words = [];
        show();
        search.blur();
      }
      return;
    }
    if (event.key === "/") {
      event.preventDefault();
      search.focus();
    } else if (event.key === "n") jump(1);
    else if (event.key === "p") jump(-1);
  });

  if ("IntersectionObserver" in window) {
    const observer = new IntersectionObserver(
      (seen) => {
        for (const one of seen) {
          const entry = entries.get(one.target.id);
          if (entry) entry.classList.toggle("here", one.isIntersecting);
        }
      },
      { rootMargin: "-15% 0px -75% 0px" },
    );
    for (const goal of goals) observer.observe(goal.node);
  }
  $("tools").hidden = false;
})();
