package api

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/templates"
)

// What a person chooses on the page of preferences.
const (
	wantsAll      = "all"
	wantsPersonal = "personal"
	wantsNone     = "none"
)

// preferences is what the page shows.
type preferences struct {
	Wants   string
	Stopped bool // by another suppression, which the person cannot lift
	Saved   bool
}

// preferencesBody is the page's form. The choices say what they do, and none is hidden.
var preferencesBody = template.Must(template.New("preferences").Parse(`<h1>Your mails</h1>
{{if .Saved}}<p role="status">Saved. It holds from now on.</p>
{{end}}{{if .Stopped}}<p>The sender has stopped mails to your address, so your choice here changes nothing.</p>
{{end}}<p>Which mails do you want from this sender?</p>
<form method="post">
<label><input type="radio" name="mails" value="all"{{if eq .Wants "all"}} checked{{end}}>
All: newsletters and offers, and mails that a person writes to you</label>
<label><input type="radio" name="mails" value="personal"{{if eq .Wants "personal"}} checked{{end}}>
No newsletters and offers: only mails that a person writes to you</label>
<label><input type="radio" name="mails" value="none"{{if eq .Wants "none"}} checked{{end}}>
No mails at all</label>
<button>Save</button>
</form>
`))

// mountPreferences mounts the page that preferences_url leads to. GET shows it and changes nothing; POST acts.
func (a *App) mountPreferences() {
	const path = templates.PreferencesPath + "{token}"
	httpx.Route(a.Server, httpx.Op{
		ID:     "preferences.show",
		Method: http.MethodGet, Path: path, Need: httpx.Public, Signed: true, AnyQuery: true,
		Tag:   consentsTag,
		Title: "Show the page of a contact's preferences", Gives: []string{"text/html"},
	}, func(ctx context.Context, in *LinkToken) (*pageOut, error) {
		p, err := a.preferencesOf(ctx, in.Token)
		if err != nil {
			return nil, err
		}
		return a.preferencesShown(ctx, in.Token, p)
	})
	httpx.Route(a.Server, httpx.Op{
		ID:     "preferences.save",
		Method: http.MethodPost, Path: path, Need: httpx.Public, Signed: true, AnyQuery: true,
		Tag:   consentsTag,
		Title: "Save a contact's preferences", Gives: []string{"text/html"}, MaxBody: formBytes,
		Writes: []string{"contact.unsubscribed", "contact.subscribed"},
		Takes:  []string{"application/x-www-form-urlencoded"},
	}, a.savePreferences)
}

func (a *App) savePreferences(ctx context.Context, in *linkForm) (*pageOut, error) {
	form, err := url.ParseQuery(string(in.RawBody))
	wants := form.Get("mails")
	if err != nil || wants != wantsAll && wants != wantsPersonal && wants != wantsNone {
		p, err := a.preferencesOf(ctx, in.Token)
		if err != nil {
			return nil, err
		}
		return a.preferencesShown(ctx, in.Token, p)
	}
	if err := a.actOnLink(ctx, in.Token, linkPage{
		purpose: templates.Unsubscribe,
		act: func(ctx context.Context, tx *postgres.Tx, l templates.Link) error {
			return a.writePreference(ctx, tx, l, wants)
		},
	}); err != nil {
		return nil, err
	}

	p, err := a.preferencesOf(ctx, in.Token)
	if err != nil {
		return nil, err
	}

	p.Wants = wants
	p.Saved = true // also for an unknown token, so that the page does not tell which exist

	return a.preferencesShown(ctx, in.Token, p)
}

// writePreference writes what the person behind a link wants. The contact may be archived.
func (a *App) writePreference(ctx context.Context, tx *postgres.Tx, l templates.Link, wants string) error {
	row, err := contacts.Get(ctx, tx, l.Contact, true)
	if err != nil {
		return ignoreMissing(err)
	}

	was, err := a.readPreferences(ctx, tx, row.Email)
	if err != nil || was.Wants == wants {
		return err
	}

	service := suppression.Service{Box: a.Box}
	if was.Wants != wantsAll {
		if err := service.Resubscribe(ctx, tx, row.Email); err != nil {
			return err
		}
	}
	if wants == wantsAll {
		return events.Announce(ctx, tx, events.ContactSubscribed{Contact: row.Contact})
	}

	n := suppression.New{
		Email: row.Email, Purpose: suppression.Marketing, Reason: suppression.Unsubscribe, Source: "link",
	}
	if wants == wantsNone {
		n.Purpose = suppression.All
	}
	if _, _, err := service.Add(ctx, tx, n); err != nil || was.Wants != wantsAll {
		return err
	}

	return events.Announce(ctx, tx, events.ContactUnsubscribed{Contact: row.Contact})
}

// readPreferences returns what the person behind an address has chosen: what unsubscriptions by itself say.
func (a *App) readPreferences(ctx context.Context, tx *postgres.Tx, address string) (preferences, error) {
	p := preferences{Wants: wantsAll}
	service := suppression.Service{Box: a.Box}
	all, err := service.Held(ctx, tx, address)
	if err != nil {
		return p, err
	}

	for i := range all {
		switch s := &all[i]; {
		case s.LiftedAt != nil:
		case s.Reason != suppression.Unsubscribe, s.Kind != suppression.Email:
			p.Stopped = true
		case s.Purpose == suppression.All:
			p.Wants = wantsNone
		case p.Wants == wantsAll:
			p.Wants = wantsPersonal
		}
	}

	return p, nil
}

// preferencesOf returns what the page of a token shows. An unknown token shows what a new contact would see.
func (a *App) preferencesOf(ctx context.Context, token string) (preferences, error) {
	p := preferences{Wants: wantsAll}
	l, issued, err := a.issuedLink(ctx, token, templates.Unsubscribe)
	if err != nil || !issued {
		return p, err
	}

	err = a.DB.ReadTx(ctx, l.Org, func(tx *postgres.Tx) error {
		row, err := contacts.Get(ctx, tx, l.Contact, true)
		if err != nil {
			return ignoreMissing(err)
		}
		p, err = a.readPreferences(ctx, tx, row.Email)
		return err
	})

	return p, err
}

func (a *App) preferencesShown(ctx context.Context, token string, p preferences) (*pageOut, error) {
	var body bytes.Buffer
	if err := preferencesBody.Execute(&body, p); err != nil {
		return nil, fmt.Errorf("render preferences: %w", err)
	}
	return a.linkShown(ctx, token, branding.Page{
		Title: "Your mails", Form: true, Body: template.HTML(body.String()), //nolint:gosec // of a template
	})
}
