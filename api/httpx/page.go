package httpx

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Page is embedded by the input of every list. It is exported because huma ignores unexported embedded types.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Rows per page, 1 to 200"`
	Cursor string `query:"cursor" doc:"next_cursor of the previous page; valid only for the same filter and sort"`
}

// Counted is embedded, beside Page, by the input of a list that can be counted.
type Counted struct {
	Count string `query:"count" enum:"estimate,exact"`
}

// Descriptions implements wire.Describer.
func (Counted) Descriptions() map[string]string {
	return map[string]string{
		"count": "Add total, the number of all rows; both values count exactly",
	}
}

// PageInput is the input of a list without filters.
type PageInput struct {
	Page
	Counted
}

// Add sets a list's total if the request asks for it. Counting is cheap here, so an estimate is the exact count.
func (c Counted) Add(ctx context.Context, tx *postgres.Tx, total **int64,
	count func(context.Context, *postgres.Tx) (int64, error),
) error {
	if c.Count == "" {
		return nil
	}
	n, err := count(ctx, tx)
	*total = &n
	return err
}

// List is the envelope of every list. Data is never null.
type List[T any] struct {
	Data       []T     `json:"data" doc:"The rows of this page, in the order of the list"`
	HasMore    bool    `json:"has_more" doc:"Whether another page follows"`
	NextCursor *string `json:"next_cursor" doc:"Value of cursor for the next page; null on the last page"`
	Total      *int64  `json:"total,omitempty" doc:"Number of all rows; only with count=estimate or exact"`
}

// After returns the key of the last row of the previous page, or nil for the first page. K is the keyset of the list's
// order and must survive a round trip through JSON. A forged cursor, or one of another org, path, filter or sort, is a
// 400.
func After[K any](ctx context.Context, s *Server, p Page) (*K, error) {
	return openCursor[K](s, p.Cursor, "cursor", CursorOf(ctx))
}

// LastEventID returns the position that a Last-Event-ID header names, or nil without one. It is a cursor of the list at
// path with the same filter; see After.
func LastEventID[K any](ctx context.Context, s *Server, header, path string) (*K, error) {
	return openCursor[K](s, header, "Last-Event-ID", CursorAt(ctx, path))
}

// openCursor decodes a cursor that was sent as the parameter. It returns nil for an empty one.
func openCursor[K any](s *Server, cursor, parameter, bound string) (*K, error) {
	if cursor == "" {
		return nil, nil //nolint:nilnil // the first page begins nowhere
	}

	bad := &fault.Fault{
		Code: fault.InvalidCursor, Detail: "The cursor does not belong to this list.",
		Fields: []fault.FieldError{{
			Parameter: parameter, Code: "invalid_cursor",
			Detail: "Use next_cursor from a response with the same filter and sort.",
		}},
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || strings.ContainsAny(cursor, "\r\n") { // the decoder would skip them
		return nil, bad
	}

	plain, err := s.Box.Open(sealed, bound)
	if err != nil {
		return nil, bad
	}

	var k K
	if err := json.Unmarshal(plain, &k); err != nil {
		return nil, bad
	}

	return &k, nil
}

// NewList returns the envelope for rows, which must be the result of a query for p.Limit+1 rows. show returns the
// public form of a row, key its position in the order.
func NewList[R, T, K any](ctx context.Context, s *Server, p Page, rows []R, show func(R) T, key func(R) K) (List[T],
	error,
) {
	l := List[T]{HasMore: len(rows) > p.Limit}
	if l.HasMore {
		rows = rows[:p.Limit]
		var err error
		if l.NextCursor, err = Cursor(ctx, s, key(rows[len(rows)-1])); err != nil {
			return l, err
		}
	}

	l.Data = make([]T, len(rows))
	for i, r := range rows {
		l.Data[i] = show(r)
	}

	return l, nil
}

// Cursor returns the next_cursor of a page that ends at k. after decodes it.
func Cursor[K any](ctx context.Context, s *Server, k K) (*string, error) {
	return pageCursor(s, CursorOf(ctx), k)
}

// CursorWith is Cursor for a request to the same path with the query parameter name, whatever the filters of this
// request.
func CursorWith[K any](ctx context.Context, s *Server, name, value string, k K) (*string, error) {
	path, _, _ := strings.Cut(CursorOf(ctx), "?")
	return pageCursor(s, path+"?"+url.Values{name: {value}}.Encode(), k)
}

func pageCursor[K any](s *Server, bound string, k K) (*string, error) {
	next, err := SealCursor(s, k, bound)
	if err != nil {
		return nil, err
	}
	return &next, nil
}

// SealCursor returns the cursor of a position k in the list that bound names. bound is a result of CursorOf or
// CursorAt.
func SealCursor[K any](s *Server, k K, bound string) (string, error) {
	plain, err := json.Marshal(k)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	sealed, err := s.Box.Seal(plain, bound)
	if err != nil {
		return "", fmt.Errorf("seal cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// CursorOf returns the context to which cursors of this request's list are bound.
func CursorOf(ctx context.Context) string {
	r := RequestOf(ctx)
	return "cursor/" + r.Who.Org.String() + r.scope
}

// BindCursor binds the cursors of this request's list to conditions that are not in its address.
func BindCursor(ctx context.Context, conditions string) {
	RequestOf(ctx).scope += "?" + conditions
}

// CursorAt is CursorOf for the list at path with this request's filter.
func CursorAt(ctx context.Context, path string) string {
	r := RequestOf(ctx)
	if _, filter, found := strings.Cut(r.scope, "?"); found {
		path += "?" + filter
	}
	return "cursor/" + r.Who.Org.String() + path
}
