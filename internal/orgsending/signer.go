package orgsending

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/dkim"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Signer signs the mails of relays. It is safe for concurrent use.
type Signer struct {
	App *postgres.DB
	Box *secret.Sealer

	mu   sync.Mutex
	keys map[sender]memory
}

// sender is an org and a domain that it sends from.
type sender struct {
	org    id.ID
	domain string
}

// memory is a key that was read; its Key is nil if the org has none.
type memory struct {
	*dkim.Key
	at time.Time
}

// How long a key is remembered, and how many are.
const (
	fresh       = 10 * time.Second
	maxMemories = 4096
)

// Sign returns the mail with a DKIM signature if it goes through a server of the org's own and its domain is verified,
// and unchanged otherwise. Google and Microsoft sign what they send.
func (s *Signer) Sign(ctx context.Context, org id.ID, m *mailboxes.Sending, mime []byte) ([]byte, error) {
	if m.Kind != mailboxes.SMTP {
		return mime, nil
	}
	key, err := s.key(ctx, sender{org, m.FromDomain})
	if err != nil || key == nil {
		return mime, err
	}
	return key.Sign(mime)
}

// key returns the key that signs for a sender, or nil.
func (s *Signer) key(ctx context.Context, of sender) (*dkim.Key, error) {
	s.mu.Lock()
	known, ok := s.keys[of]
	s.mu.Unlock()
	now := time.Now()
	if ok && now.Sub(known.at) < fresh {
		return known.Key, nil
	}
	key, err := s.read(ctx, of)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil || len(s.keys) >= maxMemories {
		s.keys = map[sender]memory{}
	}
	s.keys[of] = memory{key, now}
	return key, nil
}

const signingSQL = `
SELECT k.id, k.selector, k.sealed
FROM sending_domain d JOIN sending_key k ON k.org_id = d.org_id AND k.domain_id = d.id
WHERE d.org_id = $1 AND d.domain = $2 AND d.status = 'verified' AND k.found
ORDER BY k.created_at DESC LIMIT 1`

func (s *Signer) read(ctx context.Context, of sender) (*dkim.Key, error) {
	var (
		i        id.ID
		selector string
		sealed   []byte
	)
	err := s.App.BatchedGet(ctx, of.org, signingSQL, []any{of.org, of.domain}, func(row pgx.CollectableRow) error {
		return row.Scan(&i, &selector, &sealed)
	})
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // the org has none
	}
	if err != nil {
		return nil, fmt.Errorf("read key of domain: %w", err)
	}
	private, err := s.Box.Open(sealed, aboutKey(of.org, i))
	if err != nil {
		return nil, fmt.Errorf("open key of domain: %w", err)
	}
	signer, err := dkim.ParseKey(private)
	if err != nil {
		return nil, err
	}
	return &dkim.Key{Domain: of.domain, Selector: selector, Signer: signer}, nil
}
