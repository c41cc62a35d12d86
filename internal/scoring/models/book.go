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
	fresh    = time.Second     // how long an answer is taken for right
	patience = 2 * time.Second // for the database, when it is asked
	halfBook = 10_000          // orgs remembered at least; twice as many at most
)

// Book answers which model scores for an org. It is safe for concurrent use and has no goroutine.
type Book struct {
	db  *postgres.DB
	log *slog.Logger

	mu         sync.Mutex
	young, old map[id.ID]*page
}

// page is what is known of one org.
type page struct {
	mu      sync.Mutex // held by the one who asks the database
	model   *scoring.Model
	number  int
	checked time.Time
}

// NewBook answers an empty book.
func NewBook(db *postgres.DB, log *slog.Logger) *Book {
	return &Book{db: db, log: log, young: map[id.ID]*page{}}
}

// For is the model that scores the contacts of org. It never fails: where the database does not answer it is the last one
// known, at first the shipped prior. It may take a connection: ask before a transaction, not within; see In.
func (b *Book) For(ctx context.Context, org id.ID) *scoring.Model {
	p := b.page(org)
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.checked) < fresh {
		return p.model
	}
	p.checked = time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := b.look(ctx, org, p); err != nil {
		b.log.WarnContext(ctx, "score model not read", "org_id", org, "error", err)
	}
	return p.model
}

func (b *Book) look(ctx context.Context, org id.ID, p *page) error {
	return b.db.View(ctx, org, func(tx *postgres.Tx) error {
		number, err := current(ctx, tx)
		if err != nil || number == p.number {
			return err
		}
		m, err := load(ctx, tx, number)
		if err != nil {
			return err
		}
		p.model, p.number = m, number
		return nil
	})
}

// In is For within a transaction of the org: it asks that transaction, every time, and fails with it. The model stays in use
// until the transaction ends.
func (b *Book) In(ctx context.Context, tx *postgres.Tx) (*scoring.Model, error) {
	tx.Queue(holdSQL, tx.Org())
	number, err := current(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("read the model in use: %w", err)
	}
	p := b.page(tx.Org())
	p.mu.Lock()
	defer p.mu.Unlock()
	if number != p.number {
		m, err := load(ctx, tx, number)
		if err != nil {
			return nil, err
		}
		p.model, p.number = m, number
	}
	p.checked = time.Now()
	return p.model, nil
}

// Forget makes the next For of org look at the database.
func (b *Book) Forget(org id.ID) {
	p := b.page(org)
	p.mu.Lock()
	p.checked = time.Time{}
	p.mu.Unlock()
}

// page finds org's page in the young half or the old one, or begins one; when the young half is full, the old is forgotten.
func (b *Book) page(org id.ID) *page {
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
