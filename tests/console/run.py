"""The console in a real browser. Called by console.sh."""

import sys

from playwright.sync_api import sync_playwright

import book
import focus
import forms
import hostile
import keyboard
import lists
import long
import look
import museum
import newcomer
import restricted
import said
import speed
import units
import unsent
import visitors
import widget
import world


def main():
    axe = sys.argv[1]
    wanted = sys.argv[2:]
    with sync_playwright() as playwright, world.site(museum.pages) as site, world.site(lambda *_: (204, "text/plain", b"")) as hook:
        browser = world.launch(playwright)
        address = f"{hook}/hook"
        made = {}
        steps = {
            "speed": lambda: speed.speed(browser),
            "units": lambda: units.units(browser),
            "newcomer": lambda: newcomer.newcomer(browser, address),
            "keyboard": lambda: keyboard.keyboard(browser, address),
            "focus": lambda: focus.focus(browser),
            "forms": lambda: forms.forms(browser),
            "unsent": lambda: unsent.unsent(browser),
            "long": lambda: long.long(browser),
            "said": lambda: said.said(browser),
            "lists": lambda: lists.lists(browser),
            "museum": lambda: made.update(museum.build(site, address)),
            "restricted": lambda: restricted.restricted(browser, made),
            "look": lambda: look.look(browser, made, museum.views(made), axe),
            "widget": lambda: widget.widget(browser, axe),
            "visitors": lambda: visitors.visitors(browser),
            "hostile": lambda: hostile.hostile(browser, hook),
            # Needs a server whose book has a widget.
            "book": lambda: book.book(browser),
        }
        for name, step in steps.items():
            if name not in (wanted or steps.keys() - {"book"}):
                continue
            step()
            print(f"console: {name}", flush=True)
        browser.close()
    print("console: all is well")


if __name__ == "__main__":
    main()
