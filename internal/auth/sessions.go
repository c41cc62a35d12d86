package auth

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Device is where a session is used from, as far as known.
type Device struct {
	IP        netip.Addr
	UserAgent string // as the client sends it
}

const agentMax = 500 // stored characters of a user agent

func (d Device) ipText() string {
	if !d.IP.IsValid() {
		return ""
	}
	return d.IP.Unmap().String()
}

// agentLine returns the user agent as one line of valid text.
func (d Device) agentLine() string {
	text := []rune(strings.ToValidUTF8(d.UserAgent, ""))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, string(text[:min(len(text), agentMax)]))
}

// lockPerson serializes all transactions that begin, continue or end sessions of one user, until the end of the
// transaction: a concurrent refresh cannot leave a token in a session that ends. It must be taken after row locks of
// org and app_user, and before those of refresh_token.
func lockPerson(tx *postgres.Tx, user id.ID) {
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('funnelwork.sessions/' || $1::uuid::text, 0))`, user)
}

// lockOwner is lockPerson for the user of a refresh token of tx's org, if there is one.
func lockOwner(tx *postgres.Tx, sum digest) {
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('funnelwork.sessions/' || user_id::text, 0))
		FROM refresh_token WHERE org_id = $1 AND hash = $2`, tx.Org(), sum[:])
}

// OpenSession is a live session, as its user sees it.
type OpenSession struct {
	ID         id.ID     `json:"id" format:"uuid" doc:"The sid claim of the session's access tokens"`
	CreatedAt  wire.Time `json:"created_at" format:"date-time" doc:"When the user logged in"`
	LastUsedAt wire.Time `json:"last_used_at" format:"date-time" doc:"When the session was last issued tokens"`
	IP         *string   `json:"ip" doc:"The IP address of the last token request; null if unknown"`
	UserAgent  *string   `json:"user_agent" doc:"The User-Agent of that request; null if unknown"`
	Current    bool      `json:"current" doc:"Whether this is the session of the request"`
	Org        OrgName   `json:"org" doc:"The session's organization"`
}

// OrgName is the id and name of an org.
type OrgName struct {
	ID   id.ID  `json:"id" format:"uuid" doc:"ID of the organization"`
	Name string `json:"name" doc:"Name of the organization"`
}

// Sessions lists the open sessions of who's user in all orgs, newest first, beginning after below; a zero below begins
// at the newest.
func (s *Service) Sessions(ctx context.Context, who Who, below id.ID, limit int) ([]OpenSession, error) {
	var all []OpenSession
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		// The tip of a family is its one token that is neither used nor revoked.
		rows, err := tx.Query(ctx, `
			SELECT r.family,
			       (SELECT min(f.created_at) FROM refresh_token f WHERE f.org_id = r.org_id AND f.family = r.family),
			       r.created_at, nullif(r.ip, ''), nullif(r.user_agent, ''), r.family = $2, o.id, o.name
			FROM refresh_token r JOIN org o ON o.id = r.org_id
			JOIN member m ON m.org_id = r.org_id AND m.user_id = r.user_id AND m.removed_at IS NULL
			WHERE r.user_id = $1 AND r.used_at IS NULL AND r.revoked_at IS NULL AND r.expires_at > now() AND ($3
			OR r.family < $4)
			ORDER BY r.family DESC LIMIT $5`, who.User, who.Session, below.IsZero(), below, limit)
		if err != nil {
			return err
		}

		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (o OpenSession, err error) {
			err = row.Scan(&o.ID, &o.CreatedAt, &o.LastUsedAt, &o.IP, &o.UserAgent, &o.Current, &o.Org.ID, &o.Org.Name)
			return o, err
		})

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}

	return all, nil
}

// EndSession ends one session of user. It returns fault.NotFound if the user never had it, and does nothing if it has
// ended. It calls ended in the transaction, which runs as System under the session's org.
func (s *Service) EndSession(ctx context.Context, user, session id.ID, ended func(*postgres.Tx) error) error {
	var org id.ID
	err := s.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT org_id FROM refresh_token WHERE user_id = $1 AND family = $2 LIMIT 1`,
			[]any{user, session}, &org)
	})
	if postgres.None(err) {
		return fault.New(fault.NotFound, "There is no such session.")
	}
	if err != nil {
		return fmt.Errorf("read session: %w", err)
	}

	err = s.System.Tx(ctx, org, func(tx *postgres.Tx) error {
		lockPerson(tx, user)
		n, err := tx.Exec(ctx, `UPDATE refresh_token SET revoked_at = now(), successor = NULL
			WHERE org_id = $1 AND user_id = $2 AND family = $3 AND revoked_at IS NULL`, org, user, session)
		if err != nil || n == 0 {
			return err
		}
		return ended(tx)
	})
	if err != nil {
		return fmt.Errorf("end session: %w", err)
	}

	s.roles.Drop(roleKey{org, user, session})

	return nil
}
