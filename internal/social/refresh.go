package social

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// The refresh's times.
const (
	// Lease is how long one attempt has its grant to itself. It is longer than the request (provider.CallTime), the
	// two transactions around it and the spool together.
	Lease = 45 * time.Second
	// claimLease is how long a claim waits for its job before it is given out again.
	claimLease = 3 * time.Minute
	statement  = 5 * time.Second // one transaction of an attempt
	unserved   = time.Hour       // until a platform is looked at again that this install has no application for
)

// RefreshOptions of a Refresher.
type RefreshOptions struct {
	Service *Service
	App     *postgres.DB // one grant, under its org
	System  *postgres.DB // claims, over all orgs
	Spool   *Spool       // nil: answers go to Postgres alone
	Log     *slog.Logger
	Metrics *RefreshMetrics // may be nil
	// Lease stands for the constant; tests shorten it.
	Lease time.Duration
	// Now is a clock for all of it; nil: Postgres's, which alone decides where several processes work.
	Now func() time.Time
}

// Refresher keeps the tokens of grants alive. It is safe for concurrent use, and any number of processes may have one.
//
// # One attempt at a time
//
// A refresh token may be good for one use, and a second use may end the login. So the row says who may use it. A sweep claims
// what is due: it moves refresh_at to the claim's end and version on by one, and the claim is worth something only while version
// stands. An attempt begins by marking the row in a transaction of its own, with its moment and a hash of the token that it
// is about to spend, for a lease that is longer than everything it may do; then it asks the provider, outside any
// transaction; and it ends only where its own mark still stands. Whoever comes later, by the job or by Token, has
// put another mark there, and the earlier one changes no row.
//
// # What a crash leaves
//
// A mark whose lease has ended says that nobody knows what became of a token. If the answer had come it lies sealed in the spool of the
// machine that got it, and is stored when a worker starts there, or before the next attempt. Else the next attempt uses the old token
// once more: a provider that forgives that answers, and one that does not refuses, which is then said as
// rotation_outcome_lost. Between the provider's answer and the disk there is a moment in which a kill costs the login; it
// never does so in silence.
//
// # Who is asked how often
//
// Each application has a budget of requests for tokens, kept in Postgres, so that it holds whatever Redis forgets: turns come evenly,
// and a tenth above the rate is never passed where it is ten per second or more. Sweeps claim no more than the turns of
// the next 20 s. A platform that throttles is left alone for as long as it says; one that refuses our own
// credentials is asked by one at a time until it takes them again. Neither disconnects anybody.
type Refresher struct {
	RefreshOptions
	step func(string) // tests end the process here
}

// NewRefresher makes one that does nothing by itself.
func NewRefresher(o RefreshOptions) *Refresher {
	if o.Lease == 0 {
		o.Lease = Lease
	}
	return &Refresher{RefreshOptions: o, step: func(string) {}}
}

// Claim is the right to begin one attempt at a grant. It is lost when anybody claims or changes the grant after it.
type Claim struct {
	Org, Grant id.ID
	Version    int64
	At         time.Time // the attempt's turn within the platform's budget
}

// Outcome is what became of an attempt.
type Outcome string

// The outcomes. All but Renewed leave the tokens as they were.
const (
	Renewed       Outcome = "renewed"
	Recovered     Outcome = "recovered"     // an answer that an earlier attempt had left in the spool was stored
	Moved         Outcome = "moved"         // somebody else has the grant, or has changed it
	Postponed     Outcome = "postponed"     // nothing to renew yet, or nobody to ask
	Refused       Outcome = "dead"          // a person has to log in again
	Later         Outcome = "transient"     // another attempt is planned
	Lost          Outcome = "unknown"       // the same, and the token may be spent
	Throttled     Outcome = "throttled"     // the platform is held
	Misconfigured Outcome = "misconfigured" // the same, and the operator has to look
)

// WaitError is an attempt whose turn has not come: nothing was written and nothing was sent.
type WaitError struct{ For time.Duration }

func (w WaitError) Error() string { return "the platform's budget is spent for " + w.For.String() }

