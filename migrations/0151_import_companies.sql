-- Imports of contacts that find companies by name or domain, and make the others if they are asked to.

-- +goose Up

ALTER TABLE contact_import ADD COLUMN create_companies boolean NOT NULL DEFAULT false;
