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

// request is what an application asks of a person, as it came in the address of the consent page.
type request struct {
	d         *dialect
	redirect  string
	state     string
	challenge string
	scopes    []string
	offline   bool
	query     url.Values
}

// mountConsent serves each family's consent page at the provider's address, and what is sent from it at one of ours.
func (s *Sandbox) mountConsent() {
	form := template.Must(template.New("consent").Parse(consentSource))
	for _, d := range dialects() {
		s.routes.HandleFunc("GET "+Path+d.authorize, func(w http.ResponseWriter, r *http.Request) { s.showConsent(w, r, d, form) })
	}
	s.routes.HandleFunc("POST "+Path+"consent", s.consented)
}

// requested reads and checks what an application asks. The sentence says what is wrong; nobody is sent anywhere then,
// since the redirect URI may be what is.
func (s *Sandbox) requested(d *dialect, q url.Values) (request, string) {
	r := request{
		d: d, redirect: q.Get("redirect_uri"), state: q.Get("state"), challenge: q.Get("code_challenge"), scopes: spoken(q.Get("scope")),
		offline: q.Get("access_type") == "offline" && strings.Contains(q.Get("prompt"), "consent"), query: q,
	}
	if d.family == "facebook" && q.Get("config_id") != "" { // a configuration of Login for Business, which grants whatever there is
		r.scopes = []string{"public_profile", "pages_show_list", "pages_manage_posts", "pages_read_engagement", "ads_read", "ads_management", "business_management"}
	}
	id, _ := Client(d.family)
	u, err := url.Parse(r.redirect)
	switch {
	case q.Get(d.client) != id:
		return r, "The application is not known here: " + d.client + " must be " + id + "."
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Fragment != "":
		return r, "redirect_uri must be an absolute http or https address."
	case len(s.o.Callbacks) > 0 && !slices.ContainsFunc(s.o.Callbacks, func(prefix string) bool { return strings.HasPrefix(r.redirect, prefix) }):
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

// offered is a person with what they own.
type offered struct {
	Name  string
	Owned []thing
}

func (s *Sandbox) showConsent(w http.ResponseWriter, r *http.Request, d *dialect, form *template.Template) {
	asked, wrong := s.requested(d, r.URL.Query())
	var k Knobs
	if err := s.do(r.Context(), func(tx *tx) { k = tx.knobs(d.family) }); err != nil {
		http.Error(w, "the sandbox failed", http.StatusInternalServerError)
		return
	}
	var people []offered
	for _, name := range People() {
		people = append(people, offered{name, owned(d.family, name, asked.scopes, k.accounts())})
	}
	var out bytes.Buffer
	err := form.Execute(&out, map[string]any{
		"Name": d.name, "Family": d.family, "Wrong": wrong, "Client": asked.query.Get(d.client), "Scopes": asked.scopes, "People": people, "Query": asked.query.Encode(),
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
	write(w, &answer{status: status, body: page(out.Bytes())})
}

// consented takes the form: who consents, to which of their accounts, or that they do not.
func (s *Sandbox) consented(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "the form could not be read", http.StatusBadRequest)
		return
	}
	d := dialectOf(r.PostForm.Get("family"))
	query, err := url.ParseQuery(r.PostForm.Get("query"))
	if d == nil || err != nil {
		http.Error(w, "the form is not one of ours", http.StatusBadRequest)
		return
	}
	asked, wrong := s.requested(d, query)
	if wrong != "" {
		http.Error(w, wrong, http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {asked.state}}
	if r.PostForm.Get("deny") != "" {
		for key, values := range d.denied {
			back[key] = values
		}
		http.Redirect(w, r, asked.back(back), http.StatusFound)
		return
	}
	person, all := r.PostForm.Get("person"), false
	if other := strings.TrimSpace(r.PostForm.Get("other")); other != "" {
		person, all = other, true
	}
	if person == "" {
		http.Error(w, "somebody has to consent", http.StatusBadRequest)
		return
	}
	err = s.do(r.Context(), func(tx *tx) {
		id, _ := Client(d.family)
		raw := tx.consent(&code{
			Family: d.family, Client: id, Redirect: asked.redirect, Challenge: asked.challenge, Scopes: asked.scopes, Offline: asked.offline,
			Person: person, All: all, Owned: r.PostForm["account"],
		})
		back.Set(d.codeAs, raw)
	})
	if err != nil {
		http.Error(w, "the sandbox failed", http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, asked.back(back), http.StatusFound)
}

// back is the redirect URI with what it is told.
func (r request) back(told url.Values) string {
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
