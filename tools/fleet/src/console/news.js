// Brings the news of the gateway to open pages. A browser has six connections to a gateway without HTTP/2, so all of its pages share one
// stream, which a shared worker holds; this file is loaded by pages, and by the worker. Where there are no shared workers, each page that is
// seen has a stream of its own.
(() => {
  "use strict";

  // When the browser has given a stream up, it is opened again after this time.
  const AGAIN = 2000;
  // An open stream brings news every few seconds. One that is silent for this long has lost its gateway, or its worker.
  const SILENT = 15000;
  const LOOK = 5000;

  if (typeof document === "undefined") serve();
  else globalThis.follow = (address, after, hear) => {
    if (typeof SharedWorker === "undefined") return whileSeen(after, hear);
    let close = shared(address, after, hear, () => { close = whileSeen(after, hear); });
    return () => close();
  };

  // The worker: tells every page what its stream brings.
  function serve() {
    const pages = new Set();
    let news = null;
    let isLost = false;
    const tell = (told) => {
      if (told.kind !== "news") isLost = told.kind === "lost";
      for (const page of pages) page.postMessage(told);
    };
    globalThis.addEventListener("connect", ({ ports: [page] }) => {
      page.addEventListener("message", ({ data: { after } }) => {
        if (after === null) pages.delete(page);
        else pages.add(page);
        if (pages.size === 0 && news) {
          news.close();
          news = null;
        } else if (pages.size > 0 && !news) {
          isLost = false;
          news = stream(after, tell);
        } else if (news) {
          if (isLost) page.postMessage({ kind: "lost" });
          if (news.newest() > after) page.postMessage({ kind: "news", missions: null });
        }
      });
      page.start();
    });
  }

  // Follows the stream of the worker. A worker that was ended is started again, and what was missed is looked for.
  function shared(address, after, hear, fail) {
    let page = null;
    let watch = null;
    let isOpen = true;
    join();
    return close;

    function join() {
      const worker = new SharedWorker(address, { name: "news" });
      const joined = worker.port;
      page = joined;
      watch = watchful(() => {
        leave();
        join();
        hear({ kind: "news", missions: null });
      });
      worker.addEventListener("error", () => {
        if (!isOpen || page !== joined) return;
        close();
        fail();
      });
      joined.addEventListener("message", ({ data }) => {
        if (page !== joined) return;
        watch.heard();
        hear(data);
      });
      joined.start();
      joined.postMessage({ after });
    }

    function leave() {
      watch.end();
      page.postMessage({ after: null });
      page.close();
    }

    function close() {
      isOpen = false;
      leave();
    }
  }

  // A stream of this page alone, which a page that nobody sees closes.
  function whileSeen(after, hear) {
    let news = null;
    const turn = () => {
      if (document.hidden && news) {
        after = news.newest();
        news.close();
        news = null;
      } else if (!document.hidden && !news) {
        news = stream(after, hear);
      }
    };
    document.addEventListener("visibilitychange", turn);
    turn();
    return () => {
      document.removeEventListener("visibilitychange", turn);
      if (news) news.close();
    };
  }

  // The news after this record, for as long as it is not closed.
  function stream(after, hear) {
    let newest = after;
    let source = null;
    let again = null;
    const watch = watchful(open);
    open();
    return {
      newest: () => newest,
      close: () => {
        watch.end();
        clearTimeout(again);
        source.close();
      },
    };

    function open() {
      if (source) source.close();
      const opened = new EventSource(`/console/events?after=${newest}`);
      source = opened;
      opened.addEventListener("news", (it) => {
        watch.heard();
        newest = Number(it.lastEventId);
        hear({ kind: "news", missions: JSON.parse(it.data).missions });
      });
      opened.addEventListener("open", () => {
        watch.heard();
        hear({ kind: "open" });
      });
      opened.addEventListener("error", () => {
        watch.heard();
        hear({ kind: "lost" });
        clearTimeout(again);
        if (opened === source && opened.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN);
      });
    }
  }

  // Acts where nothing was heard for too long. A browser slows the timers of pages that nobody sees: what it does late, it does.
  function watchful(act) {
    let last = Date.now();
    const timer = setInterval(() => {
      if (Date.now() - last < SILENT) return;
      last = Date.now();
      act();
    }, LOOK);
    return { heard: () => { last = Date.now(); }, end: () => clearInterval(timer) };
  }
})();
