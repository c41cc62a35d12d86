-- What an org looks like to the people that it serves: its name, colours and logo, and whether the platform's own name is
-- to be hidden. hide_brand is a wish: whether it holds is for the plan to say, whenever something is shown.

-- +goose Up

-- An org without a row has the platform's looks. The four colours are written together, so that a row's pairs were all
-- readable when it was written.
CREATE TABLE brand (
    org_id           uuid        NOT NULL PRIMARY KEY REFERENCES org (id),
    brand_name       text        CHECK (length(brand_name) BETWEEN 1 AND 80),
    color_primary    text        CHECK (color_primary ~ '^#[0-9a-f]{6}$'),
    color_accent     text        CHECK (color_accent ~ '^#[0-9a-f]{6}$'),
    color_background text        CHECK (color_background ~ '^#[0-9a-f]{6}$'),
    color_text       text        CHECK (color_text ~ '^#[0-9a-f]{6}$'),
    hide_brand       boolean     NOT NULL DEFAULT false,
    support_email    text        CHECK (length(support_email) <= 254),
    logo             bytea, -- as we wrote it, never as it was sent
    logo_type        text        CHECK (logo_type IN ('image/png', 'image/jpeg', 'image/svg+xml')),
    logo_digest      text        CHECK (logo_digest ~ '^[0-9a-f]{64}$'), -- SHA-256 of logo: its public address
    logo_width       int         CHECK (logo_width > 0),
    logo_height      int         CHECK (logo_height > 0),
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    edit             int         NOT NULL DEFAULT 1,
    CHECK (num_nulls(color_primary, color_accent, color_background, color_text) IN (0, 4)),
    CHECK (num_nulls(logo, logo_type, logo_digest, logo_width, logo_height) IN (0, 5))
);
CREATE INDEX brand_logo ON brand (logo_digest) WHERE logo_digest IS NOT NULL;
CALL tenant('brand');
CALL system('brand', 'SELECT');
