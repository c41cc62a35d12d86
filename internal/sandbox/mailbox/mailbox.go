// Package mailbox shows the system mail that was not sent because no SMTP server is configured. Its page states that it
// is a sandbox.
package mailbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/look"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Path is where Handler is mounted.
const Path = "/sandbox/mailbox/"

// shown is how many mails the page lists, newest first.
const shown = 50

//go:embed page.html
var source string

// letter is one mail on the page.
type letter struct {
	org, id    id.ID
	body       []byte
	To         string    `json:"to"`
	Subject    string    `json:"subject"`
	ReceivedAt wire.Time `json:"received_at"`
	Text       string    `json:"text"`
}

// view is the mailbox as JSON.
type view struct {
	Sandbox bool     `json:"sandbox"`
	Data    []letter `json:"data"`
}

// Handler returns the handler of the mailbox page, which is JSON with ?format=json or Accept: application/json. system
// is the System role's pool. A visitor of the page can use the links in the mails, so it must be mounted on the
// operators' listener only.
func Handler(system *postgres.DB, box *secret.Sealer, log *slog.Logger) http.Handler {
	page := template.Must(template.New("mailbox").Parse(source))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		letters, err := newest(r.Context(), system, box)
		if err != nil {
			log.ErrorContext(r.Context(), "read sandbox mailbox failed", "error", err)
			http.Error(w, "the database is unavailable", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		if r.URL.Query().Get("format") == "json" || strings.Contains(r.Header.Get("Accept"), "application/json") {
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(view{Sandbox: true, Data: letters}); err != nil {
				log.WarnContext(r.Context(), "write sandbox mailbox failed", "error", err)
			}
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", look.Policy)
		if err := page.Execute(w, letters); err != nil {
			log.WarnContext(r.Context(), "render sandbox mailbox failed", "error", err)
		}
	})
}

func newest(ctx context.Context, system *postgres.DB, box *secret.Sealer) (letters []letter, err error) {
	err = system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx,
			`SELECT org_id, id, recipient, subject, body, received_at FROM sandbox_mail
				ORDER BY received_at DESC, id DESC LIMIT $1`, shown)
		if err != nil {
			return err
		}
		letters, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l letter, err error) {
			err = row.Scan(&l.org, &l.id, &l.To, &l.Subject, &l.body, &l.ReceivedAt)
			return l, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read sandbox mail: %w", err)
	}
	for i := range letters {
		var m mail.Message
		if err := mail.Open(box, letters[i].org, letters[i].id, letters[i].body, &m); err != nil {
			return nil, err
		}
		letters[i].Text = m.Text
	}
	return letters, nil
}
