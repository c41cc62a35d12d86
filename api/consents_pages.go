package api

import (
	"bytes"
	"context"
	"html/template"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/api/pages"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/templates"
)

// linkPage is a page that a link of a mail leads to: GET asks, POST acts.
type linkPage struct {
	noun, path, purpose, title string
	ask, done                  branding.Page
	choice                     bool // whether the page leads to the page of preferences
	act                        func(context.Context, *postgres.Tx, templates.Link) error
	writes                     []string
}

// oneClick is the field that a POST must have (RFC 8058, 3.1), with the value One-Click. Our own form sends it too.
const oneClick = "List-Unsubscribe"

// buttonPage returns a page with a button.
func buttonPage(title, text, button string) branding.Page {
	return branding.Page{
		Title: title, Form: true,
		Body: template.HTML("<h1>" + title + "</h1>\n<p>" + text + "</p>\n" + //nolint:gosec // constants
			`<form method="post"><input type="hidden" name="` + oneClick + `" value="One-Click">` +
			"<button>" + button + "</button></form>\n"),
	}
}

var (
	unsubscribeQuestion = buttonPage("Unsubscribe", "Do you want no more mails?", "Unsubscribe")
	unsubscribed        = pages.Message("Unsubscribed", "You get no more mails.")
	subscribeQuestion   = buttonPage("Confirm", "Please confirm that you want to get mails.", "Confirm")
	subscribed          = pages.Message("Confirmed", "Thank you. You get mails from now on.")
)

// LinkToken is the path parameter of a page that a mail links to.
type LinkToken struct {
	Token string `path:"token" maxLength:"200" doc:"Token of the link"`
}

type linkForm struct {
	LinkToken
	Type    string `header:"Content-Type" hidden:"true"`
	RawBody []byte
}

func (a *App) mountLinkPage(p linkPage) {
	httpx.Route(a.Server, httpx.Op{
		ID:     p.noun + ".show",
		Method: http.MethodGet, Path: p.path + "{token}", Need: httpx.Public, Signed: true, AnyQuery: true,
		Tag:   consentsTag,
		Title: "Show " + p.title, Gives: []string{"text/html"},
	}, func(ctx context.Context, in *LinkToken) (*pageOut, error) {
		a.checkLink(ctx, in.Token, p.purpose)
		return a.linkShown(ctx, in.Token, p.withPreferences(in.Token))
	})
	httpx.Route(a.Server, httpx.Op{
		ID:     p.noun + ".confirm",
		Method: http.MethodPost, Path: p.path + "{token}", Need: httpx.Public, Signed: true, AnyQuery: true,
		Tag:   consentsTag,
		Title: "Act as " + p.title + " says", Gives: []string{"text/html"}, MaxBody: formBytes, Writes: p.writes,
		Takes: []string{"application/x-www-form-urlencoded", "multipart/form-data"},
	}, func(ctx context.Context, in *linkForm) (*pageOut, error) {
		if !isOneClick(in.Type, in.RawBody) {
			a.checkLink(ctx, in.Token, p.purpose)
			return a.linkShown(ctx, in.Token, p.withPreferences(in.Token))
		}
		if err := a.actOnLink(ctx, in.Token, p); err != nil {
			return nil, err
		}
		return a.linkShown(ctx, in.Token, p.done)
	})
}

// withPreferences returns the page that asks, with a link to the page of preferences.
func (p *linkPage) withPreferences(token string) branding.Page {
	page := p.ask
	if p.choice {
		page.Body += template.HTML(`<p><a href="` + templates.PreferencesPath + //nolint:gosec // escaped
			template.HTMLEscapeString(url.PathEscape(token)) + `">Choose which mails you get</a></p>` + "\n")
	}
	return page
}

// isOneClick reports whether a form, in either of the two encodings, has the field of RFC 8058.
func isOneClick(mediaType string, body []byte) bool {
	kind, parameters, err := mime.ParseMediaType(mediaType)
	if err == nil && kind == "multipart/form-data" {
		form, err := multipart.NewReader(bytes.NewReader(body), parameters["boundary"]).ReadForm(formBytes)
		return err == nil && len(form.Value[oneClick]) == 1 && form.Value[oneClick][0] == "One-Click"
	}
	form, err := url.ParseQuery(string(body))
	return err == nil && form.Get(oneClick) == "One-Click"
}

// issuedLink returns the link of a token, and whether the token was issued for the purpose. If it was not, the request
// counts as unverified. Most tokens are checked without the database.
func (a *App) issuedLink(ctx context.Context, token, purpose string) (l templates.Link, issued bool, err error) {
	l, ok := templates.ParseLink(token)
	if ok {
		var key orgkey.Key
		if key, err = a.orgKeys.Find(ctx, l.Org); err != nil {
			return l, false, err
		}
		issued = l.Issued(key, purpose, token)
	}
	if !issued {
		httpx.Unverified(ctx)
	}

	return l, issued, nil
}

// checkLink is issuedLink for a page that is the same for every token, and needs no database.
func (a *App) checkLink(ctx context.Context, token, purpose string) {
	if _, _, err := a.issuedLink(ctx, token, purpose); err != nil {
		a.Log.WarnContext(ctx, "the token of a link could not be checked", "error", err)
	}
}

// actOnLink acts on a token. An unknown one changes nothing and is no error, so that the response does not tell which
// tokens exist.
func (a *App) actOnLink(ctx context.Context, token string, p linkPage) error {
	l, issued, err := a.issuedLink(ctx, token, p.purpose)
	if err != nil || !issued {
		return err
	}
	return a.DB.Tx(ctx, l.Org, func(tx *postgres.Tx) error { return p.act(ctx, tx, l) })
}

// linkShown returns a page in the brand of the org that the token names: the page is the same for an unknown token.
func (a *App) linkShown(ctx context.Context, token string, page branding.Page) (*pageOut, error) {
	l, ok := templates.ParseLink(token)
	if !ok {
		l.Org = id.ID{}
	}
	out := &pageOut{Kind: "text/html; charset=utf-8"}
	shown := a.pages.BrandOf(ctx, l.Org)
	var err error
	out.Body, out.Policy, err = shown.Render(page)
	return out, err
}
