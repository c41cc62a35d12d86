package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/companies"
	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

func (a *App) mountSearch() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "search.all",
		Method: http.MethodGet, Path: "/api/v1/search", Need: httpx.Viewer, Tag: "Search",
		Title: "Search contacts, companies, deals, segments and webhooks",
	}, a.searchRecords)
}

type searchIn struct {
	Q     string `query:"q" required:"true" minLength:"1" maxLength:"200" example:"ada"`
	Limit int    `query:"limit" minimum:"1" maximum:"50" default:"20" doc:"Number of results"`
}

// Descriptions implements wire.Describer.
func (searchIn) Descriptions() map[string]string {
	return map[string]string{"q": "Beginnings of words; all must match"}
}

// searchResult is a record that a search has found.
type searchResult struct {
	Kind     string `json:"kind" enum:"contact,company,deal,segment,webhook" doc:"Type of the record"`
	ID       id.ID  `json:"id" format:"uuid" doc:"Id of the record"`
	Title    string `json:"title" doc:"Name of the record"`
	Subtitle string `json:"subtitle" doc:"Tells it from others of the name, such as an email address; may be empty"`
}

type searchResultsOut struct {
	Body struct {
		Data []searchResult `json:"data" nullable:"false" doc:"Best first"`
	}
}

// maxSearchWords is the maximum number of words of a search.
const maxSearchWords = 8

func (a *App) searchRecords(ctx context.Context, in *searchIn) (*searchResultsOut, error) {
	words := compare.Words(in.Q)
	if len(words) > maxSearchWords {
		return nil, fault.Parameter("q", "too_many", "A search has at most 8 words.")
	}

	out := &searchResultsOut{}
	out.Body.Data = []searchResult{}
	if len(words) == 0 {
		return out, nil
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*searchResultsOut, error) {
		var kinds [][]searchResult
		for _, find := range []func(context.Context, *postgres.Tx, []string, int) ([]searchResult, error){
			findContacts, findCompanies, findDeals, findSegments, a.findHooks,
		} {
			found, err := find(ctx, tx, words, in.Limit)
			if err != nil {
				return nil, err
			}
			kinds = append(kinds, found)
		}

		out.Body.Data = rankHits(kinds, in.Q, in.Limit)
		return out, nil
	})
}

// rankHits returns at most limit hits: exact titles first, then the first hit of each kind, the second of each, and so
// on. The kinds are in their order.
func rankHits(kinds [][]searchResult, q string, limit int) []searchResult {
	type ranked struct {
		searchResult
		exact, turn int
	}
	q = compare.Text(strings.TrimSpace(q))
	var all []ranked
	for _, found := range kinds {
		for turn, h := range found {
			r := ranked{searchResult: h, exact: 1, turn: turn}
			if compare.Text(h.Title) == q || compare.Text(h.Subtitle) == q {
				r.exact = 0
			}
			all = append(all, r)
		}
	}

	slices.SortStableFunc(all, func(x, y ranked) int {
		return cmp.Or(cmp.Compare(x.exact, y.exact), cmp.Compare(x.turn, y.turn))
	})
	out := make([]searchResult, 0, limit)
	for _, r := range all[:min(limit, len(all))] {
		out = append(out, r.searchResult)
	}

	return out
}

func findContacts(ctx context.Context, tx *postgres.Tx, words []string, limit int) ([]searchResult, error) {
	rows, err := contacts.List(ctx, tx, &contacts.Filter{Words: words}, contacts.Newest, nil, limit)
	return toHits(rows, err, func(c contacts.Row) searchResult {
		name := strings.TrimSpace(c.FirstName + " " + c.LastName)
		return searchResult{Kind: "contact", ID: c.ID, Title: cmp.Or(name, c.Contact.Email), Subtitle: c.Contact.Email}
	})
}

func findCompanies(ctx context.Context, tx *postgres.Tx, words []string, limit int) ([]searchResult, error) {
	rows, err := companies.Search(ctx, tx, words, limit)
	return toHits(rows, err, func(r companies.Row) searchResult {
		h := searchResult{Kind: "company", ID: r.Value.ID, Title: r.Value.Name}
		if r.Value.Domain != nil {
			h.Subtitle = *r.Value.Domain
		}
		return h
	})
}

func findDeals(ctx context.Context, tx *postgres.Tx, words []string, limit int) ([]searchResult, error) {
	rows, err := deals.Search(ctx, tx, words, limit)
	return toHits(rows, err, func(r deals.Row) searchResult {
		return searchResult{Kind: "deal", ID: r.Value.ID, Title: r.Value.Name, Subtitle: r.Value.Status}
	})
}

// An org has few segments and webhooks, so all of them are read.

func findSegments(ctx context.Context, tx *postgres.Tx, words []string, limit int) ([]searchResult, error) {
	all, err := segments.Named(ctx, tx)
	return matchingHits(all, err, words, limit, func(s segments.Segment) (searchResult, string) {
		return searchResult{Kind: "segment", ID: s.ID, Title: s.Name, Subtitle: s.Key}, s.Name + " " + s.Key
	})
}

func (a *App) findHooks(ctx context.Context, tx *postgres.Tx, words []string, limit int) ([]searchResult, error) {
	all, err := a.Hooks.Named(ctx, tx)
	return matchingHits(all, err, words, limit, func(e webhooks.Endpoint) (searchResult, string) {
		return searchResult{
			Kind:     "webhook",
			ID:       e.ID,
			Title:    e.URL,
			Subtitle: e.Description,
		}, e.URL + " " + e.Description
	})
}

// toHits converts rows, unless err is not nil.
func toHits[R any](rows []R, err error, show func(R) searchResult) ([]searchResult, error) {
	out := make([]searchResult, 0, len(rows))
	for _, r := range rows {
		out = append(out, show(r))
	}
	return out, err
}

// matchingHits returns at most limit hits of the rows whose text has a word with each prefix of words.
func matchingHits[R any](
	rows []R,
	err error,
	words []string,
	limit int,
	show func(R) (searchResult, string),
) ([]searchResult, error) {
	out := []searchResult{}
	for _, r := range rows {
		h, text := show(r)
		has := compare.Words(text)
		if len(out) < limit && !slices.ContainsFunc(words, func(w string) bool {
			return !slices.ContainsFunc(has, func(word string) bool { return strings.HasPrefix(word, w) })
		}) {
			out = append(out, h)
		}
	}

	return out, err
}
