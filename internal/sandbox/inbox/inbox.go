// Package inbox is a sandbox webhook receiver on the operators' listener: it stores every request that is POSTed to one
// of its URLs and shows it with the result of the signature check. Its pages state that it is a sandbox.
package inbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/look"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Path is where the handler is mounted.
const Path = "/sandbox/inbox/"

// Failing is the name below Path that answers 503 to every delivery, so that retries can be seen.
const Failing = "failing"

const (
	kept    = 200       // deliveries to keep; older ones are dropped
	maxBody = 256 << 10 // per delivery, in bytes
)

//go:embed page.html
var source string

// Options configures the inbox.
type Options struct {
	System *postgres.DB
	Hooks  *webhooks.Service
	// URL is the inbox's public base URL, ending in Path; it is the one that outbound.Policy.Inbox exempts.
	URL string
	Log *slog.Logger
}

// Handler returns the handler of Path and one segment below it: POST stores a delivery, GET shows the deliveries, as a
// page or, with ?format=json or Accept: application/json, as JSON.
func Handler(o Options) http.Handler {
	h := &handler{
		Options: o, policy: outbound.Policy{Inbox: o.URL},
		page: template.Must(template.New("inbox").Parse(source)),
	}
	return http.HandlerFunc(h.serve)
}

type handler struct {
	Options
	policy outbound.Policy
	page   *template.Template
}

// arrival is one delivery as it is shown.
type arrival struct {
	ID         id.ID             `json:"id"`
	Name       string            `json:"name"`
	ReceivedAt wire.Time         `json:"received_at"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
	EventType  string            `json:"event_type"`
	Signature  string            `json:"signature"`
	Standard   string            `json:"standard_signature"`
}

// view is a page of arrivals.
type view struct {
	Sandbox bool      `json:"sandbox"`
	URL     string    `json:"url"`
	Name    string    `json:"-"`
	Kept    int       `json:"-"`
	Data    []arrival `json:"data"`
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, Path)
	if name != "" && !h.policy.IsInbox(h.URL+name) {
		http.NotFound(w, r)
		return
	}
	var err error
	switch {
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		err = h.show(w, r, name)
	case r.Method == http.MethodPost && name != "":
		err = h.take(w, r, name)
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		http.Error(w, "POST to one segment below this address", http.StatusMethodNotAllowed)
	}
	if err != nil {
		h.Log.ErrorContext(r.Context(), "sandbox inbox failed", "error", err)
		http.Error(w, "the inbox is unavailable", http.StatusServiceUnavailable)
	}
}

// take stores one delivery. It responds with 200 even if the signature is wrong: the page shows that. Only the name
// Failing gets 503.
func (h *handler) take(w http.ResponseWriter, r *http.Request, name string) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			http.Error(w, "the body exceeds 256 KiB", http.StatusRequestEntityTooLarge)
			return nil
		}
		return fmt.Errorf("read delivery: %w", err)
	}
	headers := make(map[string]string, len(r.Header))
	for k := range r.Header {
		headers[k] = strings.ReplaceAll(strings.ToValidUTF8(strings.Join(r.Header.Values(k), ", "), "?"), "\x00", "?")
	}
	shown, err := json.Marshal(headers)
	if err != nil {
		return fmt.Errorf("encode headers: %w", err)
	}
	ctx := r.Context()
	err = h.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		ours, standard, err := h.Hooks.VerifyAt(ctx, tx, h.URL+name, r.Header, body)
		if err != nil {
			return err
		}
		tx.Queue(
			`INSERT INTO sandbox_hook (id, name, headers, body, signature, standard) VALUES ($1, $2, $3, $4, $5, $6)`,
			id.New(), name, shown, body, string(ours), string(standard))
		tx.Queue(
			`DELETE FROM sandbox_hook WHERE id <= (SELECT id FROM sandbox_hook ORDER BY id DESC OFFSET $1 LIMIT 1)`,
			kept)
		return nil
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	answer := `{"sandbox":true,"received":true}`
	if name == Failing {
		w.WriteHeader(http.StatusServiceUnavailable)
		answer = `{"sandbox":true,"received":false}`
	}
	_, err = io.WriteString(w, answer+"\n")
	return err
}

func (h *handler) show(w http.ResponseWriter, r *http.Request, name string) error {
	all, err := h.newest(r.Context(), name)
	if err != nil {
		return err
	}
	v := view{Sandbox: true, URL: h.URL + "demo", Name: name, Kept: kept, Data: all}
	if name != "" {
		v.URL = h.URL + name
	}
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Query().Get("format") == "json" || strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(v)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", look.Policy)
	return h.page.Execute(w, v)
}

// newest returns the arrivals of one name, or of all names if name is "", newest first.
func (h *handler) newest(ctx context.Context, name string) (all []arrival, err error) {
	err = h.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT id, name, received_at, headers, body, signature, standard FROM sandbox_hook
			WHERE $1 = '' OR name = $1
			ORDER BY id DESC LIMIT $2`, name, kept)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, scan)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read inbox: %w", err)
	}
	return all, nil
}

func scan(r pgx.CollectableRow) (a arrival, err error) {
	var headers, body []byte
	if err = r.Scan(&a.ID, &a.Name, &a.ReceivedAt, &headers, &body, &a.Signature, &a.Standard); err != nil {
		return a, err
	}
	a.Body = strings.ToValidUTF8(string(body), "\uFFFD")
	var event struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(body, &event) == nil {
		a.EventType = event.Type
	}
	return a, json.Unmarshal(headers, &a.Headers)
}
