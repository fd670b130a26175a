// Two improvements of pages that work without a script: search while typing, and one-time links.
"use strict";

const PAUSE = 200; // milliseconds without a key before a search

function searchWhileTyping(form, results) {
  let timer = 0;
  let running = null;

  async function search() {
    running?.abort();
    running = new AbortController();
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    const address = new URL(form.action);
    address.search = new URLSearchParams(fields);
    const part = new URL(address);
    part.searchParams.set("part", "1");
    try {
      const answer = await fetch(part, { signal: running.signal, redirect: "error" });
      if (!answer.ok) {
        return;
      }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      results.replaceChildren(...page.body.childNodes);
      history.replaceState(null, "", address);
    } catch (error) {
      if (error.name !== "AbortError") {
        form.submit(); // the session has ended, or the server is away: the page says which
      }
    }
  }

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE);
  });
}

const form = document.getElementById("search");
if (form !== null) {
  searchWhileTyping(form, document.getElementById("results"));
}
document.getElementById("link")?.submit();
