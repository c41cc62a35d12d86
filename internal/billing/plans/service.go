package plans

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Service returns the rights of orgs. It is safe for concurrent use.
type Service struct {
	*Catalogue
	db    *postgres.DB
	cache cache
}

// NewService returns a Service that reads db, which must have the App role. A nil catalogue means the standard one.
func NewService(db *postgres.DB, c *Catalogue) *Service {
	if c == nil {
		c = Standard()
	}
	return &Service{Catalogue: c, db: db}
}

// Entitlements are an org's rights and their use.
type Entitlements struct {
	Rights
	Version int64            // entitlement_version
	Used    map[string]int64 // of features with a counted limit, and this month's AI tokens and emails
}

// standingSQL costs five primary-key look-ups. The AI tokens belong to internal/ai; they are read here, because a
// second query would double the latency of each request for the rights.
const standingSQL = `
SELECT s.entitlement_version, coalesce(o.parent_org_id, '00000000-0000-0000-0000-000000000000'), clock_timestamp(),
	q.features, q.used, coalesce((SELECT a.used FROM ai_quota a WHERE a.org_id = $1
	AND a.period = date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')::date), 0), emails_used($1)
FROM subscription s JOIN org o ON o.id = s.org_id,
	LATERAL (SELECT coalesce(array_agg(feature), '{}'), coalesce(array_agg(used), '{}') FROM quota
	WHERE org_id = $1) AS q (features, used)
WHERE s.org_id = $1`

// Of returns the current rights and use of org. It reads the version of the rights and the use from the database, so it
// never lags behind a commit. The rights are cached as long as that version and the agency's are unchanged.
func (s *Service) Of(ctx context.Context, org id.ID) (*Entitlements, error) {
	var (
		out      Entitlements
		parent   id.ID
		agency   int64
		at       time.Time
		features []string
		used     []int64
		tokens   int64
		emails   int64
	)

	err := s.db.BatchedGet(ctx, org, standingSQL, []any{org}, func(row pgx.CollectableRow) error {
		return row.Scan(&out.Version, &parent, &at, &features, &used, &tokens, &emails)
	})
	if err == nil && !parent.IsZero() {
		err = s.db.BatchedGet(ctx, parent, `SELECT entitlement_version FROM subscription WHERE org_id = $1`,
			[]any{parent}, func(row pgx.CollectableRow) error {
				return row.Scan(&agency)
			})
	}
	if err != nil {
		return nil, fmt.Errorf("read entitlements: %w", err)
	}

	out.Used = make(map[string]int64, len(features)+1)
	out.Used[AITokens] = tokens
	for i, name := range features {
		out.Used[name] = used[i]
	}

	out.Used[EmailsMonth] = emails
	if e, ok := s.cache.get(org); ok && e.version == out.Version && e.agency == agency &&
		(e.rights.Until.IsZero() || at.Before(e.rights.Until)) {
		out.Rights = e.rights
		return &out, nil
	}

	err = s.db.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		r, f, err := s.readRights(ctx, tx)
		if err == nil {
			out.Rights = r
			out.Version = f.version
			s.cache.put(org, entry{version: f.version, agency: f.agency, rights: r})
		}
		return err
	})
	if err != nil {
		return nil, err
	}

	return &out, nil
}

// Need returns feature_not_in_plan if the org does not have the feature.
func (s *Service) Need(ctx context.Context, org id.ID, feature string) error {
	now, err := s.Of(ctx, org)
	if err != nil || now.Has(feature) {
		return err
	}
	return s.Lacks(&now.Rights, feature)
}

// orNull returns word as a JSON value; "" is null.
func orNull(word string) any {
	if word == "" {
		return nil
	}
	return word
}

// entry is a cached computation of an org's rights. Its map is shared and must not be modified.
type entry struct {
	version, agency int64
	rights          Rights
}

// cache is bounded by two generations: when the young one is full, it replaces the old one, which is dropped.
type cache struct {
	mu         sync.Mutex
	young, old map[id.ID]entry
}

const half = 1 << 13

func (c *cache) get(org id.ID) (entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	e, ok := c.young[org]
	if !ok {
		if e, ok = c.old[org]; ok {
			c.store(org, e)
		}
	}

	return e, ok
}

func (c *cache) put(org id.ID, e entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.store(org, e)
}

func (c *cache) store(org id.ID, e entry) {
	if c.young == nil || len(c.young) >= half {
		c.young, c.old = make(map[id.ID]entry), c.young
	}
	c.young[org] = e
}
