package ops

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// dashboardPage is asynqmon's one HTML page, changed so that it loads nothing from another host. asynqmon's own page
// loads its fonts from Google; without them the browser uses the system's.
type dashboardPage struct {
	original []byte
	html     string // holds noncePlace once
	policy   string // holds noncePlace once
}

// noncePlace marks where a response has its nonce.
const noncePlace = "{nonce}"

var (
	foreignTag   = regexp.MustCompile(`<(?:link|script|img)\b[^>]*?\b(?:href|src)="(?:https?:)?//[^>]*>(?:</script>)?`)
	inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
)

// newDashboardPage reads the page of an asynqmon handler.
func newDashboardPage(h http.Handler) (*dashboardPage, error) {
	w := &heldResponse{header: http.Header{}}
	h.ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: queuesPath + "/"}, Host: "localhost"})
	const start = "<head>"
	own := foreignTag.ReplaceAllString(w.body.String(), "")
	if w.status >= http.StatusBadRequest || strings.Count(own, start) != 1 {
		return nil, errors.New("the dashboard has no page")
	}

	scripts := []string{"'self'"}
	for _, script := range inlineScript.FindAllStringSubmatch(own, -1) {
		sum := sha256.Sum256([]byte(script[1]))
		scripts = append(scripts, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}

	return &dashboardPage{
		original: w.body.Bytes(),
		// Material-UI sets the nonce on the style elements that it creates.
		html: strings.Replace(own, start, start+`<meta property="csp-nonce" content="`+noncePlace+`"/>`, 1),
		policy: fmt.Sprintf("default-src 'none'; script-src %s; style-src 'nonce-%s'; img-src 'self' data:; "+
			"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			strings.Join(scripts, " "), noncePlace),
	}, nil
}

// servePage serves a request for the page or one of its files by h.
func (p *dashboardPage) servePage(w http.ResponseWriter, r *http.Request, h http.Handler) {
	held := &heldResponse{header: w.Header()}
	h.ServeHTTP(held, r)
	body := held.body.Bytes()
	if bytes.Equal(body, p.original) {
		nonce := rand.Text()
		body = []byte(strings.Replace(p.html, noncePlace, nonce, 1))
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", strings.Replace(p.policy, noncePlace, nonce, 1))
	}
	if held.status != 0 {
		w.WriteHeader(held.status)
	}

	_, _ = w.Write(body) //nolint:gosec // the dashboard's own response
}

// heldResponse is a response that is not sent yet.
type heldResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *heldResponse) Header() http.Header         { return h.header }
func (h *heldResponse) WriteHeader(status int)      { h.status = status }
func (h *heldResponse) Write(b []byte) (int, error) { return h.body.Write(b) }

const queuesPath = "/queues"
