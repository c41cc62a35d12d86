-- A host of an org's own for the links of its mail, claimed and proven as the host of its pages is.

-- +goose Up

ALTER TABLE domain ADD COLUMN use text COLLATE "C" NOT NULL DEFAULT 'pages' CHECK (use IN ('pages', 'links'));
-- One host for each use. The version before knows one host of an org: it refuses to read the domain of an org that has
-- claimed a second one, which only this version does.
CREATE UNIQUE INDEX domain_use ON domain (org_id, use) WHERE status <> 'removed';
DROP INDEX domain_one;

ALTER TABLE org_sending ADD COLUMN tracking_domain text; -- lower case, punycode; NULL: the platform's
