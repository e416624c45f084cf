-- Deliveries that are over leave the index, so that it leads from one endpoint for which something waits
-- to the next.
DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_attempt_at, created_at, id)
WHERE next_attempt_at IS NOT NULL;
