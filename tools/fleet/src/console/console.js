// Keeps an open page up to date, and shows times as the reader's clock has them. Without it, every page works when it is loaded again.
(() => {
  "use strict";

  // The least time between two loads of the page.
  const PACE = 400;

  // How often the page says anew how long ago something was.
  const AGE = 20_000;

  // How long a question cannot be answered after another one has taken its place.
  const READ = 700;

  // The mission whose news concern this page; every news does where it is empty, and none where it is not there.
  const { mission, after, stream } = document.body.dataset;
  const connection = document.getElementById("connection");
  const says = document.getElementById("says");
  let known = new Date();
  let isLoading = false;
  let isStale = false;
  let isLost = false;

  // What was just done stands in the address: a reload does not say it again.
  const said = document.getElementById("said");
  if (said) {
    speak(said.textContent);
    const address = new URL(location.href);
    address.searchParams.delete("said");
    history.replaceState(null, "", address);
  }
  localise(document);
  setInterval(() => age(document), AGE);
  if (mission !== undefined) {
    let leave = follow(stream, Number(after), hear);
    addEventListener("pagehide", () => { leave(); });
    // A page that the browser has kept shows what was there when it was left.
    addEventListener("pageshow", ({ persisted }) => {
      if (!persisted) return;
      leave = follow(stream, Number(after), hear);
      refresh();
    });
    document.addEventListener("visibilitychange", () => { if (!document.hidden && isStale) refresh(); });
  }

  function hear({ kind, missions }) {
    if (kind === "news") {
      if (!mission || !missions || missions.includes(mission)) refresh();
    } else if (kind === "lost") {
      isLost = true;
      connection.textContent = `The gateway does not answer. This page shows what was known at ${known.toLocaleTimeString()}.`;
    } else if (isLost) {
      isLost = false;
      connection.textContent = "";
      refresh();
    }
  }

  // Loads the page again and takes over what differs. News that come meanwhile cause one more load.
  async function refresh() {
    if (isLoading || document.hidden) {
      isStale = true;
      return;
    }
    isLoading = true;
    isStale = false;
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (answer.redirected && new URL(answer.url).pathname === "/console/login") {
        connection.textContent = "Your session has ended. Load the page again to sign in.";
      } else if (answer.status < 500) {
        takeOver(new DOMParser().parseFromString(await answer.text(), "text/html"));
        known = new Date();
      }
    } catch {
      // The stream of news says when the gateway is there again.
    }
    setTimeout(() => {
      isLoading = false;
      if (isStale) refresh();
    }, PACE);
  }

  function takeOver(fresh) {
    localise(fresh);
    document.title = fresh.title;
    const [now, next] = [document.getElementById("main"), fresh.getElementById("main")];
    if (!now || !next) return;
    const [before, after] = [now.dataset.says, next.dataset.says];
    const [nav, nextNav] = [document.querySelector(".top nav"), fresh.querySelector(".top nav")];
    if (nav && nextNav) become(nav, nextNav);
    const asked = questions();
    const focused = document.activeElement;
    become(now, next);
    // A click that was meant for another question does nothing.
    for (const [id, question] of questions()) {
      if (asked.get(id) !== question) hold(document.getElementById(id), focused);
    }
    if (after && before !== after) speak(after);
  }

  function questions() {
    return new Map([...document.querySelectorAll("[data-question]")].map((it) => [it.id, it.dataset.question]));
  }

  function hold(element, focused) {
    element.inert = true;
    setTimeout(() => {
      element.inert = false;
      if (document.activeElement === document.body && focused.isConnected) focused.focus();
    }, READ);
  }

  // Makes a node like another one, and leaves alone what a person has opened, chosen or focused.
  function become(now, next) {
    if (now.isEqualNode(next)) return;
    if (now.nodeType !== next.nodeType || now.nodeName !== next.nodeName || now.id !== next.id) {
      now.replaceWith(document.importNode(next, true));
      return;
    }
    if (now.nodeType !== Node.ELEMENT_NODE) {
      now.nodeValue = next.nodeValue;
      return;
    }
    // A form in use keeps its key, and what is written in it.
    if (now.matches("select, textarea, input:not([type=hidden])")) return;
    for (const { name } of [...now.attributes]) {
      if (!next.hasAttribute(name) && !(name === "open" && now.nodeName === "DETAILS")) now.removeAttribute(name);
    }
    for (const { name, value } of [...next.attributes]) {
      if (now.getAttribute(name) !== value) now.setAttribute(name, value);
    }
    const byId = new Map([...now.children].filter((it) => it.id).map((it) => [it.id, it]));
    let place = now.firstChild;
    for (const child of [...next.childNodes]) {
      const same = child.id ? byId.get(child.id) : place && !place.id && place.nodeName === child.nodeName ? place : null;
      if (!same) {
        now.insertBefore(document.importNode(child, true), place);
        continue;
      }
      if (same === place) place = place.nextSibling;
      else now.insertBefore(same, place);
      become(same, child);
    }
    while (place) {
      const after = place.nextSibling;
      place.remove();
      place = after;
    }
  }

  function speak(text) {
    if (says) says.textContent = text;
  }

  function localise(root) {
    for (const time of root.querySelectorAll("time[datetime]")) {
      const date = new Date(time.dateTime);
      if (Number.isNaN(date.getTime())) continue;
      const isToday = date.toDateString() === new Date().toDateString();
      time.title = time.textContent;
      time.textContent = isToday ? date.toLocaleTimeString() : date.toLocaleString();
    }
    age(root);
  }

  // How long ago a time is stands beside it.
  function age(root) {
    for (const ago of root.querySelectorAll("time + .ago")) {
      const passed = Date.now() - new Date(ago.previousElementSibling.dateTime).getTime();
      if (!Number.isNaN(passed)) ago.textContent = `(${inWords(Math.floor(passed / 60_000))})`;
    }
  }

  function inWords(minutes) {
    if (minutes < 1) return "just now";
    if (minutes < 60) return `${minutes} min ago`;
    return minutes < 1440 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1440)} d ago`;
  }
})();
