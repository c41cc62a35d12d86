package tracking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/batch"
	"github.com/funnelwork/funnelwork/internal/bounded"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/tracking/links"
)

// Limits of a Recorder.
const (
	patience  = 3 * time.Second // for the database
	hitsLoad  = 500             // hits of one statement
	hitsRoom  = 20_000          // hits that wait
	knownURLs = 1 << 16         // targets per half
)

// Recorder answers requests for the addresses in mails, and stores them. It is safe for concurrent use.
type Recorder struct {
	app, system *postgres.DB
	hits        *batch.Batcher[*arrival]
	keys        *orgkey.Cache
	targets     bounded.Map[links.Ref, string] // nor does the target of a link, until its contact is purged
}

// arrival is a hit that is to be stored.
type arrival struct {
	links.Ref
	id    id.ID
	at    time.Time
	signs signs
	net   []byte
}

// NewRecorder returns a Recorder. system is a pool of the system role: one statement stores the hits of many orgs.
func NewRecorder(app, system *postgres.DB, box *secret.Sealer) *Recorder {
	r := &Recorder{app: app, system: system, keys: orgkey.NewCache(app, box)}
	r.targets.Half = knownURLs
	r.hits = batch.New(batch.Options[*arrival]{Send: r.insertHits, Timeout: patience, Most: hitsLoad, Queued: hitsRoom})
	return r
}

// Open records that a pixel was loaded. Its error is nil for an unknown token.
func (r *Recorder) Open(ctx context.Context, token string, v *Visit) error {
	ref, key, err := r.resolveToken(ctx, token)
	if err != nil || key.IsZero() || ref.Link != links.Pixel {
		return err
	}
	return r.addHit(ctx, ref, key, v)
}

// Click records that a link was followed, and returns its target: "" if there is none. Once the target is known, a hit
// that cannot be stored is no error.
func (r *Recorder) Click(ctx context.Context, token string, v *Visit) (target string, err error) {
	ref, key, err := r.resolveToken(ctx, token)
	if err != nil || key.IsZero() || ref.Link < links.Trap {
		return "", err
	}
	if ref.Link > links.Trap {
		if target, err = r.linkTarget(ctx, ref); err != nil || target == "" {
			return "", err
		}
	}
	err = r.addHit(ctx, ref, key, v)
	if target != "" {
		return target, nil
	}
	return "", err
}

// Issued reports whether token was issued for a pixel or a link of an email. It knows the keys of the orgs with recent
// requests without the database.
func (r *Recorder) Issued(ctx context.Context, token string) (bool, error) {
	_, key, err := r.resolveToken(ctx, token)
	return !key.IsZero(), err
}

// resolveToken returns what a token names and the key of its org, which is zero for an unknown token.
func (r *Recorder) resolveToken(ctx context.Context, token string) (links.Ref, orgkey.Key, error) {
	ref, ok := links.Parse(token)
	if !ok {
		return ref, orgkey.Key{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key, err := r.keys.Find(ctx, ref.Org)
	if err != nil || key.IsZero() {
		return ref, orgkey.Key{}, unavailableFault(err)
	}
	if !ref.Issued(key, token) {
		return ref, orgkey.Key{}, nil
	}
	return ref, key, nil
}

// linkTarget returns the target of a link, or "" if the org does not keep it any more.
func (r *Recorder) linkTarget(ctx context.Context, of links.Ref) (target string, err error) {
	if target, ok := r.targets.Get(of); ok {
		return target, nil
	}

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = r.app.BatchedGet(ctx, of.Org, `SELECT url FROM email_link WHERE org_id = $1 AND email_id = $2 AND n = $3`,
		[]any{of.Org, of.Email, of.Link}, func(row pgx.CollectableRow) error { return row.Scan(&target) })
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", unavailableFault(fmt.Errorf("read link: %w", err))
	}

	r.targets.Put(of, target)
	return target, nil
}

func (r *Recorder) addHit(ctx context.Context, to links.Ref, key orgkey.Key, v *Visit) error {
	return unavailableFault(r.hits.Do(ctx, &arrival{
		Ref: to, id: id.New(), at: time.Now(), signs: v.requestSigns(to.Link),
		net: key.Hash("tracking.network", v.networkKey())[:8],
	}))
}

// insertHits inserts hits of many orgs.
func (r *Recorder) insertHits(ctx context.Context, all []*arrival) error {
	n := len(all)
	orgs := make([]id.ID, n)
	ids := make([]id.ID, n)
	emails := make([]id.ID, n)
	numbers := make([]int16, n)
	at := make([]time.Time, n)
	seen := make([]int32, n)
	nets := make([][]byte, n)
	for i, a := range all {
		orgs[i], ids[i], emails[i], numbers[i], at[i], seen[i], nets[i] = a.Org, a.id, a.Email, a.Link, a.at,
			int32(a.signs), a.net
	}

	err := r.system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO email_hit (org_id, id, email_id, link, at, signs, net)
			SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::timestamptz[], $6::int[],
				$7::bytea[])`, orgs, ids, emails, numbers, at, seen, nets)
		return nil
	})
	if err != nil {
		return fmt.Errorf("store hits: %w", err)
	}

	return nil
}

// unavailableFault returns the fault of a request that waits for the database, or nil.
func unavailableFault(err error) error {
	if err == nil {
		return nil
	}
	return fault.New(fault.Unavailable, "This link cannot be followed right now. Try again in a moment.").Because(err)
}
