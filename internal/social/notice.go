package social

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// The acts that a provider may request for a person.
const (
	Deauthorize = "deauthorize" // the person removed our application: the tokens are void
	Erase       = "erase"       // the person's data must be erased
)

// Notice is a provider's notification about a person. It is stored before it is acknowledged, and a job processes it.
type Notice struct {
	ID     id.ID
	Code   string     // for the status page of an erasure
	DoneAt *wire.Time // end of an erasure; nil while it is in progress

	platform, act, client, subject string
	issued                         time.Time
}

// VerifyNotice returns the notice of a signed request that was posted for platform. If the signature does not match,
// the error is fault.InvalidSignature.
func (s *Service) VerifyNotice(platform, act, signed string) (*Notice, error) {
	p, err := s.Providers.Get(platform)
	if err != nil {
		return nil, err
	}

	said, err := p.SignedRequest(signed)
	if errors.Is(err, provider.ErrSignature) {
		return nil, fault.New(fault.InvalidSignature, "The signature does not fit the signed request.")
	}

	if err != nil {
		return nil, err
	}

	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails

	return &Notice{
		ID: id.New(), Code: hex.EncodeToString(raw[:]), platform: platform, act: act, client: p.ClientID(),
		subject: said.Subject, issued: said.IssuedAt,
	}, nil
}

// Store queues that a notice which VerifyNotice has returned is stored. tx runs as System; the caller enqueues the job
// that processes the notice.
func (n *Notice) Store(tx *postgres.Tx) {
	tx.Queue(`INSERT INTO social_notice (id, act, platform, client_id, subject_id, code, issued_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		n.ID, n.act, n.platform, n.client, n.subject, n.Code, n.issued)
}

// ErasureURL returns the URL that shows a person the progress of an erasure.
func (s *Service) ErasureURL(platform, code string) string {
	return s.PublicURL + "/oauth/" + platform + "/data-deletion/" + code
}

// Erasure returns the erasure with a code of platform; 404 if there is none.
func (s *Service) Erasure(ctx context.Context, system *postgres.DB, platform, code string) (*Notice, error) {
	n := &Notice{Code: code}
	err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx,
			`SELECT id, done_at FROM social_notice WHERE code = $1 AND platform = $2 AND act = 'erase'`,
			[]any{code, platform}, &n.ID, &n.DoneAt)
	})
	if postgres.None(err) {
		return nil, fault.New(fault.NotFound, "There is no such erasure.")
	}

	if err != nil {
		return nil, fmt.Errorf("read erasure: %w", err)
	}

	return n, nil
}

// noticeSkew is how far a provider's clock may be behind ours: a notice also applies to a login that was made up to
// this long after it.
const noticeSkew = 5 * time.Second

// ActOn carries out a notice in every org, in one transaction for each. It is safe to retry: completed steps are
// detected. It leaves logins alone that the person made after the notice.
func (s *Service) ActOn(ctx context.Context, app, system *postgres.DB, notice id.ID) error {
	n := &Notice{ID: notice}
	var orgs []id.ID
	err := system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		err := tx.QueryRow(ctx,
			`SELECT act, client_id, subject_id, issued_at FROM social_notice WHERE id = $1 AND done_at IS NULL`,
			[]any{notice}, &n.act, &n.client, &n.subject, &n.issued)
		if err != nil {
			return err
		}

		n.issued = n.issued.Add(noticeSkew)

		return tx.QueryRow(ctx, `
			SELECT coalesce(array_agg(DISTINCT org_id ORDER BY org_id), '{}') FROM (
				SELECT org_id FROM social_grant WHERE client_id = $1 AND subject_id = $2
				UNION ALL SELECT org_id FROM social_pending WHERE client_id = $1 AND subject_id = $2) AS held`,
			[]any{n.client, n.subject}, &orgs)
	})
	if postgres.None(err) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("read notice: %w", err)
	}

	for _, org := range orgs {
		err := app.Tx(ctx, org, func(tx *postgres.Tx) error {
			if n.act == Erase {
				return s.erasePerson(ctx, tx, n)
			}
			return s.markDeauthorized(ctx, tx, n)
		})
		if err != nil {
			return err
		}
	}

	return system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`UPDATE social_notice SET subject_id = '', done_at = now() WHERE id = $1`, notice)
		return nil
	})
}

// markDeauthorized marks the person's active logins of tx's org as dead, like a refresh with a refused token.
func (s *Service) markDeauthorized(ctx context.Context, tx *postgres.Tx, n *Notice) error {
	lockAccounts(tx)
	grants, err := readSubjectRows(ctx, tx,
		`SELECT id, version FROM social_grant WHERE org_id = $1 AND client_id = $2 AND subject_id = $3
			AND granted_at <= $4
		AND status IN ('active', 'expiring') ORDER BY id FOR UPDATE`, n)
	if err != nil {
		return err
	}

	for _, g := range grants {
		if _, err := s.Died(ctx, tx, g.ID, g.Version, "deauthorized"); err != nil {
			return err
		}
	}

	pending, err := readSubjectRows(ctx, tx,
		`SELECT id, 0::bigint FROM social_pending WHERE org_id = $1 AND client_id = $2 AND subject_id = $3
			AND granted_at <= $4
		AND discarded_at IS NULL ORDER BY id FOR UPDATE`, n)
	if err != nil {
		return err
	}

	for _, p := range pending {
		if err := s.Discard(ctx, tx, p.ID); err != nil {
			return err
		}
	}

	return nil
}
