package api

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// contactQuery holds the query parameters of the contact list.
type contactQuery struct {
	httpx.Page
	Stage     string `query:"stage" doc:"Stages, separated by commas; matches any"`
	Tag       string `query:"tag" doc:"Tags, separated by commas; matches any"`
	Segment   string `query:"segment" doc:"Keys of segments, separated by commas; matches any"`
	Q         string `query:"q" maxLength:"200" doc:"Words, each a prefix of one in name, email or company name"`
	CompanyID string `query:"company_id" format:"uuid" doc:"Only contacts of this company"`
	OwnerID   string `query:"owner_id" format:"uuid" doc:"Only contacts of this owner, a user's ID"`
	ExternalIDQuery
	MinScore      float64   `query:"min_score" minimum:"0" maximum:"100" doc:"Minimum lead score"`
	CreatedAfter  time.Time `query:"created_after" doc:"Only contacts created after this time (RFC 3339), exclusive"`
	CreatedBefore time.Time `query:"created_before" doc:"Only contacts created before this time (RFC 3339), exclusive"`
	Filter        string    `query:"filter" maxLength:"65536"`
	Sort          sortOrder `query:"sort" default:"-created_at" doc:"Order of the list; a leading minus is descending"`
	Archived      bool      `query:"archived" doc:"List archived contacts instead of live ones"`
	Count         string    `query:"count" enum:"estimate,exact"`
}

// Descriptions implements wire.Describer.
func (contactQuery) Descriptions() map[string]string {
	return map[string]string{
		"filter": `A filter as JSON, beside the other parameters: {"all":[...]}, {"any":[...]}, {"not":...} and ` +
			`{"field","op","value"}; custom fields are attributes.KEY`,
		"count": "Add total. exact takes time proportional to the total; estimate is exact up to 1000 if that is " +
			"cheap",
	}
}

// sortOrder is an order of the contact list.
type sortOrder string

// Schema returns the schema of the orders.
func (sortOrder) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString,
		Enum: []any{"-created_at", "created_at", "-lead_score", "lead_score", "last_name", "email"},
	}
}

// anyOf is the maximum number of values of one filter; maxTerms is the maximum number of words in q.
const (
	anyOf    = 50
	maxTerms = 8
)

func (q *contactQuery) toFilter() (*contacts.Filter, error) {
	f := &contacts.Filter{Archived: q.Archived, Words: compare.Words(q.Q)}
	for _, l := range []struct {
		name, in string
		at       *[]string
	}{{"stage", q.Stage, &f.Stages}, {"tag", q.Tag, &f.Tags}, {"segment", q.Segment, &f.Segments}} {
		if *l.at = splitValues(l.in); len(*l.at) > anyOf {
			return nil, fault.Parameter(l.name, "too_many", "At most 50 values are allowed.")
		}
	}

	if len(f.Words) > maxTerms {
		return nil, fault.Parameter("q", "too_many", "At most 8 words are allowed.")
	}
	if len(f.Words) == 0 && strings.TrimSpace(q.Q) != "" {
		return nil, fault.Parameter("q", "invalid_format", "There is no letter or digit to look for.")
	}

	for _, l := range []struct {
		name, in string
		at       **id.ID
	}{{"company_id", q.CompanyID, &f.Company}, {"owner_id", q.OwnerID, &f.Owner}} {
		if l.in == "" {
			continue
		}
		i, err := id.Parse(l.in)
		if err != nil {
			return nil, fault.Parameter(l.name, "invalid_format", "This is not a UUID.")
		}
		*l.at = &i
	}

	var err error
	if f.ExternalID, err = externalIDParameter(q.ExternalID); err != nil {
		return nil, err
	}
	if math.IsNaN(q.MinScore) {
		return nil, fault.Parameter("min_score", "invalid_format", "This is not a number.")
	}
	if q.MinScore > 0 {
		f.MinScore = &q.MinScore
	}
	if !q.CreatedAfter.IsZero() {
		f.CreatedAfter = &q.CreatedAfter
	}
	if !q.CreatedBefore.IsZero() {
		f.CreatedBefore = &q.CreatedBefore
	}

	return f, nil
}

// splitValues splits s at commas. It trims blanks and drops blank values.
func splitValues(s string) []string {
	var out []string
	for v := range strings.SplitSeq(s, ",") {
		if v = strings.TrimSpace(v); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

type contactList struct {
	Body httpx.List[contacts.Contact]
}

func (a *App) listContacts(ctx context.Context, in *contactQuery) (*contactList, error) {
	f, err := in.toFilter()
	if err != nil {
		return nil, err
	}

	return a.contactPage(ctx, in, f, wrongFilter)
}

// contactPage lists the contacts that f and the query's filter select. wrong converts an error of that filter.
func (a *App) contactPage(ctx context.Context, in *contactQuery, f *contacts.Filter, wrong func(error) error) (
	*contactList, error,
) {
	from, err := httpx.After[contacts.Position](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	order := contacts.Sort(in.Sort)

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*contactList, error) {
		if in.Filter != "" {
			if f.Where, err = contacts.ParseFilter(ctx, tx, []byte(in.Filter)); err != nil {
				return nil, wrong(err)
			}
		}

		if err := f.Resolve(ctx, tx); err != nil {
			return nil, err
		}
		rows, err := contacts.List(ctx, tx, f, order, from, in.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &contactList{}
		out.Body, err = httpx.NewList(
			ctx,
			a.Server,
			in.Page,
			rows,
			func(r contacts.Row) contacts.Contact { return r.Contact },
			func(r contacts.Row) contacts.Position { return order.Position(&r) },
		)
		if err != nil {
			return nil, err
		}

		out.Body.Total, err = countTotal(ctx, tx, f, in.Count)

		return out, err
	})
}

// wrongFilter converts an error of ParseFilter to a fault about the query parameter filter.
func wrongFilter(err error) error {
	if wrong, ok := errors.AsType[*filter.Error](err); ok {
		return wrong.InQuery("filter")
	}
	return err
}

func countTotal(ctx context.Context, tx *postgres.Tx, f *contacts.Filter, how string) (*int64, error) {
	var (
		n   int64
		err error
	)
	switch how {
	case "exact":
		n, err = contacts.Count(ctx, tx, f)
	case "estimate":
		n, err = contacts.Estimate(ctx, tx, f)
	default:
		return nil, nil //nolint:nilnil // nobody asked
	}

	return &n, err
}
