-- Which entry of a file of declared objects an object is. Two versions of a source may exist at the same time.
ALTER TABLE agents ADD COLUMN managed_set TEXT;
ALTER TABLE agents ADD COLUMN managed_key TEXT;
ALTER TABLE agents ADD COLUMN managed_hash TEXT;
ALTER TABLE sources ADD COLUMN managed_set TEXT;
ALTER TABLE sources ADD COLUMN managed_key TEXT;
ALTER TABLE sources ADD COLUMN managed_hash TEXT;
ALTER TABLE webhook_endpoints ADD COLUMN managed_set TEXT;
ALTER TABLE webhook_endpoints ADD COLUMN managed_key TEXT;
ALTER TABLE webhook_endpoints ADD COLUMN managed_hash TEXT;
ALTER TABLE api_keys ADD COLUMN managed_set TEXT;
ALTER TABLE api_keys ADD COLUMN managed_key TEXT;
ALTER TABLE api_keys ADD COLUMN managed_hash TEXT;
CREATE UNIQUE INDEX agents_managed ON agents (account_id, managed_set, managed_key) WHERE managed_set IS NOT NULL;
CREATE UNIQUE INDEX webhook_endpoints_managed ON webhook_endpoints (account_id, managed_set, managed_key) WHERE managed_set IS NOT NULL;
CREATE UNIQUE INDEX api_keys_managed ON api_keys (account_id, managed_set, managed_key) WHERE managed_set IS NOT NULL;
CREATE UNIQUE INDEX sources_managed ON sources (agent_id, managed_set, managed_key, managed_hash)
    WHERE managed_set IS NOT NULL;