// errMoved is a claim that is worth nothing any more.
var errMoved = errors.New("somebody else has the grant")

// attempt is one request for new tokens: from its mark in the row, which is its fence, to its end.
type attempt struct {
	org, grant id.ID
	at         time.Time // the mark: attempt_at of the row
	hash       []byte    // of the token that it spends
	provider   *provider.Provider
	token      provider.Token
	lost       bool // the outcome of an attempt before it is unknown
	failures   int
	probe      bool      // of a platform that has refused our application
	ends       time.Time // of the lease, by this process's clock
}

// Refresh makes the attempt that c gives the right to: it marks the grant, asks the provider, and stores what came of it.
// A WaitError where its turn has not come. Any other error is Postgres's or the keyset's, and the claim may be used again:
// what has been done by then is found done.
func (r *Refresher) Refresh(ctx context.Context, c Claim) (Outcome, error) {
	done, err := r.replay(ctx, c.Org, c.Grant)
	if err != nil {
		return "", err
	}
	if done {
		return Recovered, nil
	}
	a, out, err := r.begin(ctx, c.Org, c.Grant, func(g *standing) error {
		if g.version != c.Version {
			return errMoved
		}
		return nil
	})
	if a == nil {
		return out, err
	}
	return r.run(ctx, a)
}

// run asks the provider and stores the answer. Once the request is sent nothing but its own time limit ends it: an
// answer that nobody waits for may be the only copy of a token.
func (r *Refresher) run(ctx context.Context, a *attempt) (Outcome, error) {
	ctx = context.WithoutCancel(ctx)
	r.step("before call")
	fresh, err := a.provider.Refresh(ctx, a.token)
	r.step("after answer")
	if err != nil {
		return r.failed(ctx, a, err)
	}
	if fresh.LifetimeAssumed {
		r.Metrics.assumed(a.provider.Platform)
		r.Log.WarnContext(ctx, "a provider stated no lifetime", "platform", a.provider.Platform, "assumed", fresh.Lifetime())
	}
	answer, err := r.answerOf(a, fresh)
	if err != nil {
		return "", err
	}
	file := r.Spool.keep(ctx, answer, r.Log)
	r.step("after spool")
	stored, err := r.storeUntil(ctx, answer, a.ends)
	r.step("after commit")
	switch {
	case err != nil:
		r.Log.ErrorContext(ctx, "new tokens are not stored yet", "org_id", a.org.String(), "grant_id", a.grant.String(), "spooled", file != "", "error", err)
		return "", err
	case !stored:
		r.Log.WarnContext(ctx, "new tokens came too late", "org_id", a.org.String(), "grant_id", a.grant.String(), "platform", a.provider.Platform)
	}
	r.Spool.drop(file)
	if !stored {
		return r.count(a.provider.Platform, Moved), nil
	}
	if a.probe {
		r.mended(ctx, a.provider)
	}
	return r.count(a.provider.Platform, Renewed), nil
}

