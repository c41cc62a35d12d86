package ops

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/redis/go-redis/v9"
)

const (
	jobBodyLimit = 64 << 10         // maximum request body in bytes
	oneCall      = 20 * time.Second // limit of one drop call; its response reports whether more remain
)

// jobsHandler returns a status and a value to be encoded as JSON; nil for no body.
type jobsHandler func(*http.Request) (int, any, error)

// opsError is an error with a status and a text for the client.
type requestError struct {
	status int
	text   string
}

func (r *requestError) Error() string { return r.text }

var errCursor = &requestError{http.StatusBadRequest, "cursor: take next_cursor from an answer with the same filter"}

// serveJSON responds with {"error": ...} if h fails: 4xx for a bad request, 503 if Postgres is unavailable.
func (a *jobsAPI) serveJSON(h jobsHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.readOnly && isChange(r) {
			showJSON(w, http.StatusForbidden, map[string]string{"error": "this listener is read only"})
			return
		}
		if isChange(r) && !isJSON(r) {
			showJSON(w, http.StatusUnsupportedMediaType, map[string]string{"error": notJSON})
			return
		}

		status, out, err := h(r)
		if err != nil {
			status, out = a.errorResponse(r, err)
			if status == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", "1")
			}
		}

		showJSON(w, status, out)
	})
}

func (a *jobsAPI) errorResponse(r *http.Request, err error) (int, any) {
	status, text := http.StatusInternalServerError, "internal error; the log says more"
	var said *requestError
	known := fault.Of(err)
	switch {
	case errors.As(err, &said):
		status, text = said.status, said.text
	case known != nil:
		status, text = known.Code.Status(), known.Detail
		if len(known.Fields) > 0 {
			text = known.Fields[0].Pointer + ": " + known.Fields[0].Detail
		}
	case askersOwn(err):
		status, text = http.StatusUnprocessableEntity, err.Error()
	case postgres.Away(err), postgres.TimedOut(err):
		status, text = http.StatusServiceUnavailable, "postgres is away"
	default:
		a.log.ErrorContext(r.Context(), "operator action failed", "path", r.URL.Path, "error", err)
	}

	return status, map[string]string{"error": text}
}

func showJSON(w http.ResponseWriter, status int, out any) {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return
	}

	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}

	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(out)
}

// readJSON decodes a JSON object. The body may be empty.
func readJSON(r *http.Request, into any) error {
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, jobBodyLimit))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var said *requestError
	if errors.As(err, &said) {
		return said
	}

	if err != nil && !errors.Is(err, io.EOF) {
		return &requestError{
			http.StatusBadRequest,
			"body: it is no JSON object of the members that this knows, each of its type",
		}
	}

	return nil
}

// readQuery parses the query. It allows only the named parameters, each at most once.
func readQuery(r *http.Request, names ...string) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &requestError{http.StatusBadRequest, "query: it cannot be read"}
	}

	for name, values := range q {
		if !slices.Contains(names, name) || len(values) != 1 {
			return nil, &requestError{http.StatusBadRequest, fmt.Sprintf("query: one each of %v", names)}
		}
		if name == "reason" && strings.TrimSpace(values[0]) == "" {
			return nil, errBlank
		}
	}

	return q, nil
}

func limitOf(q url.Values) (int, error) {
	if q.Get("limit") == "" {
		return 50, nil
	}
	n, err := strconv.Atoi(q.Get("limit"))
	if err != nil || n < 1 || n > 200 {
		return 0, &requestError{http.StatusBadRequest, "limit: 1 to 200"}
	}
	return n, nil
}

