package outbox

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jhillyerd/enmime/v2"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/look"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Path is where Handler is mounted.
const Path = "/sandbox/outbox/"

// shown is how many mails the list has, newest first.
const shown = 100

// Policies of the pages: that of a mail frames its HTML, and the HTML may run nothing and load nothing.
const (
	mailPolicy = look.Policy + "; frame-src 'self'"
	htmlPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)

var (
	//go:embed page.html
	listSource string
	//go:embed mail.html
	mailSource string
)

// Page shows the mails that the server has taken: source, rendered HTML, headers and the result of the DKIM check.
type Page struct {
	system     *postgres.DB
	box        *secret.Sealer
	log        *slog.Logger
	list, mail *template.Template
}

// Handler returns the page's handler. Each page is JSON with ?format=json. system is the System role's pool. The page
// shows the mails of all orgs, so it must be mounted on the operators' listener only.
func Handler(system *postgres.DB, box *secret.Sealer, log *slog.Logger) http.Handler {
	return &Page{
		system: system, box: box, log: log, list: template.Must(template.New("outbox").Parse(listSource)),
		mail: template.Must(template.New("mail").Parse(mailSource)),
	}
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}

	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	name, part, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Path), "/")
	var err error
	if name == "" {
		err = p.serveList(w, r)
	} else {
		err = p.serveMail(w, r, name, part)
	}

	if err != nil {
		p.log.ErrorContext(r.Context(), "serve sandbox outbox failed", "error", err)
		http.Error(w, "the database is unavailable", http.StatusServiceUnavailable)
	}
}

func (p *Page) serveList(w http.ResponseWriter, r *http.Request) error {
	all, err := p.readMails(r.Context(), `ORDER BY received_at DESC, id DESC LIMIT $1`, shown)
	if err != nil {
		return err
	}

	rows, err := p.readSubjects(all)
	if err != nil {
		return err
	}

	return p.writePage(w, r, p.list, look.Policy, map[string]any{"sandbox": true, "data": rows})
}

func (p *Page) readMails(ctx context.Context, where string, args ...any) (all []kept, err error) {
	err = p.system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT `+keptColumns+` FROM sandbox_email `+where, args...)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, scanKept)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read sandbox mails: %w", err)
	}

	return all, nil
}

// mailView is one mail as its page shows it.
type mailView struct {
	kept
	Subject string   `json:"subject"`
	DKIM    string   `json:"dkim"`
	Headers []header `json:"headers"`
	Text    string   `json:"text"`
	HTML    string   `json:"html"`
	Links   []string `json:"links"` // of the HTML
	Source  string   `json:"source"`
}

type header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (p *Page) serveMail(w http.ResponseWriter, r *http.Request, name, part string) error {
	i, noID := id.Parse(name)
	if noID != nil || part != "" && part != "html" {
		http.NotFound(w, r)
		return nil
	}

	all, err := p.readMails(r.Context(), `WHERE id = $1`, i)
	if err != nil {
		return err
	}

	if len(all) == 0 {
		http.NotFound(w, r)
		return nil
	}

	v, err := p.openMail(r.Context(), all[0])
	if err != nil {
		return err
	}

	if part == "" {
		return p.writePage(w, r, p.mail, mailPolicy, v)
	}

	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", htmlPolicy)
	_, _ = w.Write([]byte(v.HTML)) // an error means that the client is gone

	return nil
}

// openMail opens a mail and reads its parts.
func (p *Page) openMail(ctx context.Context, k kept) (*mailView, error) {
	raw, err := p.box.Open(k.sealed, sealContext(k.Org, k.ID))
	if err != nil {
		return nil, fmt.Errorf("open sandbox mail: %w", err)
	}

	v := &mailView{kept: k, Source: string(raw)}
	err = p.system.Tx(ctx, k.Org, func(tx *postgres.Tx) error {
		pair, err := orgkey.Of(ctx, tx, p.box)
		if err == nil {
			v.DKIM = verifyDKIM(pair.Org, raw)
		}
		return err
	})
	if err != nil {
		return nil, err
	}

	envelope, unread := enmime.ReadEnvelope(bytes.NewReader(raw))
	if unread != nil { // the source is shown all the same
		v.Text = "The mail cannot be read: " + unread.Error()
		return v, nil
	}

	v.Subject = envelope.GetHeader("Subject")
	v.Text = envelope.Text
	v.HTML = envelope.HTML
	v.Links = linksOf(envelope.HTML)
	for _, name := range envelope.GetHeaderKeys() {
		for _, value := range envelope.GetHeaderValues(name) {
			v.Headers = append(v.Headers, header{name, value})
		}
	}

	return v, nil
}

// writePage writes v as a page, or as JSON.
func (p *Page) writePage(w http.ResponseWriter, r *http.Request, page *template.Template,
	policy string, v any,
) error {
	if r.URL.Query().Get("format") == "json" || strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			p.log.WarnContext(r.Context(), "write sandbox outbox failed", "error", err)
		}
		return nil
	}

	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	if err := page.Execute(w, v); err != nil {
		p.log.WarnContext(r.Context(), "render sandbox outbox failed", "error", err)
	}

	return nil
}
