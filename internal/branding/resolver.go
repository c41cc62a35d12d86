package branding

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Fresh is how long what is shown of an org is remembered: as long as a role. A page that is asked for more often than
// that costs no query, and a change of settings or plan shows everywhere this long after its commit at the latest.
const Fresh = time.Second

// Resolver answers what is shown of an org. It is safe for concurrent use.
type Resolver struct {
	db     *postgres.DB
	rights func(context.Context, id.ID) (Rights, error)

	mu         sync.Mutex
	young, old map[id.ID]memory // when young is full it becomes old, and what was old is forgotten
}

type memory struct {
	shown Shown
	at    time.Time
}

const half = 1 << 12

// Plan is what an org may use of the product.
type Plan interface{ Has(feature string) bool }

// RightsOf is what a plan's features mean for a brand.
func RightsOf(p Plan) Rights {
	return Rights{WhiteLabel: p.Has("white_label"), HideBrand: p.Has("hide_brand")}
}

// ByPlan are the rights of a resolver that asks of for an org's plan.
func ByPlan[P Plan](of func(context.Context, id.ID) (P, error)) func(context.Context, id.ID) (Rights, error) {
	return func(ctx context.Context, org id.ID) (Rights, error) {
		p, err := of(ctx, org)
		if err != nil {
			return Rights{}, err
		}
		return RightsOf(p), nil
	}
}

// NewResolver reads settings by db, of the App role; rights asks an org's plan.
func NewResolver(db *postgres.DB, rights func(context.Context, id.ID) (Rights, error)) *Resolver {
	return &Resolver{db: db, rights: rights}
}

// Of is what is shown of org; of none (a zero id), and of one that there is not, the platform.
func (r *Resolver) Of(ctx context.Context, org id.ID) (Shown, error) {
	if org.IsZero() {
		return Platform, nil
	}
	now := time.Now()
	if m, ok := r.get(org); ok && now.Sub(m.at) < Fresh {
		return m.shown, nil
	}
	own, parent, err := r.party(ctx, org)
	if postgres.None(err) {
		return Platform, nil
	}
	var agency *Party
	if err == nil && !parent.IsZero() {
		agency, _, err = r.party(ctx, parent)
	}
	if err != nil {
		return Shown{}, err
	}
	shown := Show(*own, agency)
	r.put(org, memory{shown, now})
	return shown, nil
}

const partySQL = `SELECT ` + columns + `, coalesce(o.parent_org_id, '00000000-0000-0000-0000-000000000000')
FROM org o LEFT JOIN brand b ON b.org_id = o.id WHERE o.id = $1`

// party is an org with its rights, and the agency that it is a client of.
func (r *Resolver) party(ctx context.Context, org id.ID) (*Party, id.ID, error) {
	var (
		found  row
		parent id.ID
	)
	err := r.db.Point(ctx, org, partySQL, []any{org}, func(c pgx.CollectableRow) error { return c.Scan(append(found.targets(), &parent)...) })
	if err != nil {
		return nil, parent, fmt.Errorf("read brand: %w", err)
	}
	p := &Party{Settings: *found.settings()}
	if p.Settings.Edit > 0 { // without settings there is nothing that a right could show
		p.Rights, err = r.rights(ctx, org)
	}
	return p, parent, err
}

// Forget drops what is remembered of org: whoever has just changed it sees the change.
func (r *Resolver) Forget(org id.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.young, org)
	delete(r.old, org)
}

func (r *Resolver) get(org id.ID) (memory, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.young[org]
	if !ok {
		m, ok = r.old[org]
	}
	return m, ok
}

func (r *Resolver) put(org id.ID, m memory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.young == nil || len(r.young) >= half {
		r.young, r.old = make(map[id.ID]memory), r.young
	}
	r.young[org] = m
}
