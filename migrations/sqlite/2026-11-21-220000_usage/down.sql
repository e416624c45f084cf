DROP TABLE usage_days;
ALTER TABLE accounts DROP COLUMN tokens_per_month;
ALTER TABLE accounts DROP COLUMN messages_per_month;
ALTER TABLE agents DROP COLUMN retention_days;
