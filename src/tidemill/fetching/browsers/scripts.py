"""The scripts that we run in a page: in an isolated world, where the page can neither see nor change them."""

WAIT = """
(selector, limit) => new Promise(done => {
  const found = () => document.querySelector(selector) !== null;
  if (found()) { done(true); return; }
  const watch = new MutationObserver(() => { if (found()) end(true); });
  const timer = setTimeout(() => end(false), limit);
  function end(came) { watch.disconnect(); clearTimeout(timer); done(came); }
  watch.observe(document, {childList: true, subtree: true, attributes: true});
})
"""
"""Resolves once an element fits the selector (true), or after `limit` milliseconds (false)."""

READ = """
limit => {
  const root = document.documentElement;
  const kind = document.doctype ? `<!DOCTYPE ${document.doctype.name}>\\n` : "";
  const markup = kind + (root ? root.outerHTML : "");
  const [arrival] = performance.getEntriesByType("navigation");
  return {
    markup: markup.slice(0, limit + 1),
    encoded: arrival ? arrival.encodedBodySize : 0,
    decoded: arrival ? arrival.decodedBodySize : 0,
  };
}
"""
"""The page's markup now, hardly more than `limit` characters of it, and its size on arrival."""

SETTLE = """
() => new Promise(done => setTimeout(() => setTimeout(done, 20), 20))
"""
"""Resolves after the page's scripts have had two turns to draw what was answered."""
