package aged

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Class is the size of an org among the others.
type Class string

// The classes.
const (
	Huge   Class = "huge"
	Grown  Class = "grown"
	Middle Class = "middle"
	Small  Class = "small"
	Tiny   Class = "tiny"
)

// Org is the first org of a class.
type Org struct {
	Class    Class
	ID, User id.ID  // User is its owner
	Key      string // an API key of the role owner
	Contacts int
}

// World is the orgs of a database and the keyset that their secrets are sealed with.
type World struct {
	Orgs []Org // huge, grown, middle, small, tiny
	Box  *secret.Sealer
	// Keyset is the text of Box, for processes of their own.
	Keyset string
}

// Org returns the org of a class.
func (w *World) Org(c Class) Org {
	for _, o := range w.Orgs {
		if o.Class == c {
			return o
		}
	}
	return Org{}
}

// addKeys gives the first org of each class an API key and a sealed org key.
func addKeys(ctx context.Context, conn *pgx.Conn, url string) error {
	keyset, err := secret.Generate()
	if err != nil {
		return err
	}
	box, err := secret.Parse(keyset)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `CREATE TABLE aged.keyset AS SELECT $1::text AS keyset`, keyset); err != nil {
		return err
	}
	app, err := postgres.Open(ctx, postgres.Options{URL: url, Role: postgres.App, MaxConns: 1, Name: "aged"})
	if err != nil {
		return err
	}
	defer app.Close()
	w, err := orgsOf(ctx, conn)
	if err != nil {
		return err
	}
	for _, o := range w.Orgs {
		key, hash := auth.NewAPIKey(o.ID)
		if _, err := conn.Exec(ctx, `UPDATE aged.org SET api_key = $2 WHERE id = $1`, o.ID, key); err != nil {
			return err
		}
		if err := app.Tx(ctx, o.ID, func(tx *postgres.Tx) error {
			tx.Queue(`INSERT INTO api_key (org_id, id, name, role, hint, hash, created_by)
				VALUES ($1, $2, 'aged', 'owner', 'aged', $3, $4)`, o.ID, id.New(), hash, o.User)
			tx.Queue(`DELETE FROM org_key WHERE org_id = $1`, o.ID)
			if err := sealSecrets(ctx, tx, box); err != nil {
				return err
			}
			_, err := orgkey.Of(ctx, tx, box)
			return err
		}); err != nil {
			return fmt.Errorf("add keys: %w", err)
		}
	}
	return nil
}

// sealSecrets gives the org's endpoints a secret that webhooks can open.
func sealSecrets(ctx context.Context, tx *postgres.Tx, box *secret.Sealer) error {
	rows, err := tx.Query(ctx, `SELECT id FROM webhook_endpoint WHERE org_id = $1`, tx.Org())
	if err != nil {
		return err
	}
	endpoints, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return err
	}
	for _, e := range endpoints {
		sealed, err := box.Seal([]byte(hookSecret), "webhook_endpoint/"+tx.Org().String()+"/"+e.String())
		if err != nil {
			return err
		}
		tx.Queue(`UPDATE webhook_endpoint SET secret = $3 WHERE org_id = $1 AND id = $2`, tx.Org(), e, sealed)
	}
	return nil
}

// hookSecret signs the deliveries to all endpoints.
var hookSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("of all endpoints in aged databases"))

// orgsOf reads the first org of each class.
func orgsOf(ctx context.Context, conn *pgx.Conn) (*World, error) {
	rows, err := conn.Query(ctx, `SELECT class, id, aged.id(at, 'user ' || n || ' 0'), api_key, contacts
		FROM (SELECT DISTINCT ON (class) * FROM aged.org ORDER BY class, n) AS o ORDER BY n`)
	if err != nil {
		return nil, err
	}
	orgs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Org])
	if err == nil && len(orgs) != 5 {
		err = errors.New("aged: not all classes have an org")
	}
	return &World{Orgs: orgs}, err
}

// Look reads the orgs and the keyset of the database at url.
func Look(ctx context.Context, url string) (*World, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	w, err := orgsOf(ctx, conn)
	if err != nil {
		return nil, err
	}
	if err := conn.QueryRow(ctx, `SELECT keyset FROM aged.keyset`).Scan(&w.Keyset); err != nil {
		return nil, err
	}
	w.Box, err = secret.Parse(w.Keyset)
	return w, err
}
