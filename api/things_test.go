package api

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Things are a test resource for behaviour common to all resources. ThingTable creates its table.
const ThingTable = `
CREATE TABLE thing (
	org_id uuid NOT NULL, id uuid NOT NULL, name text NOT NULL, tag text[] NOT NULL DEFAULT '{}', note text,
	edit int NOT NULL DEFAULT 1, PRIMARY KEY (org_id, id), CONSTRAINT thing_name UNIQUE (org_id, name)
);
CALL tenant('thing');`

type thing struct {
	ID   id.ID    `json:"id" format:"uuid"`
	Name string   `json:"name"`
	Tag  []string `json:"tag"`
	Note *string  `json:"note"`
	Edit int64    `json:"edit"`
}

type thingOut struct {
	httpx.Tagged
	Location string `header:"Location"`
	Body     thing
}

type ThingID struct {
	ID id.ID `path:"id" format:"uuid"`
}

type newThing struct {
	Name  string                 `json:"name" minLength:"1" maxLength:"100"`
	Tag   httpx.OneOrMore        `json:"tag,omitempty"`
	Note  httpx.Optional[string] `json:"note,omitempty" required:"false"`
	Size  int                    `json:"size,omitempty" minimum:"0" maximum:"10"`
	At    wire.Time              `json:"at,omitzero" format:"date-time"`
	Inner *struct {
		List []struct {
			Kind string `json:"kind" enum:"a,b"`
		} `json:"list"`
	} `json:"inner,omitempty"`
	More map[string]any `json:"more,omitempty"`
}

func mountThings(a *App) {
	const path = "/api/v1/test/things"
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "things.create",
			Method: http.MethodPost, Path: path, Need: httpx.Member, Tag: "test", Title: "Make a thing",
			Status: http.StatusCreated,
		}, a.makeThing)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "things.list",
			Method: http.MethodGet,
			Path:   path,
			Need:   httpx.Viewer,
			Tag:    "test",
			Title:  "List things",
		},
		a.listThings,
	)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "things.get",
			Method: http.MethodGet,
			Path:   path + "/{id}",
			Need:   httpx.Viewer,
			Tag:    "test",
			Title:  "A thing",
		},
		a.getThing,
	)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "things.update",
			Method: http.MethodPatch,
			Path:   path + "/{id}",
			Need:   httpx.Member,
			Tag:    "test",
			Title:  "Change a thing",
		},
		a.patchThing,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "things.delete",
			Method: http.MethodDelete, Path: path + "/{id}", Need: httpx.Admin, Tag: "test", Title: "Drop a thing",
			Status: http.StatusNoContent,
		}, a.dropThing)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "things.create_secret",
			Method: http.MethodPost, Path: "/api/v1/test/secrets", Need: httpx.Persons(httpx.Owner.Role), Tag: "test",
			Title: "A secret", Secret: true,
		}, a.makeSecret)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "things.fail",
			Method: http.MethodGet,
			Path:   "/api/v1/test/trouble",
			Need:   httpx.Viewer,
			Tag:    "test",
			Title:  "Trouble",
		},
		a.trouble,
	)
	httpx.Route(
		a.Server,
		httpx.Op{ID: "things.open", Method: http.MethodPost, Path: "/api/v1/test/open", Tag: "test", Title: "Public"},
		func(context.Context, *struct{ Body newThing }) (*struct{}, error) {
			return &struct{}{}, nil
		},
	)
}

func (a *App) makeThing(ctx context.Context, in *struct{ Body newThing }) (*thingOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*thingOut, error) {
		t := thing{ID: id.New(), Name: in.Body.Name, Tag: append([]string{}, in.Body.Tag...), Edit: 1}
		if in.Body.Note.Set && !in.Body.Note.Null {
			t.Note = &in.Body.Note.Value
		}
		_, err := tx.Exec(ctx, "INSERT INTO thing (org_id, id, name, tag, note) VALUES ($1, $2, $3, $4, $5)",
			tx.Org(), t.ID, t.Name, t.Tag, t.Note)
		if postgres.Violates(err, "thing_name") {
			return nil, &fault.Fault{Code: fault.Conflict, Detail: "The name is taken.", ExistingID: t.ID.String()}
		}
		return &thingOut{Tagged: httpx.ETag(t.Edit, 0), Location: "/api/v1/test/things/" + t.ID.String(), Body: t}, err
	})
}