// begin marks the grant as being renewed, by this attempt and with the token that it holds, in a transaction that ends before
// anything is asked. Without an attempt there is an outcome or an error. may looks at the row, which is locked.
func (r *Refresher) begin(ctx context.Context, org, grant id.ID, may func(*standing) error) (a *attempt, out Outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, statement)
	defer cancel()
	began, platform := time.Now(), ""
	err = r.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		a, out = nil, ""
		g, err := r.stands(ctx, tx, grant)
		if err != nil {
			return err
		}
		platform = g.platform
		if err := may(g); err != nil {
			return err
		}
		p, err := r.Service.Providers.Of(g.platform, g.client)
		if err != nil {
			out = Postponed
			r.Log.WarnContext(ctx, "tokens of an application that this install does not have", "platform", g.platform, "grant_id", grant.String())
			return r.putOff(ctx, tx, grant, g.now.Add(unserved))
		}
		token, err := r.tokenOf(g, org, grant)
		if err != nil {
			return err
		}
		switch young := g.issued.Add(p.MinAge); {
		case !p.CanRefresh(token):
			out = Refused // or at its end
			if g.expires != nil && g.expires.After(g.now) {
				out = Postponed
				return r.putOff(ctx, tx, grant, *g.expires)
			}
			return nil
		case g.now.Before(young):
			out = Postponed
			return r.putOff(ctx, tx, grant, young)
		}
		wait, probe, err := r.turn(ctx, tx, p, g.now)
		if err != nil {
			return err
		}
		if wait > 0 {
			return WaitError{wait}
		}
		a = &attempt{org: org, grant: grant, provider: p, token: token, lost: g.attempt != "", failures: g.failures, probe: probe, ends: began.Add(r.Lease)}
		spent := token.Refresh
		if spent == "" {
			spent = token.Access
		}
		sum := sha256.Sum256([]byte(spent.Reveal()))
		a.hash = sum[:]
		return tx.QueryRow(ctx, `
			UPDATE social_grant SET attempt_state = 'intent', attempt_at = $4, attempt_token_hash = $5, refresh_at = $4::timestamptz + $6::interval,
				version = version + 1
			WHERE org_id = $1 AND id = $2 AND version = $3 RETURNING attempt_at`, []any{org, grant, g.version, g.now, a.hash, r.Lease}, &a.at)
	})
	switch {
	case errors.Is(err, errMoved), postgres.None(err):
		return nil, r.count(platform, Moved), nil
	case err != nil:
		return nil, "", err
	case out == Refused:
		return nil, r.count(platform, Refused), r.end(ctx, org, grant, "expired")
	case out != "":
		return nil, r.count(platform, out), nil
	}
	return a, "", nil
}

// standing is a grant's row as an attempt meets it.
type standing struct {
	now                time.Time
	version            int64
	platform, client   string
	access, refresh    []byte
	scopes             []string
	issued             time.Time
	expires, refreshBy *time.Time
	attempt            string
	failures           int
	due                *time.Time
}

const standsSQL = `
SELECT coalesce($3::timestamptz, clock_timestamp()), version, platform, client_id, sealed_access, sealed_refresh, scopes, issued_at, access_expires_at,
	refresh_expires_at, coalesce(attempt_state, ''), fail_count, refresh_at
FROM social_grant WHERE org_id = $1 AND id = $2 AND status IN ('active', 'expiring')`

func (g *standing) columns() []any {
	return []any{
		&g.now, &g.version, &g.platform, &g.client, &g.access, &g.refresh, &g.scopes, &g.issued, &g.expires, &g.refreshBy, &g.attempt, &g.failures, &g.due,
	}
}

// stands reads a living grant and locks it.
func (r *Refresher) stands(ctx context.Context, tx *postgres.Tx, grant id.ID) (*standing, error) {
	g := &standing{}
	err := tx.QueryRow(ctx, standsSQL+" FOR UPDATE", []any{tx.Org(), grant, r.clock()}, g.columns()...)
	if err != nil && !postgres.None(err) {
		return nil, fmt.Errorf("read grant: %w", err)
	}
	return g, err
}

func (r *Refresher) tokenOf(g *standing, org, grant id.ID) (provider.Token, error) {
	access, refresh, err := r.Service.openTokens(org, grant, g.access, g.refresh)
	return provider.Token{
		Access: access, Refresh: refresh, IssuedAt: g.issued, ExpiresAt: g.expires, RefreshExpiresAt: g.refreshBy, Scopes: g.scopes,
	}, err
}

// putOff lets the grant be looked at again at a time, within begin's transaction.
func (r *Refresher) putOff(ctx context.Context, tx *postgres.Tx, grant id.ID, at time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE social_grant SET refresh_at = $3, version = version + 1 WHERE org_id = $1 AND id = $2`, tx.Org(), grant, at)
	return err
}

// clock is the given one's time, or nil for Postgres's.
func (r *Refresher) clock() *time.Time {
	if r.Now == nil {
		return nil
	}
	now := r.Now()
	return &now
}

func (r *Refresher) count(platform string, o Outcome) Outcome {
	r.Metrics.ended(platform, o)
	return o
}
