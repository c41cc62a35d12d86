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

// Service answers orgs' rights. It is safe for concurrent use.
type Service struct {
	*Catalogue
	db    *postgres.DB
	cache cache
}

// NewService reads by db, which is of the App role. A nil catalogue is the standard one.
func NewService(db *postgres.DB, c *Catalogue) *Service {
	if c == nil {
		c = Standard()
	}
	return &Service{Catalogue: c, db: db}
}

// Standing is an org's rights and what it has used of them.
type Standing struct {
	Rights
	Version int64            // entitlement_version
	Used    map[string]int64 // of features with a limit that is counted, and the AI tokens of this month
}

// standingSQL costs a look at four primary keys. The month's tokens are internal/ai's and are kept there; they are read
// here because a second question would double what each request for the rights waits for.
const standingSQL = `
SELECT s.entitlement_version, coalesce(o.parent_org_id, '00000000-0000-0000-0000-000000000000'), clock_timestamp(),
	q.features, q.used, coalesce((SELECT a.used FROM ai_quota a WHERE a.org_id = $1 AND a.period = date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')::date), 0)
FROM subscription s JOIN org o ON o.id = s.org_id,
	LATERAL (SELECT coalesce(array_agg(feature), '{}'), coalesce(array_agg(used), '{}') FROM quota WHERE org_id = $1) AS q (features, used)
WHERE s.org_id = $1`

// Of is what org may use now. It asks the database for the version of the rights and for what is used, so it is
// never behind a commit; the rights themselves come from memory while that version and the agency's stand.
func (s *Service) Of(ctx context.Context, org id.ID) (*Standing, error) {
	var (
		out      Standing
		parent   id.ID
		agency   int64
		at       time.Time
		features []string
		used     []int64
		tokens   int64
	)
	err := s.db.Point(ctx, org, standingSQL, []any{org}, func(row pgx.CollectableRow) error {
		return row.Scan(&out.Version, &parent, &at, &features, &used, &tokens)
	})
	if err == nil && !parent.IsZero() {
		err = s.db.Point(ctx, parent, `SELECT entitlement_version FROM subscription WHERE org_id = $1`, []any{parent}, func(row pgx.CollectableRow) error {
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
	if e, ok := s.cache.get(org); ok && e.version == out.Version && e.agency == agency && (e.rights.Until.IsZero() || at.Before(e.rights.Until)) {
		out.Rights = e.rights
		return &out, nil
	}
	err = s.db.View(ctx, org, func(tx *postgres.Tx) error {
		r, f, err := s.rights(ctx, tx)
		if err == nil {
			out.Rights, out.Version = r, f.version
			s.cache.put(org, entry{version: f.version, agency: f.agency, rights: r})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// Need refuses, with feature_not_in_plan, an org that has not the feature.
func (s *Service) Need(ctx context.Context, org id.ID, feature string) error {
	now, err := s.Of(ctx, org)
	if err != nil || now.Has(feature) {
		return err
	}
	return s.Lacks(&now.Rights, feature)
}

// orNull is a word for JSON, null for none.
func orNull(word string) any {
	if word == "" {
		return nil
	}
	return word
}

// entry is an org's rights as they were computed. The map in it is shared and never written again.
type entry struct {
	version, agency int64
	rights          Rights
}

// cache is bounded: when the young half is full it becomes the old one, and the one before is forgotten.
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
