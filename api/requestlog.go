package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/requestlog"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func (a *App) mountRequestLog() {
	httpx.Route(a.Server, httpx.Op{
		ID:     "request_log.list",
		Method: http.MethodGet, Path: "/api/v1/request-log", Need: httpx.Admin, Tag: orgTag,
		Title: "List the organization's API requests of the last seven days, newest first",
	}, a.listRequests)
}

// requestLogEntry is a request of the log as the API shows it.
type requestLogEntry struct {
	ID        id.ID                    `json:"id" format:"uuid" doc:"ID of the entry"`
	CreatedAt wire.Time                `json:"created_at" format:"date-time"`
	RequestID string                   `json:"request_id" doc:"The request's id, as in the header X-Request-Id"`
	Method    string                   `json:"method" doc:"HTTP method, such as POST"`
	Route     *string                  `json:"route"`
	Status    int                      `json:"status" doc:"HTTP status of the response"`
	Code      *string                  `json:"code" doc:"Code of the problem; null for a success"`
	TookMS    float64                  `json:"took_ms"`
	KeyID     *id.ID                   `json:"key_id" format:"uuid" nullable:"true"`
	UserID    *id.ID                   `json:"user_id" format:"uuid" nullable:"true"`
	Errors    []requestlog.LoggedError `json:"errors" doc:"What was wrong with the request; empty for a success"`
	Body      httpx.RawJSON            `json:"body"`
}

// Descriptions implements wire.Describer.
func (requestLogEntry) Descriptions() map[string]string {
	return map[string]string{
		"created_at": "When the request came, to the millisecond",
		"route":      "Path as in this document, with its placeholders; null: no operation is there",
		"took_ms":    "Time from the headers of the request to its response, in milliseconds",
		"key_id":     "The API key that called; null for a user",
		"user_id":    "The user who called; null for a key",
		"body": "Of a failed request the JSON body with the values of its faulty members. Every other value is " +
			"[redacted]. Null for a success, for requests that may hold secrets, and for large or unreadable bodies",
	}
}

type requestsOut struct{ Body httpx.List[requestLogEntry] }

type requestQuery struct {
	httpx.Page
	RequestID string    `query:"request_id" maxLength:"128" doc:"Only requests with this X-Request-Id"`
	Route     string    `query:"route" maxLength:"200"`
	Status    string    `query:"status" pattern:"^[1-5]([0-9][0-9]|xx)$"`
	KeyID     string    `query:"key_id" format:"uuid" doc:"Only requests with this API key"`
	UserID    string    `query:"user_id" format:"uuid" doc:"Only requests of this user"`
	From      time.Time `query:"from" doc:"Only requests since this time"`
	To        time.Time `query:"to" doc:"Only requests before this time"`
}

// Descriptions implements wire.Describer.
func (requestQuery) Descriptions() map[string]string {
	return map[string]string{
		"route":  "Only this path, as in this document: /api/v1/crm/contacts/{id}",
		"status": "Only this status, such as 422, or class, such as 4xx",
	}
}

func (q *requestQuery) toFilter() (*requestlog.Filter, error) {
	f := &requestlog.Filter{RequestID: q.RequestID, Route: q.Route, From: q.From, To: q.To}
	key, err := uuidParameter("key_id", q.KeyID)
	if err != nil {
		return nil, err
	}

	user, err := uuidParameter("user_id", q.UserID)
	if err != nil {
		return nil, err
	}

	f.Key = orZero(key)
	f.User = orZero(user)
	if class, ok := strings.CutSuffix(q.Status, "xx"); ok {
		f.StatusFrom = statusNumber(class + "00")
		f.StatusTo = f.StatusFrom + 99
	} else if q.Status != "" {
		f.StatusFrom = statusNumber(q.Status)
		f.StatusTo = f.StatusFrom
	}

	return f, nil
}

// statusNumber returns the number in digits that the pattern of the parameter has checked.
func statusNumber(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

func (a *App) listRequests(ctx context.Context, in *requestQuery) (*requestsOut, error) {
	f, err := in.toFilter()
	if err != nil {
		return nil, err
	}

	from, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*requestsOut, error) {
		rows, err := requestlog.List(ctx, tx, f, orZero(from), in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows, showRequest,
			func(x requestlog.Logged) id.ID { return x.ID })
		return &requestsOut{l}, err
	})
}

// showRequest returns the public form of a request.
func showRequest(l requestlog.Logged) requestLogEntry {
	shown := requestLogEntry{
		ID: l.ID, CreatedAt: wire.At(l.ID.Time()), RequestID: l.RequestID, Method: l.Method, Status: l.Status,
		TookMS: float64(l.Took.Microseconds()) / 1000, Errors: l.Errors, Body: httpx.RawJSON(l.Body),
	}
	if shown.Errors == nil {
		shown.Errors = []requestlog.LoggedError{}
	}
	if l.Route != "" {
		shown.Route = &l.Route
	}
	if l.Code != "" {
		shown.Code = &l.Code
	}
	if !l.Key.IsZero() {
		shown.KeyID = &l.Key
	}
	if !l.User.IsZero() {
		shown.UserID = &l.User
	}

	return shown
}
