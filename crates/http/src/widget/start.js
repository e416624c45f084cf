/** The beginning: reads the attributes of the script, asks the server what to show, and gives the page its functions. */

import { panelOf } from './panel.js';
import { Service } from './service.js';

/** Who an identity is of: a new one of the same person changes nothing that is shown. @param {string | null} identity */
function subject(identity) {
  try {
    return JSON.parse(atob(identity.split('.')[1].replace(/-/g, '+').replace(/_/g, '/'))).sub;
  } catch {
    return identity;
  }
}

/** @param {HTMLScriptElement} script */
async function start({ src, dataset }) {
  const { token, target, open } = dataset;
  const isPage = 'page' in dataset;
  const service = new Service(src.replace(/widget(\/[^/]+\/widget)?\.js([?#].*)?$/, ''), token);
  const [, given] = isPage && /^#identity=(.+)/.exec(location.hash) || [];
  if (given) history.replaceState(null, '', location.pathname);
  service.identity = given || dataset.identity || null;
  const ready = service.send('GET', '').then(async (answer) => {
    const place = target && document.querySelector(target);
    const host = document.createElement('div');
    // A page that draws itself anew in place may embed its chat once more.
    document.getElementById(service.place)?.remove();
    host.id = service.place;
    (place || document.body).append(host);
    return panelOf(service, await answer.json(), isPage ? 'page' : place ? 'inline' : 'float', host);
  });
  /** What is called before the server has answered is done afterwards. @param {(panel: ReturnType<typeof panelOf>, ...each: any[]) => void} work */
  const soon = (work) => (/** @type {any[]} */ ...each) => {
    ready.then((panel) => work(panel, ...each), () => {});
  };
  window.cicerone = {
    open: soon((panel) => panel.open()),
    close: soon((panel) => panel.close()),
    ask: soon((panel, text) => panel.ask(`${text}`)),
    identify: soon((panel, identity) => {
      if (identity && subject(identity) === subject(service.identity)) service.identity = identity;
      else panel.become(identity || null);
    }),
    reset: soon((panel) => {
      service.keep(null);
      panel.become(null);
    }),
  };
  if (open !== undefined) window.cicerone.open();
  ready.catch(({ message }) => console.warn('Cicerone: no chat:', message));
}

const script = /** @type {HTMLScriptElement | null} */ (document.currentScript);
if (script) {
  if (document.body) start(script);
  else addEventListener('DOMContentLoaded', () => start(script));
} else {
  // The console imports this file to show how a widget will look.
  window.ciceronePreview = panelOf;
}
