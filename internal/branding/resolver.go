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

// Fresh is how long an org's appearance is cached, as long as a role. A page requested more often needs no query, and a
// change of settings or plan is visible everywhere at most this long after its commit.
const Fresh = time.Second

// Resolver returns the appearance of orgs. It is safe for concurrent use.
type Resolver struct {
	db     *postgres.DB
	rights func(context.Context, id.ID) (Rights, error)

	mu         sync.Mutex
	young, old map[id.ID]memory // two generations: a full young replaces old, which is dropped
}

type memory struct {
	shown Shown
	at    time.Time
}

const half = 1 << 12

// Plan reports the features of an org's plan.
type Plan interface{ Has(feature string) bool }

// RightsOf returns the branding rights of a plan.
func RightsOf(p Plan) Rights {
	return Rights{WhiteLabel: p.Has("white_label"), HideBrand: p.Has("hide_brand")}
}

// ByPlan returns a rights function for NewResolver that gets an org's plan from of.
func ByPlan[P Plan](of func(context.Context, id.ID) (P, error)) func(context.Context, id.ID) (Rights, error) {
	return func(ctx context.Context, org id.ID) (Rights, error) {
		p, err := of(ctx, org)
		if err != nil {
			return Rights{}, err
		}
		return RightsOf(p), nil
	}
}

// NewResolver returns a Resolver that reads settings from db, which must have the App role, and gets an org's rights
// from rights.
func NewResolver(db *postgres.DB, rights func(context.Context, id.ID) (Rights, error)) *Resolver {
	return &Resolver{db: db, rights: rights}
}

// Of returns the appearance of org. For the zero id and for an unknown org, it is the platform's.
func (r *Resolver) Of(ctx context.Context, org id.ID) (Shown, error) {
	if org.IsZero() {
		return Platform, nil
	}

	now := time.Now()
	if m, ok := r.get(org); ok && now.Sub(m.at) < Fresh {
		return m.shown, nil
	}

	own, parent, err := r.readTenant(ctx, org)
	if postgres.None(err) {
		return Platform, nil
	}

	var agency *Tenant
	if err == nil && !parent.IsZero() {
		agency, _, err = r.readTenant(ctx, parent)
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

// readTenant returns an org's settings and rights, and the id of its agency if it is a client org.
func (r *Resolver) readTenant(ctx context.Context, org id.ID) (*Tenant, id.ID, error) {
	var (
		found  row
		parent id.ID
	)
	err := r.db.BatchedGet(ctx, org, partySQL, []any{org}, func(c pgx.CollectableRow) error {
		return c.Scan(append(found.scanTargets(), &parent)...)
	})
	if err != nil {
		return nil, parent, fmt.Errorf("read brand: %w", err)
	}

	p := &Tenant{Settings: *found.asSettings()}
	if p.Settings.Edit > 0 { // without settings, rights do not matter
		p.Rights, err = r.rights(ctx, org)
	}

	return p, parent, err
}

// Forget drops the cached appearance of org, so that the process that changed it sees the change.
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