// page is the envelope of paginated lists.
type page[T any] struct {
	Data       []T     `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
}

// pageByID returns a page of a list that is ordered from the newest id to the oldest. The cursor in the query is the id
// of the row before the page. list returns at most limit rows, after a row if that is given.
func pageByID[T any](q url.Values, list func(before *id.ID, limit int) ([]T, error), idOf func(T) id.ID) (page[T],
	error,
) {
	limit, err := limitOf(q)
	if err != nil {
		return page[T]{}, err
	}

	var before *id.ID
	if c := q.Get("cursor"); c != "" {
		last, err := id.Parse(c)
		if err != nil {
			return page[T]{}, errCursor
		}
		before = &last
	}

	rows, err := list(before, limit+1)
	if err != nil {
		return page[T]{}, err
	}

	out := page[T]{HasMore: len(rows) > limit}
	if out.HasMore {
		rows = rows[:limit]
		next := idOf(rows[limit-1]).String()
		out.NextCursor = &next
	}

	out.Data = append([]T{}, rows...)

	return out, nil
}

// list is the envelope of unpaginated lists.
type list[T any] struct {
	Data []T `json:"data"`
}

// dataOf returns the envelope of an unpaginated list. Data is never null.
func dataOf[T any](rows []T) any { return list[T]{append([]T{}, rows...)} }

// searchJobs lists jobs. A search by id alone finds the job in any state; a search by filter finds dead jobs unless the
// filter names another state.
func (a *jobsAPI) searchJobs(r *http.Request) (int, any, error) {
	q, err := readQuery(r, "state", "kind", "lane", "org_id", "error", "after", "before", "id", "limit", "cursor")
	if err != nil {
		return 0, nil, err
	}

	limit, err := limitOf(q)
	if err != nil {
		return 0, nil, err
	}
	if q.Get("id") != "" {
		out, err := a.byID(r, q.Get("id"))
		return http.StatusOK, out, err
	}

	f, err := filterOf(q)
	if err != nil {
		return 0, nil, err
	}

	var after *operator.Place
	if c := q.Get("cursor"); c != "" {
		text, err := base64.RawURLEncoding.DecodeString(c)
		if err != nil || json.Unmarshal(text, &after) != nil {
			return 0, nil, errCursor
		}
	}

	jobs, next, err := a.operator.Search(r.Context(), f, limit, after)
	if err != nil {
		return 0, nil, err
	}

	out := page[operator.Job]{Data: append([]operator.Job{}, jobs...), HasMore: next != nil}
	if next != nil {
		text, err := json.Marshal(next)
		if err != nil {
			return 0, nil, err
		}
		c := base64.RawURLEncoding.EncodeToString(text)
		out.NextCursor = &c
	}

	return http.StatusOK, out, nil
}

func (a *jobsAPI) byID(r *http.Request, text string) (out page[operator.Job], err error) {
	out.Data = []operator.Job{}
	job, err := id.Parse(text)
	if err != nil {
		return out, &requestError{http.StatusBadRequest, "id: a UUID"}
	}

	keys, err := a.operator.Locate(r.Context(), job)
	for _, k := range keys {
		j, err := a.operator.Show(r.Context(), k)
		if err != nil {
			return out, err
		}
		if j != nil {
			out.Data = append(out.Data, *j)
		}
	}

	return out, err
}

func filterOf(q url.Values) (operator.Filter, error) {
	f := operator.Filter{
		State: operator.State(q.Get("state")), Kind: q.Get("kind"), Lane: queue.Lane(q.Get("lane")),
		Error: q.Get("error"),
	}
	if text := q.Get("org_id"); text != "" {
		org, err := id.Parse(text)
		if err != nil {
			return f, &requestError{http.StatusBadRequest, "org_id: a UUID"}
		}
		f.Org = &org
	}

	for name, at := range map[string]**time.Time{"after": &f.After, "before": &f.Before} {
		if text := q.Get(name); text != "" {
			t, err := wire.ParseTime(text)
			if err != nil {
				return f, &requestError{http.StatusBadRequest, name + ": a time as in RFC 3339"}
			}
			*at = &t
		}
	}

	if err := f.Check(); err != nil {
		return f, &requestError{http.StatusBadRequest, err.Error()}
	}

	return f, nil
}

// jobsAPI is the JSON API with which operators inspect and change jobs. It reads and writes Postgres first, so it works
// during a Redis outage. A nil jobsAPI mounts no paths.
type jobsAPI struct {
	operator *operator.Operator
	store    *store.Store
	redis    redis.UniversalClient
	readOnly bool
	actor    string // in the audit log
	log      *slog.Logger
}

// askersOwn reports whether err was caused by the request.
func askersOwn(err error) bool {
	for _, e := range []error{
		operator.ErrUnreasoned, operator.ErrRate, operator.ErrNotDead, operator.ErrUnfiltered,
		operator.ErrScope, operator.ErrFilter, operator.ErrWeight, operator.ErrNoOrg,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
