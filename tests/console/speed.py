"""How soon the console can be used: printed, and not judged, since machines differ."""

import statistics

from world import KEY, SERVER

ROUNDS = 5
# When the field for the key, or the heading of a view, can be seen and the page has time for input again.
WATCH = """addEventListener('DOMContentLoaded', () => { const seen = () => {
  if (!document.querySelector('#app input, #app h1')) return requestAnimationFrame(seen);
  const channel = new MessageChannel();
  channel.port1.onmessage = () => { window.__usable = performance.now(); };
  channel.port2.postMessage(null);
}; seen(); });"""


def speed(browser):
    """Loads the console with an empty cache, signed out and signed in; prints medians in milliseconds."""
    figures = {}
    for name, key in (("signed out", ""), ("signed in", KEY)):
        times = []
        for _ in range(ROUNDS):
            context = browser.new_context(viewport={"width": 1280, "height": 860})
            context.add_init_script(WATCH + (f"sessionStorage.setItem('cicerone-key', {key!r});" if key else ""))
            page = context.new_page()
            page.goto(f"{SERVER}/console")
            # The policy of the page forbids what `wait_for_function` does.
            while page.evaluate("window.__usable === undefined"):
                page.wait_for_timeout(20)
            times.append(page.evaluate("window.__usable"))
            context.close()
        figures[name] = statistics.median(times)
    print("console: usable after " + ", ".join(f"{time:.0f} ms {name}" for name, time in figures.items()) + f" (medians of {ROUNDS} loads with an empty cache)")
