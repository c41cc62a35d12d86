-- What an org has decided about all mail that it sends.

-- +goose Up

CREATE TABLE org_sending (
    org_id                uuid        PRIMARY KEY,
    postal_address        text,                                -- NULL: none
    default_purpose       text        NOT NULL CHECK (default_purpose IN ('personal', 'marketing')),
    daily_cap             int         CHECK (daily_cap > 0),   -- mails of all mailboxes in any 24 hours; NULL: none
    domain_daily_cap      int         CHECK (domain_daily_cap > 0), -- automated mails to one domain of a company
    blocked_countries     text[]      NOT NULL,                -- ISO 3166-1 alpha-2
    stop_on_reply         boolean     NOT NULL,
    stop_on_company_reply boolean     NOT NULL,
    stop_on_deal_won      boolean     NOT NULL,
    track_opens           boolean     NOT NULL,
    track_clicks          boolean     NOT NULL,
    updated_at            timestamptz NOT NULL,
    edit                  int         NOT NULL
);
CALL tenant('org_sending');
