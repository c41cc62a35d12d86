package oauth

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

//go:embed consent.html
var consentSource string

// request is what an application requests of a person, as stated in the address of the consent page.
type consentRequest struct {
	d         *dialect
	redirect  string
	state     string
	challenge string
	scopes    []string
	offline   bool
	query     url.Values
	token     string // the OAuth 1.0a request token
}

// mountConsent serves each family's consent page at the provider's address, and its form at one of ours.
func (s *Sandbox) mountConsent() {
	form := template.Must(template.New("consent").Parse(consentSource))
	for _, d := range dialects() {
		s.routes.HandleFunc("GET "+Path+d.authorize, func(w http.ResponseWriter, r *http.Request) {
			s.showConsent(w, r, d, form)
		})
	}

	s.routes.HandleFunc("POST "+Path+"consent", s.submitConsent)
}

// parseConsentRequest parses and checks an application's request. The returned sentence describes an error; the browser
// is not redirected then, since the redirect URI itself may be wrong.
func (s *Sandbox) parseConsentRequest(t *tx, d *dialect, q url.Values) (consentRequest, string) {
	if d.signs {
		return t.requestOf(d, q)
	}

	r := consentRequest{
		d: d, redirect: q.Get("redirect_uri"), state: q.Get("state"), challenge: q.Get("code_challenge"),
		scopes:  splitList(q.Get("scope")),
		offline: q.Get("access_type") == "offline" && strings.Contains(q.Get("prompt"), "consent"), query: q,
	}
	// A configuration of Login for Business grants all scopes.
	if d.family == "facebook" && q.Get("config_id") != "" {
		r.scopes = []string{
			"public_profile", "pages_show_list", "pages_manage_posts", "pages_read_engagement",
			"ads_read", "ads_management", "business_management",
		}
	}

	id, _ := Client(d.family)
	u, err := url.Parse(r.redirect)
	switch {
	case q.Get(d.client) != id:
		return r, "The application is not known here: " + d.client + " must be " + id + "."
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Fragment != "":
		return r, "redirect_uri must be an absolute http or https address."
	case !s.isRegistered(r.redirect):
		return r, "redirect_uri is not registered for this application."
	case q.Get("response_type") != "code" && d.family != "tiktok_ads":
		return r, "response_type must be code."
	case len(r.state) < 16:
		return r, "state must be there, and not be guessable."
	case len(r.scopes) == 0 && d.family != "tiktok_ads":
		return r, "scope must name what is asked for."
	case d.pkce == mustPKCE && r.challenge == "":
		return r, "code_challenge must be there."
	case r.challenge != "" && q.Get("code_challenge_method") != "S256":
		return r, "code_challenge_method must be S256."
	case d.pkce == noPKCE:
		r.challenge = ""
	}

	return r, ""
}

// isRegistered reports whether redirect is a registered redirect URI.
func (s *Sandbox) isRegistered(redirect string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(redirect, prefix) }
	return len(s.o.Callbacks) == 0 || slices.ContainsFunc(s.o.Callbacks, begins)
}

// offered is a person with the accounts that they own.
type offered struct {
	Name  string
	Owned []thing
}

func (s *Sandbox) showConsent(w http.ResponseWriter, r *http.Request, d *dialect, form *template.Template) {
	var (
		asked consentRequest
		wrong string
		k     Knobs
	)
	err := s.updateState(r.Context(), func(tx *tx) {
		asked, wrong = s.parseConsentRequest(tx, d, r.URL.Query())
		k = tx.knobsOf(d.family)
	})
	if err != nil {
		http.Error(w, "the sandbox failed", http.StatusInternalServerError)
		return
	}

	var people []offered
	for _, name := range People() {
		people = append(people, offered{
			name,
			accountsOwned(d.family, name, asked.scopes, k.accountCount()),
		})
	}

	var out bytes.Buffer
	err = form.Execute(&out, map[string]any{
		"Name": d.name, "Family": d.family, "Wrong": wrong, "Client": asked.clientID(), "Scopes": asked.scopes,
		"People": people, "Query": asked.query.Encode(),
		"To": Path + "consent", "Redirect": asked.redirect,
	})
	if err != nil {
		http.Error(w, "the sandbox failed", http.StatusInternalServerError)
		return
	}

	status := http.StatusOK
	if wrong != "" {
		status = http.StatusBadRequest
	}

	writeAnswer(w, &answer{status: status, body: page(out.Bytes())})
}

// submitConsent handles the form: who consents, and to which of their accounts, or that the person refuses.
func (s *Sandbox) submitConsent(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "the form could not be read", http.StatusBadRequest)
		return
	}

	d := dialectOf(r.PostForm.Get("family"))
	query, err := url.ParseQuery(r.PostForm.Get("query"))
	if d == nil || err != nil {
		http.Error(w, "the form is invalid", http.StatusBadRequest)
		return
	}

	person := r.PostForm.Get("person")
	all := false
	if other := strings.TrimSpace(r.PostForm.Get("other")); other != "" {
		person = other
		all = true
	}

	deny := r.PostForm.Get("deny") != ""
	if person == "" && !deny {
		http.Error(w, "a person is required", http.StatusBadRequest)
		return
	}

	var asked consentRequest
	wrong := ""
	told := url.Values{}
	err = s.updateState(r.Context(), func(tx *tx) {
		asked, wrong = s.parseConsentRequest(tx, d, query)
		asked.scopes = slices.DeleteFunc(asked.scopes, func(scope string) bool {
			return slices.Contains(r.PostForm["without"], scope)
		})
		switch {
		case wrong != "":
		case deny:
			told = tx.denialQuery(asked)
		default:
			told = tx.consentQuery(asked, person, all, r.PostForm["account"])
		}
	})
	switch {
	case err != nil:
		http.Error(w, "the sandbox failed", http.StatusInternalServerError)
	case wrong != "":
		http.Error(w, wrong, http.StatusBadRequest)
	default:
		http.Redirect(w, r, asked.callbackURL(told), http.StatusFound)
	}
}

// denialQuery returns the callback query of a person who refuses.
func (t *tx) denialQuery(asked consentRequest) url.Values {
	if asked.d.signs {
		deleteRow(t, "request", hashedID(asked.token))
		return url.Values{"denied": {asked.token}}
	}

	told := url.Values{"state": {asked.state}}
	for key, values := range asked.d.denied {
		told[key] = values
	}

	return told
}

// consentQuery returns the callback query of a person who consents.
func (t *tx) consentQuery(asked consentRequest, person string, all bool,
	accounts []string,
) url.Values {
	if asked.d.signs {
		return t.authorizeQuery(asked, person, all, accounts)
	}

	id, _ := Client(asked.d.family)
	raw := t.storeConsent(&code{
		Family: asked.d.family, Client: id, Redirect: asked.redirect, Challenge: asked.challenge, Scopes: asked.scopes,
		Offline: asked.offline,
		Person:  person, All: all, Owned: accounts,
	})

	return url.Values{"state": {asked.state}, asked.d.codeAs: {raw}}
}

// clientID returns the client id of the requesting application.
func (r consentRequest) clientID() string {
	if r.d.signs {
		id, _ := Client(r.d.family)
		return id
	}
	return r.query.Get(r.d.client)
}

// callbackURL returns the redirect URI with the callback's query.
func (r consentRequest) callbackURL(told url.Values) string {
	u, err := url.Parse(r.redirect)
	if err != nil {
		return r.redirect
	}

	q := u.Query()
	for key, values := range told {
		q[key] = values
	}

	u.RawQuery = q.Encode()

	return u.String()
}
