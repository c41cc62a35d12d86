-- Mailboxes that an org sends from, the addresses it does not write to, and the key that its hashes are made with.

-- +goose Up

-- org_key: a random key of the org, sealed. It never changes, because what was hashed with it is stored: addresses that
-- outlive their contact, Message-IDs. The zero org's key is the platform's, and every org reads it.
CREATE TABLE org_key (
    org_id     uuid        PRIMARY KEY,
    sealed     bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CALL tenant('org_key');
CREATE POLICY platform ON org_key FOR SELECT TO funnelwork_app USING (org_id = '00000000-0000-0000-0000-000000000000');
CALL system('org_key', 'SELECT, UPDATE');

CREATE TABLE mailbox (
    org_id            uuid        NOT NULL,
    id                uuid        NOT NULL,
    name              text        NOT NULL,
    kind              text        NOT NULL CHECK (kind IN ('smtp', 'google', 'microsoft', 'sandbox')),
    from_email        text        NOT NULL,
    from_folded       text        COLLATE "C" NOT NULL, -- what addresses are compared by
    from_domain       text        COLLATE "C" NOT NULL, -- lower case, in its ASCII form
    from_name         text        NOT NULL DEFAULT '',
    reply_to          text,
    smtp_host         text        NOT NULL DEFAULT '',  -- '': the kind has a server of its own
    smtp_port         int         NOT NULL DEFAULT 0,
    smtp_tls          text        NOT NULL DEFAULT 'tls' CHECK (smtp_tls IN ('tls', 'starttls', 'none')),
    smtp_username     text        NOT NULL DEFAULT '',
    smtp_password     bytea,                            -- sealed
    imap_host         text        NOT NULL DEFAULT '',  -- '': the mailbox is not read
    imap_port         int         NOT NULL DEFAULT 0,
    imap_tls          text        NOT NULL DEFAULT 'tls' CHECK (imap_tls IN ('tls', 'starttls', 'none')),
    imap_username     text        NOT NULL DEFAULT '',
    imap_password     bytea,                            -- sealed
    imap_uidvalidity  bigint,
    imap_uidnext      bigint,
    social_account_id uuid,                             -- whose login google and microsoft sign in with
    daily_cap         int         CHECK (daily_cap BETWEEN 1 AND 10000), -- in any 24 hours; NULL: none
    gap_min           int         NOT NULL DEFAULT 30 CHECK (gap_min >= 0), -- seconds between automated mails
    gap_max           int         NOT NULL DEFAULT 120 CHECK (gap_max >= gap_min),
    rate_per_second   int         CHECK (rate_per_second >= 1),
    ramp_start        int,                              -- NULL: the cap holds from the first day
    ramp_step         int         NOT NULL DEFAULT 5,
    ramp_allowed      int,                              -- what the ramp allows now
    ramp_on           date,                             -- the last day that ramp_allowed was computed for
    time_zone         text        NOT NULL DEFAULT '',
    track_opens       boolean     NOT NULL DEFAULT false,
    track_clicks      boolean     NOT NULL DEFAULT false,
    signature_html    text        NOT NULL DEFAULT '',
    owner_id          uuid,
    status            text        NOT NULL CHECK (status IN ('unverified', 'active', 'held', 'disabled')),
    status_reason     text        NOT NULL DEFAULT '',
    held_until        timestamptz,                      -- NULL while held: until it is resumed
    verified_at       timestamptz,                      -- of the last test mail that was accepted
    next_slot_at      timestamptz,                      -- before it no automated mail is sent
    check_id          text        NOT NULL DEFAULT '',  -- Message-ID of the last test mail
    checked_at        timestamptz,
    sent_proof        boolean     NOT NULL DEFAULT false, -- the last test mail was found in the Sent folder
    inbound_hash      bytea,                            -- of the token in the address that takes its incoming mail
    health_sent       int         NOT NULL DEFAULT 0,   -- of its last 200 mails
    health_bounced    int         NOT NULL DEFAULT 0,
    health_complained int         NOT NULL DEFAULT 0,
    health_from       uuid,                             -- mails up to it do not count any more
    spf               text        NOT NULL DEFAULT 'unknown',
    dkim              text        NOT NULL DEFAULT 'unknown',
    dmarc             text        NOT NULL DEFAULT 'unknown',
    domain_checked_at timestamptz,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    archived_at       timestamptz,
    edit              int         NOT NULL DEFAULT 1,
    computed          int         NOT NULL DEFAULT 0,   -- the ETag's second part: states, checks, health
    PRIMARY KEY (org_id, id)
);
-- One live mailbox per address.
CREATE UNIQUE INDEX mailbox_from ON mailbox (org_id, from_folded) WHERE archived_at IS NULL;
CREATE UNIQUE INDEX mailbox_inbound ON mailbox (inbound_hash);
CREATE INDEX mailbox_slot ON mailbox (next_slot_at) WHERE archived_at IS NULL;
-- What the sweeps look for: holds that end, and domains that were checked long ago.
CREATE INDEX mailbox_held ON mailbox (held_until) WHERE status = 'held' AND held_until IS NOT NULL AND archived_at IS NULL;
CREATE INDEX mailbox_domain ON mailbox (domain_checked_at) WHERE archived_at IS NULL;
CALL tenant('mailbox');
CALL system('mailbox', 'SELECT, UPDATE');

-- The hash is HMAC(org key, folded address or domain). The address itself goes with the contact; the hash stays, so that
-- no import brings the person back. Rows of the zero org are the platform's: every org obeys them, and none changes them.
CREATE TABLE suppression (
    org_id      uuid        NOT NULL,
    id          uuid        NOT NULL,
    kind        text        NOT NULL CHECK (kind IN ('email', 'domain')),
    hash        bytea       NOT NULL,
    address     text,
    purpose     text        NOT NULL CHECK (purpose IN ('marketing', 'all')),
    reason      text        NOT NULL,
    source      text        NOT NULL DEFAULT '',
    note        text        NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL,
    created_by  text        NOT NULL DEFAULT '',
    lifted_at   timestamptz,
    lift_reason text        NOT NULL DEFAULT '',
    lifted_by   text        NOT NULL DEFAULT '',
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX suppression_live ON suppression (org_id, hash, purpose) WHERE lifted_at IS NULL;
CREATE INDEX suppression_hash ON suppression (org_id, hash);
CALL tenant('suppression');
CREATE POLICY platform ON suppression FOR SELECT TO funnelwork_app USING (org_id = '00000000-0000-0000-0000-000000000000');
