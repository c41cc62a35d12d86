-- Events, deliveries and attempts may be kept shorter for some plans than for others: then the retention job deletes rows
-- from days that stay. It sees their keys and nothing else.

-- +goose Up
CREATE POLICY retention ON event FOR DELETE TO funnelwork_system USING (true);
GRANT DELETE ON event TO funnelwork_system;

CREATE POLICY system ON webhook_delivery TO funnelwork_system USING (true) WITH CHECK (false);
GRANT SELECT (org_id, id), DELETE ON webhook_delivery TO funnelwork_system;

CREATE POLICY system ON webhook_attempt TO funnelwork_system USING (true) WITH CHECK (false);
GRANT SELECT (org_id, id), DELETE ON webhook_attempt TO funnelwork_system;
