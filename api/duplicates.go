package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts/duplicates"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/contactduplicates"
)

const duplicatesPath = contactsPath + "/duplicates"

func (a *App) mountDuplicates() {
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "duplicates.list",
			Method: http.MethodGet, Path: duplicatesPath, Need: httpx.Viewer, Tag: "Duplicates",
			Title: "List contacts that may be duplicates",
		}, a.listDuplicates)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "duplicates.search",
			Method: http.MethodPost, Path: duplicatesPath + "/search", Need: httpx.Member, Tag: "Duplicates",
			Title: "Search for duplicate contacts", Status: http.StatusAccepted,
			Writes: []string{contactduplicates.Kind.Name()},
		}, a.searchDuplicates)
}

type duplicateSearch struct {
	AskedAt     *wire.Time `json:"asked_at" format:"date-time" doc:"When the last search was requested; null: never"`
	CompletedAt *wire.Time `json:"completed_at" format:"date-time" doc:"End of the listed results' search; null: never"`
}

type searchAnswer struct {
	Location string `header:"Location" doc:"Address of the results, and of the times of the last search"`
	Body     duplicateSearch
}

// searchDuplicates enqueues a search, unless one is waiting already.
func (a *App) searchDuplicates(ctx context.Context, _ *struct{}) (*searchAnswer, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*searchAnswer, error) {
		_, completed, err := duplicates.Searched(ctx, tx)
		if err != nil {
			return nil, err
		}
		now := wire.Now()
		duplicates.Ask(tx)
		return &searchAnswer{Location: duplicatesPath, Body: duplicateSearch{AskedAt: &now, CompletedAt: completed}},
			contactduplicates.Kind.Add(ctx, tx, contactduplicates.Args{}, contactduplicates.Args{}.Ask())
	})
}

type duplicateListOut struct {
	Body struct {
		Data        []duplicates.Group `json:"data" nullable:"false"`
		HasMore     bool               `json:"has_more" doc:"Whether another page follows"`
		NextCursor  *string            `json:"next_cursor" doc:"null on the last page"`
		AskedAt     *wire.Time         `json:"asked_at" format:"date-time" doc:"When last requested; null: never"`
		CompletedAt *wire.Time         `json:"completed_at" format:"date-time" doc:"End of their search; null: never"`
	}
}

// Descriptions implements wire.Describer.
func (duplicateListOut) Descriptions() map[string]string {
	return map[string]string{
		"data": "Groups of contacts that may be one person, ordered by reason",
	}
}

func (a *App) listDuplicates(ctx context.Context, in *struct {
	httpx.Page
	Reason string `query:"reason" enum:"email,name_company,phone" doc:"Only groups with this in common"`
},
) (*duplicateListOut, error) {
	from, err := httpx.After[duplicates.Place](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*duplicateListOut, error) {
		out := &duplicateListOut{}
		var err error
		if out.Body.AskedAt, out.Body.CompletedAt, err = duplicates.Searched(ctx, tx); err != nil {
			return nil, err
		}

		groups, next, err := duplicates.List(ctx, tx, in.Reason, from, in.Limit)
		if err != nil {
			return nil, err
		}

		out.Body.Data = append([]duplicates.Group{}, groups...)
		if next == nil {
			return out, nil
		}

		out.Body.HasMore = true
		out.Body.NextCursor, err = httpx.Cursor(ctx, a.Server, *next)

		return out, err
	})
}
