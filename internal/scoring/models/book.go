package models

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
)

const (
	fresh     = time.Second     // how long a cached model is used without a check
	confirmed = time.Minute     // the same for transactions that confirm the model
	patience  = 2 * time.Second // timeout of the database check
	halfBook  = 10_000          // minimum number of cached orgs; the maximum is twice as many
)

// Book caches the model of each org. It is safe for concurrent use and has no goroutine.
type Book struct {
	db  *postgres.DB
	log *slog.Logger

	mu         sync.Mutex
	young, old map[id.ID]*page
}

// page is the cache entry of an org.
type page struct {
	mu      sync.Mutex // held during the database check
	model   *scoring.Model
	number  int
	checked time.Time
}

// NewBook returns an empty Book.
func NewBook(db *postgres.DB, log *slog.Logger) *Book {
	return &Book{db: db, log: log, young: map[id.ID]*page{}}
}

// For returns the model that scores the contacts of org. It never fails: if the database cannot be read, it returns the
// last known model, initially the shipped prior. It may take a connection, so call it before a transaction, not within
// one; see In.
func (b *Book) For(ctx context.Context, org id.ID) *scoring.Model {
	model, _ := b.modelWithin(ctx, org, fresh)
	return model
}

// ForConfirmed is For with a check of the database once per minute, and with the version's number. It is for a
// transaction that calls Confirm with the number, and so learns that another version is in use.
func (b *Book) ForConfirmed(ctx context.Context, org id.ID) (model *scoring.Model, number int) {
	return b.modelWithin(ctx, org, confirmed)
}

// modelWithin returns org's model as it was in the database at most age ago.
func (b *Book) modelWithin(ctx context.Context, org id.ID, age time.Duration) (model *scoring.Model, number int) {
	p := b.orgPage(org)
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.checked) < age {
		return p.model, p.number
	}
	p.checked = time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := b.refreshPage(ctx, org, p); err != nil {
		b.log.WarnContext(ctx, "read score model failed, using the cached one", "org_id", org, "error", err)
	}
	return p.model, p.number
}

func (b *Book) refreshPage(ctx context.Context, org id.ID, p *page) error {
	return b.db.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		number, err := currentNumber(ctx, tx)
		if err != nil || number == p.number {
			return err
		}
		m, err := loadModel(ctx, tx, number)
		if err != nil {
			return err
		}
		p.model = m
		p.number = number
		return nil
	})
}

// In is For within a transaction of the org. It always reads in that transaction, and returns its errors. The model
// remains in use until the transaction ends.
func (b *Book) In(ctx context.Context, tx *postgres.Tx) (*scoring.Model, error) {
	tx.Queue(holdSQL, tx.Org())
	number, err := currentNumber(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("read the model in use: %w", err)
	}

	p := b.orgPage(tx.Org())
	p.mu.Lock()
	defer p.mu.Unlock()
	if number != p.number {
		m, err := loadModel(ctx, tx, number)
		if err != nil {
			return nil, err
		}
		p.model = m
		p.number = number
	}
	p.checked = time.Now()
	return p.model, nil
}

// Forget makes the next For of org read the database.
func (b *Book) Forget(org id.ID) {
	p := b.orgPage(org)
	p.mu.Lock()
	p.checked = time.Time{}
	p.mu.Unlock()
}

// orgPage returns org's entry from the young or the old generation, or a new one. If the young generation is full, it
// replaces the old one.
func (b *Book) orgPage(org id.ID) *page {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.young[org]
	if ok {
		return p
	}
	if p, ok = b.old[org]; !ok {
		p = &page{model: scoring.Shipped()}
	}
	if len(b.young) >= halfBook {
		b.young, b.old = map[id.ID]*page{}, b.young
	}
	b.young[org] = p
	return p
}
