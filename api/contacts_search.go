package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/fault"
)

type searchContactsIn struct {
	Body searchContactsRequest
}

// searchContactsRequest has the conditions of the contact list that may be too long for an address.
type searchContactsRequest struct {
	Filter   httpx.RawJSON `json:"filter,omitempty" doc:"Which contacts; see the filter language. All if absent"`
	Q        string        `json:"q,omitempty" maxLength:"200" doc:"Words, each a prefix of one in the contact"`
	Sort     sortOrder     `json:"sort,omitempty" doc:"Order of the list, by default -created_at"`
	Limit    int           `json:"limit,omitempty" minimum:"1" maximum:"200" doc:"Rows per page, by default 50"`
	Cursor   string        `json:"cursor,omitempty" doc:"next_cursor of the previous page, for the same conditions"`
	Archived httpx.Flag    `json:"archived" required:"false" doc:"List archived contacts instead of live ones"`
	Count    string        `json:"count,omitempty" enum:"estimate,exact" doc:"Add total, as the list's parameter does"`
}

// searchContacts is listContacts with the conditions in the body.
func (a *App) searchContacts(ctx context.Context, in *searchContactsIn) (*contactList, error) {
	asked := &in.Body
	if err := httpx.NoNulls(map[string]httpx.Flag{"archived": asked.Archived}); err != nil {
		return nil, err
	}
	query := &contactQuery{
		Page: httpx.Page{Limit: cmp.Or(asked.Limit, 50), Cursor: asked.Cursor},
		Q:    asked.Q, Filter: string(asked.Filter), Sort: cmp.Or(asked.Sort, "-created_at"),
		Archived: asked.Archived.Value, Count: asked.Count,
	}
	f, err := query.toFilter()
	if err != nil {
		return nil, inBody(err)
	}

	conditions, err := json.Marshal([]any{query.Q, query.Filter, query.Sort, query.Archived})
	if err != nil {
		return nil, fmt.Errorf("encode conditions: %w", err)
	}
	httpx.BindCursor(ctx, string(conditions))

	return a.contactPage(ctx, query, f, filterInBody)
}

// inBody converts a fault about query parameters to one about the members of the same names.
func inBody(err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	return fault.Invalid(f.Fields[0].Parameter, f.Fields[0].Code, f.Fields[0].Detail)
}
