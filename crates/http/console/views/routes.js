/** Which view an address shows, and which permissions it needs. */

import { agentSettings } from './agent-settings.js';
import { agentsView, askable } from './agents.js';
import { auditView } from './audit.js';
import { checksView } from './checks.js';
import { conversationView } from './conversation.js';
import { conversationsView } from './conversations.js';
import { documentView } from './document.js';
import { gapsView } from './gaps.js';
import { healthView } from './health.js';
import { keysView } from './keys.js';
import { overview } from './overview.js';
import { playground } from './playground.js';
import { sourceView } from './source.js';
import { sourcesView } from './sources.js';
import { usageView } from './usage.js';
import { widgetView } from './widget.js';
import { widgetsView } from './widgets.js';
import { webhookView } from './webhook.js';
import { webhooksView } from './webhooks.js';
import { can } from '../lib/session.js';

/** @typedef {{path: string, needs: string[], view: (context: import('../app.js').Context) => import('../app.js').View}} Route */

/** @param {import('../app.js').Context} context */
const start = (context) => (can('agents:read') ? agentsView : can('conversations:write') ? askable : healthView)(context);

/** @type {Route[]} */
export const routes = [
  { path: '/', needs: [], view: start },
  { path: '/agents', needs: [], view: start },
  { path: '/agents/:agent', needs: ['agents:read'], view: overview },
  { path: '/agents/:agent/playground', needs: ['conversations:write'], view: playground },
  { path: '/agents/:agent/sources', needs: ['sources:read'], view: sourcesView },
  { path: '/agents/:agent/sources/:source', needs: ['sources:read'], view: sourceView },
  { path: '/agents/:agent/sources/:source/documents/:document', needs: ['sources:read'], view: documentView },
  { path: '/agents/:agent/conversations', needs: ['conversations:read'], view: conversationsView },
  { path: '/agents/:agent/conversations/:conversation', needs: ['conversations:read'], view: conversationView },
  { path: '/agents/:agent/gaps', needs: ['conversations:read'], view: gapsView },
  { path: '/agents/:agent/checks', needs: ['agents:read'], view: checksView },
  { path: '/agents/:agent/widgets', needs: ['agents:read'], view: widgetsView },
  { path: '/agents/:agent/widgets/:widget', needs: ['agents:read'], view: widgetView },
  { path: '/agents/:agent/settings', needs: ['agents:read'], view: agentSettings },
  { path: '/usage', needs: ['agents:read'], view: usageView },
  { path: '/keys', needs: ['keys:read'], view: keysView },
  { path: '/webhooks', needs: ['webhooks:read'], view: webhooksView },
  { path: '/webhooks/:endpoint', needs: ['webhooks:read'], view: webhookView },
  { path: '/audit', needs: ['keys:read'], view: auditView },
  { path: '/health', needs: [], view: healthView },
];