func (a *App) listThings(ctx context.Context, in *struct {
	httpx.Page
	Name string `query:"name" maxLength:"100"`
	Size int    `query:"size" minimum:"1"`
},
) (*struct{ Body httpx.List[thing] }, error) {
	type place struct{ ID id.ID }
	from, err := httpx.After[place](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}
	if from == nil {
		from = &place{}
	}
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*struct{ Body httpx.List[thing] }, error) {
		rows, err := tx.Query(ctx,
			"SELECT id, name, tag, note, edit FROM thing WHERE org_id = $1 AND id > $2 AND ($3 = '' OR name = $3) "+
				"ORDER BY id LIMIT $4",
			tx.Org(), from.ID, in.Name, in.Limit+1)
		if err != nil {
			return nil, err
		}
		all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[thing])
		if err != nil {
			return nil, err
		}
		out := new(struct{ Body httpx.List[thing] })
		out.Body, err = httpx.NewList(
			ctx,
			a.Server,
			in.Page,
			all,
			func(t thing) thing { return t },
			func(t thing) place {
				return place{t.ID}
			},
		)
		return out, err
	})
}

func oneThing(ctx context.Context, tx *postgres.Tx, which id.ID) (t thing, err error) {
	err = tx.QueryRow(ctx, "SELECT id, name, tag, note, edit FROM thing WHERE org_id = $1 AND id = $2",
		[]any{tx.Org(), which}, &t.ID, &t.Name, &t.Tag, &t.Note, &t.Edit)
	if postgres.None(err) {
		err = fault.New(fault.NotFound, "There is no such thing.")
	}
	return t, err
}

func (a *App) getThing(ctx context.Context, in *ThingID) (*thingOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*thingOut, error) {
		t, err := oneThing(ctx, tx, in.ID)
		return &thingOut{Tagged: httpx.ETag(t.Edit, 7), Body: t}, err
	})
}

func (a *App) patchThing(ctx context.Context, in *struct {
	ThingID
	httpx.IfMatch
	Body struct {
		Name httpx.Optional[string] `json:"name" required:"false" minLength:"1"`
		Note httpx.Optional[string] `json:"note" required:"false"`
	}
},
) (*thingOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*thingOut, error) {
		tx.Queue("SELECT 1 FROM thing WHERE org_id = $1 AND id = $2 FOR UPDATE", tx.Org(), in.ID)
		t, err := oneThing(ctx, tx, in.ID)
		if err == nil {
			err = in.Check(t.Edit)
		}
		if err != nil {
			return nil, err
		}
		if in.Body.Name.Null {
			return nil, httpx.NotNullable("name")
		}
		in.Body.Name.Apply(&t.Name)
		if n := in.Body.Note; n.Set {
			t.Note = &n.Value
			if n.Null {
				t.Note = nil
			}
		}
		t.Edit++
		_, err = tx.Exec(ctx, "UPDATE thing SET name = $3, note = $4, edit = $5 WHERE org_id = $1 AND id = $2",
			tx.Org(), in.ID, t.Name, t.Note, t.Edit)
		if postgres.Violates(err, "thing_name") {
			return nil, fault.New(fault.Conflict, "The name is taken.")
		}
		return &thingOut{Tagged: httpx.ETag(t.Edit, 0), Body: t}, err
	})
}

func (a *App) dropThing(ctx context.Context, in *struct {
	ThingID
	httpx.IfMatch
},
) (*struct{}, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		n, err := tx.Exec(ctx, "DELETE FROM thing WHERE org_id = $1 AND id = $2", tx.Org(), in.ID)
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "There is no such thing.")
		}
		return &struct{}{}, err
	})
}

func (a *App) makeSecret(ctx context.Context, _ *struct{}) (*struct {
	Body struct {
		Secret string `json:"secret"`
	}
}, error,
) {
	return httpx.Write(ctx, a.Server, func(*postgres.Tx) (out *struct {
		Body struct {
			Secret string `json:"secret"`
		}
	}, err error,
	) {
		out = new(struct {
			Body struct {
				Secret string `json:"secret"`
			}
		})
		out.Body.Secret = rand.Text()
		return out, nil
	})
}

// trouble fails in the requested way.
func (a *App) trouble(ctx context.Context, in *struct {
	How string `query:"how" enum:"panic,error,sql,slow,none"`
},
) (*struct{}, error) {
	switch in.How {
	case "panic":
		panic("secret words of a panic")
	case "error":
		return nil, errors.New("secret words of an error")
	case "sql":
		return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
			_, err := tx.Query(ctx, "SELECT secret FROM words")
			return nil, err
		})
	case "slow":
		return nil, context.DeadlineExceeded
	}
	return &struct{}{}, nil
}
